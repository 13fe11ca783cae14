"""Looks at everything that an installation needs and says what to do about what is missing."""

import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.mail import get_connection
from django.db import DatabaseError, connection
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from bundle_verifier.signatures.certificates import facts_of
from delivery.acceptance.signing.seals.certificate import load_signer
from delivery.operation import readiness
from delivery.operation.heartbeat import LATE, NEVER, clock_age_seconds, worker_age_seconds
from delivery.operation.models import DamagedFile
from delivery.operation.plugins import PLUGINS
from delivery.operation.secret_files import secret_files
from delivery.sign_on import settings as sign_on
from engagements import database_clock
from engagements.audit import audit_log, checkpoint
from engagements.audit.problem_labels import LABELS
from engagements.text.text_joining import labelled
from workers.models import Node

GOOD, WARNING, BAD = "good", "warning", "bad"
WORKER_SECONDS = 60
LEAST_FREE_SHARE = 0.1
CLOCK_SECONDS = database_clock.MOST_SECONDS
NODE_SECONDS = 3
NODES_AT_ONCE = 20
CERTIFICATE_DAYS = 30


@dataclass(frozen=True)
class Finding:
    """What was looked at, how it is, and what to do about it."""

    subject: object  # a text, perhaps a lazy one
    state: str
    sentence: str


REMEDIES = {
    "database": gettext_lazy("check DATABASE_URL and whether the server runs"),
    "migrations": gettext_lazy("run `manage.py migrate`, or `./desk upgrade`"),
    "broker": gettext_lazy("check REDIS_URL, or whether var/queue can be written"),
    "cache": gettext_lazy("check REDIS_URL, or whether var/cache can be written"),
    "storage": gettext_lazy(
        "check DESK_ARTIFACT_DIR (owner, free space) or the bucket and its credentials"),
}


def _advised(fault: object, remedy: object) -> str:
    """What is wrong, and what to do."""
    return _("%(fault)s – %(remedy)s") % {"fault": fault, "remedy": remedy}


def parts() -> Iterator[Finding]:
    failed = readiness.failures()
    for name in readiness.PARTS:
        if name in failed:
            yield Finding(readiness.LABELS[name], BAD, _advised(failed[name], REMEDIES[name]))
        else:
            yield Finding(readiness.LABELS[name], GOOD, _("works"))


def worker() -> Iterator[Finding]:
    age = worker_age_seconds(timezone.now())
    if age == NEVER:
        yield Finding(_("Worker"), BAD, _advised(
            _("no worker has ever run a task"),
            _("start one: `celery -A delivery worker --beat`")))
    elif age > WORKER_SECONDS:
        yield Finding(_("Worker"), BAD, _advised(
            _("no worker has run a task for %(n)d s") % {"n": age},
            _("start it, or read its log")))
    else:
        yield Finding(_("Worker"), GOOD, _("ran a task %(n)d s ago") % {"n": age})


def clock_process() -> Iterator[Finding]:
    age = clock_age_seconds()
    if age > LATE:
        yield Finding(_("Clock process"), BAD, _advised(
            _("none has ticked for %(n)d s") % {"n": age} if age < NEVER else _("none is running"),
            _("start one: `celery -A delivery beat`")))
    else:
        yield Finding(_("Clock process"), GOOD, _("ticked %(n)d s ago") % {"n": age})


def fonts() -> Iterator[Finding]:
    if not shutil.which("fc-match"):
        yield Finding(_("Fonts"), WARNING, _("fc-match is missing: nothing was checked"))
        return
    found = subprocess.run(["fc-match", "-f", "%{family}", ":lang=zh-cn"], capture_output=True,
                           text=True, check=False).stdout
    good = "CJK" in found or "Han" in found or "YaHei" in found
    yield Finding(_("Fonts"), GOOD if good else BAD, found if good else _advised(
        _("Chinese would be set in “%(font)s”") % {"font": found},
        _("install fonts-noto-cjk")))


def clock() -> Iterator[Finding]:
    if connection.vendor == "postgresql":
        for process, ahead in {"": database_clock.seconds_ahead(),
                               **database_clock.noted_ahead()}.items():
            finding = _("%(n).1f s off the database's clock") % {"n": abs(ahead)}
            good = abs(ahead) < CLOCK_SECONDS
            if not (process and good):
                yield Finding(labelled(_("Clock"), process) if process else _("Clock"),
                              GOOD if good else BAD, finding if good else _advised(
                                  finding, _("run an NTP client on both")))
    for node in Node.objects.exclude(clock_offset_seconds=None):
        if abs(node.clock_offset_seconds) > CLOCK_SECONDS:
            yield Finding(_("Clock of %(node)s") % {"node": node}, WARNING, _advised(
                _("%(n)s s off our clock") % {"n": node.clock_offset_seconds},
                _("run an NTP client on the node")))


def keys() -> Iterator[Finding]:
    var = Path(settings.VAR_DIR)
    open_files = [path for path in [var, *secret_files(var)]
                  if path.exists() and path.stat().st_mode & 0o077]
    for path in open_files:
        yield Finding(_("Keys"), BAD, _advised(
            _("%(path)s can be read by others") % {"path": path}, f"`chmod go= {path}`"))
    try:
        count = sum(bool(node.private_key) for node in Node.objects.all())
        yield Finding(_("Keys"), GOOD, ngettext(
            "the credentials of %(n)d node can be decrypted",
            "the credentials of %(n)d nodes can be decrypted", count) % {"n": count})
    except DatabaseError:  # says nothing of the keys
        raise
    except Exception as error:  # whatever the cipher raises
        yield Finding(_("Keys"), BAD, _advised(
            _("credentials cannot be decrypted (%(error)s)") % {"error": type(error).__name__},
            _("DESK_CREDENTIAL_KEYS or DESK_SECRET_KEY has changed")))


def audit() -> Iterator[Finding]:
    found = next(audit_log.findings(checkpoint.behind_archives()), None)
    yield Finding(_("Audit log"), BAD if found else GOOD, _advised(
        _("%(place)s: %(problem)s") % {"place": found.place, "problem": LABELS[found.problem]},
        _("`manage.py verify --audit` names the rest")) if found else _(
            "matches what the application wrote"))


def disk() -> Iterator[Finding]:
    usage = shutil.disk_usage(settings.VAR_DIR)
    finding = _("%(n).1f GB free") % {"n": usage.free / 2**30}
    good = usage.free / usage.total > LEAST_FREE_SHARE
    yield Finding(_("Disk"), GOOD if good else WARNING, finding if good else _advised(
        finding, _("make room, or move DESK_VAR_DIR")))


def stored_files() -> Iterator[Finding]:
    damaged = DamagedFile.objects.open().count()
    if damaged:
        yield Finding(_("Stored files"), BAD, _advised(
            ngettext("%(n)d is damaged", "%(n)d are damaged", damaged) % {"n": damaged},
            _("see the page “Stored files” for them and what depends on them")))
    else:
        yield Finding(_("Stored files"), GOOD, _("none is known to be damaged"))
    if settings.OBJECT_LOCK_DAYS and (fault := _fault_of_lock()):
        yield Finding(_("Evidence lock"), BAD, _advised(
            fault, _("create a new bucket with object lock, or unset DESK_ARTIFACT_LOCK_DAYS")))


def _fault_of_lock() -> str:
    if not hasattr(default_storage, "fault_of_lock"):
        return _("files are in a local folder, which cannot be locked")
    return default_storage.fault_of_lock()


def mail() -> Iterator[Finding]:
    if not settings.EMAIL_HOST:
        yield Finding(_("Mail"), WARNING, _advised(
            _("no mail server is set, mails lie in %(folder)s") % {
                "folder": settings.EMAIL_FILE_PATH}, _("set DESK_EMAIL_HOST")))
        return
    try:
        get_connection().open()
        yield Finding(_("Mail"), GOOD, _("logged in to %(host)s") % {
            "host": settings.EMAIL_HOST})
    except OSError as error:
        yield Finding(_("Mail"), BAD, _advised(
            f"{settings.EMAIL_HOST}: {error}",
            _("check DESK_EMAIL_HOST, _PORT, _USER, _PASSWORD, _TLS")))


def directory() -> Iterator[Finding]:
    if not sign_on.LDAP_URL:
        return
    from ldap3.core.exceptions import LDAPException

    from delivery.sign_on.directory import bind_service, connected

    try:
        with connected() as link:
            bind_service(link)
    except LDAPException as error:
        yield Finding(_("Directory"), BAD, _advised(
            f"{sign_on.LDAP_URL}: {error}",
            _("check DESK_LDAP_URL, _CA, _STARTTLS, _BIND_NAME, _BIND_PASSWORD")))
        return
    if sign_on.LDAP_URL.startswith("ldap://") and not sign_on.LDAP_HAS_STARTTLS:
        yield Finding(_("Directory"), WARNING, _advised(
            _("passwords go to %(url)s unencrypted") % {"url": sign_on.LDAP_URL},
            _("use ldaps://, or unset DESK_LDAP_STARTTLS")))
    else:
        yield Finding(_("Directory"), GOOD, _("%(url)s shows a good certificate") % {
            "url": sign_on.LDAP_URL})


def nodes() -> Iterator[Finding]:
    """Whether a connection opens; nodes behind a bastion are left to the node pages."""
    direct = list(Node.objects.filter(state=Node.State.READY, bastion_host=""))
    with ThreadPoolExecutor(NODES_AT_ONCE) as pool:
        for node, fault in zip(direct, pool.map(_unreachable, direct), strict=True):
            if fault:
                yield Finding(_("Node %(node)s") % {"node": node}, BAD, _advised(
                    f"{node.host}:{node.port} {fault}",
                    _("is it on, and does a firewall let this host through?")))
    yield Finding(_("Nodes"), GOOD, ngettext("%(n)d node was tried", "%(n)d nodes were tried",
                                             len(direct)) % {"n": len(direct)})


def _unreachable(node: Node) -> str:
    try:
        with socket.create_connection((node.host, node.port), NODE_SECONDS):
            return ""
    except OSError as error:
        return str(error)


def certificate() -> Iterator[Finding]:
    facts = facts_of(load_signer().signing_cert)
    left = date.fromisoformat(facts.valid_until) - timezone.localdate()
    day = {"day": facts.valid_until}
    if facts.is_practice:
        yield Finding(_("Certificate"), WARNING, _advised(
            _("documents bear a practice certificate"),
            _("set DESK_SIGNING_KEY for the firm's own")))
    elif left < timedelta(days=CERTIFICATE_DAYS):
        yield Finding(_("Certificate"), BAD, _advised(
            _("ends on %(day)s") % day, _("order a new one")))
    else:
        yield Finding(_("Certificate"), GOOD, _("valid until %(day)s") % day)


def plug_ins() -> Iterator[Finding]:
    for plugin in PLUGINS:
        name = f"{plugin.name} {plugin.version}"
        yield Finding(_("Plug-in"), BAD if plugin.error else GOOD, _advised(
            f"{name}, {plugin.error}", _("upgrade the package, or uninstall it"))
            if plugin.error else f"{name}: {', '.join(plugin.parts)}")


LOOKS: tuple[tuple[object, Callable[[], Iterator[Finding]]], ...] = (
    (gettext_lazy("Parts"), parts), (gettext_lazy("Worker"), worker),
    (gettext_lazy("Clock process"), clock_process),
    (gettext_lazy("Fonts"), fonts), (gettext_lazy("Clock"), clock), (gettext_lazy("Keys"), keys),
    (gettext_lazy("Audit log"), audit), (gettext_lazy("Disk"), disk),
    (gettext_lazy("Stored files"), stored_files), (gettext_lazy("Mail"), mail),
    (gettext_lazy("Directory"), directory), (gettext_lazy("Nodes"), nodes),
    (gettext_lazy("Certificate"), certificate), (gettext_lazy("Plug-in"), plug_ins))


def findings() -> Iterator[Finding]:
    """All looks; one that itself fails is a finding."""
    lacks_tables = "migrations" in readiness.failures()
    for subject, look in LOOKS:
        try:
            yield from look()
        except Exception as error:  # a look must not hide the others
            yield Finding(subject, BAD, _advised(
                _("could not be checked before the database is migrated"), REMEDIES["migrations"])
                if lacks_tables and isinstance(error, DatabaseError)
                else _("could not be checked: %(error)s") % {
                    "error": f"{type(error).__name__}: {error}"})
