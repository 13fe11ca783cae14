"""Publishes the audit log's newest entry outside of the database, after a look at what came since.

Whoever has the database alone cannot take it back: a head lies in the artifact store (with object
lock, where the bucket has it), in auditors' mailboxes, and with the receivers of webhooks.
"""

from datetime import datetime, timedelta

from django.conf import settings

from delivery.acceptance.signing.seals.certificate import load_own_signer
from delivery.acceptance.signing.seals.detached_signature import sign_detached, time_stamp
from engagements.audit import audit_log, checkpoint, published_heads
from engagements.audit.checkpoint import Checkpoint
from engagements.audit.log_extracts import PUBLISHED
from engagements.models import AuditChain, AuditEntry

FAULT = "audit.fault"


def publish_head(*, now: datetime) -> int:
    """Check the log from where the last look ended, then publish its end; how many were published.

    Writes the entry `audit.head`, of which auditors' mails and webhooks are made. A log that is not
    good is not published: the entry `audit.fault` says so, once in AUDIT_HEAD_HOURS.

    Raises SealUnavailableError where the firm's key or the time stamp authority does not answer;
    nothing is published then, and the next run tries again.
    """
    if not settings.AUDIT_HEAD_HOURS or not _is_due(now):
        return 0
    if found := next(audit_log.findings(checkpoint.last()), None):
        audit_log.record(actor=None, action=FAULT, target=AuditChain.objects.get(pk=1),
                         data={"place": found.place, "problem": found.problem})
        return 0
    head = published_heads.Tree().head()
    name = published_heads.keep(head, **_proofs(published_heads.as_bytes(head)))
    entry = AuditEntry.objects.get(pk=head.number)
    checkpoint.keep(Checkpoint(head.number, head.hash, entry.seal, head.at))
    audit_log.record(actor=None, action=PUBLISHED,
                     target=AuditChain(pk=1, number=head.number, head=head.hash),
                     data={"number": head.number, "hash": head.hash, "root": head.root,
                           "file": name})
    return 1


def _is_due(now: datetime) -> bool:
    """Whether the last attempt is long enough ago, and something was written since."""
    last = AuditEntry.objects.filter(action__in=[PUBLISHED, FAULT]).order_by("-pk").first()
    newest = AuditChain.objects.filter(pk=1).values_list("number", flat=True).first() or 0
    return newest > (last.pk if last else 0) and (
        last is None or last.at <= now - timedelta(hours=settings.AUDIT_HEAD_HOURS))


def _proofs(content: bytes) -> dict[str, bytes]:
    """The firm's signature with its time stamp; the stamp alone where no key is set."""
    if signer := load_own_signer(is_practice=False):
        return {"json.p7s": sign_detached(content, signer)}
    if settings.SIGNING_TIMESTAMP_URL:
        return {"json.tst": time_stamp(content)}
    return {}
