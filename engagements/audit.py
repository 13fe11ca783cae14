"""The append-only, hash-chained audit log (DOMAIN AR-12)."""

import hashlib
import json
from datetime import UTC, datetime

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models, transaction
from django.utils import timezone

from engagements.models import AuditChain, AuditEntry, Engagement, User


def record(
    *,
    actor: User | None,
    action: str,
    target: models.Model,
    engagement: Engagement | None = None,
    data: dict | None = None,
) -> AuditEntry:
    """Append one entry. Call it inside the transaction of the write it describes.

    Args:
        actor: who did it; None for the system itself.
        action: `object.verb`, for example `stage.pass`.
        target: the row that was written.
        data: JSON-able facts; never secrets.
    """
    with transaction.atomic():
        AuditChain.objects.get_or_create(pk=1)
        chain = AuditChain.objects.select_for_update(of=("self",)).get(pk=1)
        entry = AuditEntry(
            at=timezone.now(), actor=actor, action=action,
            target_type=target._meta.label_lower, target_id=str(target.pk),
            target_label=str(target)[:240], engagement=engagement,
            data=json.loads(json.dumps(data or {}, cls=DjangoJSONEncoder)),
            previous_hash=chain.head,
        )
        entry.entry_hash = chain.head = entry_hash(entry)
        entry.save()
        chain.save(update_fields=["head"])
    return entry


def entry_hash(entry: AuditEntry) -> str:
    """SHA-256 over the previous hash and the entry's own facts."""
    facts = [
        entry.previous_hash, _instant(entry.at), entry.actor_id, entry.action,
        entry.target_type, entry.target_id, entry.target_label, entry.data,
    ]
    text = json.dumps(facts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def first_broken_entry() -> AuditEntry | None:
    """The first entry whose hash does not follow from its facts and its predecessor."""
    previous = "0" * 64
    for entry in AuditEntry.objects.order_by("pk").iterator():
        if entry.previous_hash != previous or entry_hash(entry) != entry.entry_hash:
            return entry
        previous = entry.entry_hash
    return None


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds")
