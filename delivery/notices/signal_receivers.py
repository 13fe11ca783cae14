"""Signal receivers: audit entries, lost contacts with nodes and alarms of cards become events."""

from django.db.models.signals import post_save
from django.dispatch import receiver
from django.urls import reverse

from delivery.notices.event_kinds import KINDS, kind_of_entry
from delivery.notices.event_subjects import Subject, subject_of
from delivery.notices.services.announcements import announce
from engagements.models import AuditEntry
from workers.models import CardAlarm, NodeContact


@receiver(post_save, sender=AuditEntry)
def entry_written(sender, instance: AuditEntry, created: bool, **_kwargs) -> None:
    """An audit entry becomes an event in its own transaction."""
    kind = kind_of_entry(instance.action, instance.data) if created else None
    subject = kind and subject_of(instance.target_type, instance.target_id, instance.action,
                                  getattr(instance, "target", None))
    if subject:
        announce(kind=kind, subject=subject, engagement=instance.engagement,
                 actor=instance.actor, at=instance.at)


@receiver(post_save, sender=NodeContact)
def contact_changed(sender, instance: NodeContact, created: bool, **_kwargs) -> None:
    """A node that stopped answering; its return is no news."""
    if created and not instance.is_reachable:
        node = instance.node
        announce(kind=KINDS["node_unreachable"], at=instance.at,
                 subject=Subject(node.name, reverse("workers:node", args=[node.pk])))


@receiver(post_save, sender=CardAlarm)
def card_alarmed(sender, instance: CardAlarm, created: bool, **_kwargs) -> None:
    """An alarm of a card, once; its end is no news. The node's page says more and what to do."""
    if created:
        node = instance.node
        announce(kind=KINDS[f"card_{instance.kind}"], at=instance.since, subject=Subject(
            f"{node.name} · NPU {instance.card_index} · {instance.value}",
            reverse("workers:node", args=[node.pk])))
