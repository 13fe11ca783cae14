"""Log-ins of engagements at shared nodes: kept encrypted, audited, never shown."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User
from workers.models import Job, Node, NodeLogin
from workers.models.job import OPEN_STATES
from workers.nodes import ssh
from workers.nodes.certificates import certified_key


def require_usable_key(private_key: str, passphrase: str, certificate: str = "") -> None:
    """A key that can be opened, and its certificate; none at all means the worker's SSH agent."""
    if not private_key:
        if certificate:
            raise InvalidInput(_("A certificate needs its private key beside it."))
        return
    try:
        ssh.check_private_key(private_key, passphrase)
        certified_key(private_key, passphrase, certificate)
    except ValueError as error:
        raise InvalidInput(_("The private key cannot be used: %(why)s") % {"why": error}) from error


def add_login(*, actor: User, node: Node, engagement: Engagement, username: str,
              private_key: str = "", passphrase: str = "", certificate: str = "") -> NodeLogin:
    """A user and key of its own for an engagement. Its jobs queued from now on use them.

    Without a key the worker's SSH agent is asked. Raises InvalidInput when the key cannot be
    used, or the engagement has a log-in there already.
    """
    require(actor, Can.OPERATE, engagement)
    require_usable_key(private_key, passphrase, certificate)
    with transaction.atomic():
        Node.objects.select_for_update(of=("self",), no_key=True).get(pk=node.pk)
        if NodeLogin.objects.of_new_jobs(node, engagement):
            raise InvalidInput(_("%(engagement)s has a log-in on this node already.")
                               % {"engagement": engagement.code})
        login = NodeLogin(node=node, engagement=engagement, username=username,
                          private_key=private_key, passphrase=passphrase,
                          certificate=certificate)
        login.full_clean(validate_unique=False, validate_constraints=False)
        login.save()
        _record(actor, "node_login.add", login, username=username, has_key=bool(private_key))
    return login


def change_login(*, actor: User, login: NodeLogin, username: str, private_key: str | None = None,
                 passphrase: str = "", certificate: str = "") -> NodeLogin:
    """Another user or key. `private_key` None keeps the key, "" gives it up for the SSH agent.

    A `certificate` of the kept key replaces what it had; another key loses the old one's.

    Raises WrongState for another user while jobs of the present one are under way: their folders
    lie in that user's home.
    """
    require(actor, Can.OPERATE, login.engagement)
    if private_key is not None:
        require_usable_key(private_key, passphrase, certificate)
    elif certificate:
        require_usable_key(login.private_key, login.passphrase, certificate)
    with transaction.atomic():
        locked = _locked(login)
        if username != locked.username:
            _require_no_jobs(locked)
        locked.username = username
        if private_key is not None:
            locked.private_key, locked.passphrase = private_key, passphrase
        if private_key is not None or certificate:
            locked.certificate = certificate
        locked.refused_at, locked.refused_cause = None, ""
        locked.full_clean(validate_unique=False, validate_constraints=False)
        locked.save()
        _record(actor, "node_login.change", locked, username=username,
                key_replaced=private_key is not None)
    return locked


@transaction.atomic
def withdraw_login(*, actor: User, login: NodeLogin) -> NodeLogin:
    """Erase the key; later jobs use the node's own log-in. Refused while jobs need it."""
    require(actor, Can.OPERATE, login.engagement)
    locked = _locked(login)
    _require_no_jobs(locked)
    locked.private_key = locked.passphrase = locked.certificate = ""
    locked.withdrawn_at = timezone.now()
    locked.save(update_fields=["private_key", "passphrase", "certificate", "withdrawn_at"])
    _record(actor, "node_login.withdraw", locked, username=locked.username)
    return locked


def _locked(login: NodeLogin) -> NodeLogin:
    locked = NodeLogin.objects.select_for_update(of=("self",), no_key=True).get(pk=login.pk)
    if locked.withdrawn_at:
        raise WrongState(_("This log-in was withdrawn."))
    return locked


def _require_no_jobs(login: NodeLogin) -> None:
    if jobs := Job.objects.filter(login=login, state__in=OPEN_STATES).count():
        raise WrongState(_("%(n)d jobs are queued or running with this log-in; let them end or "
                           "cancel them first.") % {"n": jobs})


def _record(actor: User, action: str, login: NodeLogin, **data) -> None:
    audit_log.record(actor=actor, action=action, target=login, engagement=login.engagement,
                     data={"node": login.node.name, **data})
