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
from django.core.mail import get_connection
from django.db import connection
from django.utils import timezone

from delivery.acceptance.signing.seals.certificate import facts_of, load_signer
from delivery.operation import readiness
from delivery.operation.heartbeat import NEVER, worker_age_seconds
from engagements.audit import audit_log
from workers.models import Node

GOOD, WARNING, BAD = "good", "warning", "bad"
WORKER_SECONDS = 60
LEAST_FREE_SHARE = 0.1
CLOCK_SECONDS = 5
NODE_SECONDS = 3
NODES_AT_ONCE = 20
CERTIFICATE_DAYS = 30


@dataclass(frozen=True)
class Finding:
    """What was looked at, how it is, and what to do about it."""

    subject: str
    state: str
    sentence: str


REMEDIES = {
    "database": "check DATABASE_URL and whether the server runs",
    "migrations": "run `manage.py migrate`, or `./desk upgrade`",
    "broker": "check REDIS_URL, or whether var/queue can be written",
    "cache": "check REDIS_URL, or whether var/cache can be written",
    "storage": "check DESK_ARTIFACT_DIR (owner, free space) or the bucket and its credentials",
}


def parts() -> Iterator[Finding]:
    failed = readiness.failures()
    for name in readiness.PARTS:
        if name in failed:
            yield Finding(name, BAD, f"{failed[name]} – {REMEDIES[name]}")
        else:
            yield Finding(name, GOOD, "works")


def worker() -> Iterator[Finding]:
    age = worker_age_seconds(timezone.now())
    if age == NEVER:
        yield Finding("worker", BAD, "no worker has ever done a task – start one: "
                      "`celery -A delivery worker --beat`")
    elif age > WORKER_SECONDS:
        yield Finding("worker", BAD, f"no worker has done a task for {age:.0f} s – start it, or "
                      "read its log")
    else:
        yield Finding("worker", GOOD, f"did a task {age:.0f} s ago")


def fonts() -> Iterator[Finding]:
    if not shutil.which("fc-match"):
        yield Finding("fonts", WARNING, "fc-match is missing: nothing was looked at")
        return
    found = subprocess.run(["fc-match", "-f", "%{family}", ":lang=zh-cn"], capture_output=True,
                           text=True, check=False).stdout
    good = "CJK" in found or "Han" in found or "YaHei" in found
    yield Finding("fonts", GOOD if good else BAD, found if good else
                  f"Chinese would be set in “{found}” – install fonts-noto-cjk")


def clock() -> Iterator[Finding]:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT now()")
            off = abs((cursor.fetchone()[0] - timezone.now()).total_seconds())
        yield Finding("clock", GOOD if off < CLOCK_SECONDS else BAD,
                      f"{off:.1f} s beside the database's" + (
                          "" if off < CLOCK_SECONDS else " – run an NTP client on both"))
    for node in Node.objects.exclude(clock_offset_seconds=None):
        if abs(node.clock_offset_seconds) > CLOCK_SECONDS:
            yield Finding(f"clock of {node}", WARNING, f"{node.clock_offset_seconds} s beside ours "
                          "– run an NTP client on the node")


def keys() -> Iterator[Finding]:
    var = Path(settings.VAR_DIR)
    open_files = [path for path in [var, *var.glob("*-key*"), *(var / "signing").glob("*")]
                  if path.exists() and path.stat().st_mode & 0o077]
    for path in open_files:
        yield Finding("keys", BAD, f"{path} can be read by others – chmod go= {path}")
    try:
        count = sum(bool(node.private_key) for node in Node.objects.all())
        yield Finding("keys", GOOD, f"the credentials of {count} nodes can be decrypted")
    except Exception as error:  # whatever the cipher raises
        yield Finding("keys", BAD, f"credentials cannot be decrypted ({type(error).__name__}) – "
                      "DESK_CREDENTIAL_KEYS or DESK_SECRET_KEY is not what it was")
    found = next(audit_log.findings(), None)
    yield Finding("audit log", BAD if found else GOOD, "`manage.py verify --audit` names what is "
                  "not good" if found else "is what the application wrote")


def disk() -> Iterator[Finding]:
    usage = shutil.disk_usage(settings.VAR_DIR)
    share, text = usage.free / usage.total, f"{usage.free / 2**30:.1f} GB free"
    yield Finding("disk", GOOD if share > LEAST_FREE_SHARE else WARNING, text + (
        "" if share > LEAST_FREE_SHARE else " – make room, or move DESK_VAR_DIR"))


def mail() -> Iterator[Finding]:
    if not settings.EMAIL_HOST:
        yield Finding("mail", WARNING, f"no mail server is set, mails lie in "
                      f"{settings.EMAIL_FILE_PATH} – set DESK_EMAIL_HOST")
        return
    try:
        get_connection().open()
        yield Finding("mail", GOOD, f"{settings.EMAIL_HOST} takes the log-in")
    except OSError as error:
        yield Finding("mail", BAD, f"{settings.EMAIL_HOST}: {error} – check DESK_EMAIL_HOST, "
                      "_PORT, _USER, _PASSWORD, _TLS")


def nodes() -> Iterator[Finding]:
    """Whether a connection opens; nodes behind a bastion are left to the node pages."""
    direct = list(Node.objects.filter(state=Node.State.READY, bastion_host=""))
    with ThreadPoolExecutor(NODES_AT_ONCE) as pool:
        for node, fault in zip(direct, pool.map(_unreachable, direct), strict=True):
            if fault:
                yield Finding(f"node {node}", BAD, f"{node.host}:{node.port} {fault} – is it on, "
                              "and does a firewall let this host through?")
    yield Finding("nodes", GOOD, f"{len(direct)} nodes were tried")


def _unreachable(node: Node) -> str:
    try:
        with socket.create_connection((node.host, node.port), NODE_SECONDS):
            return ""
    except OSError as error:
        return str(error)


def certificate() -> Iterator[Finding]:
    facts = facts_of(load_signer().signing_cert)
    left = date.fromisoformat(facts.valid_until) - timezone.localdate()
    if facts.is_practice:
        yield Finding("certificate", WARNING, "documents bear a practice certificate – set "
                      "DESK_SIGNING_KEY for the firm's own")
    elif left < timedelta(days=CERTIFICATE_DAYS):
        yield Finding("certificate", BAD, f"ends on {facts.valid_until} – order a new one")
    else:
        yield Finding("certificate", GOOD, f"valid until {facts.valid_until}")


LOOKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    parts, worker, fonts, clock, keys, disk, mail, nodes, certificate)


def findings() -> Iterator[Finding]:
    """All looks; one that itself fails is a finding."""
    for look in LOOKS:
        try:
            yield from look()
        except Exception as error:  # a look must not hide the others
            yield Finding(look.__name__, BAD, f"could not be looked at: {type(error).__name__}: "
                          f"{error}")
