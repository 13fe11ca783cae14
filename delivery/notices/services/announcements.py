"""From an event to inboxes and dispatches, in the transaction of what happened."""

from datetime import date, datetime

from django.db import transaction
from django.db.models import Q
from django.urls import reverse

from delivery.notices import enqueueing
from delivery.notices.event_kinds import KINDS, EventKind, kind_of_entry
from delivery.notices.event_subjects import Subject, subject_of
from delivery.notices.models import Channel, Dispatch, Event, Notice, Pace
from delivery.notices.rate_limits import next_digest
from delivery.notices.recipients import preferences, recipients
from engagements.models import AuditEntry, Engagement, User
from workers.models import CardAlarm, NodeContact


@transaction.atomic
def announce(*, kind: EventKind, subject: Subject, at: datetime,
             engagement: Engagement | None = None, actor: User | None = None,
             day: date | None = None, key: str | None = None) -> Event | None:
    """Store the event with its notices and dispatches; wake the senders after the commit.

    Args:
        key: of what is found by looking again and again; a known key announces nothing.
    Returns:
        the event, or None if the key is known.
    """
    facts = {"kind": kind.code, "engagement": engagement, "actor": actor, "at": at, "day": day,
             "subject": subject.code[:160], "stage": subject.stage, "path": subject.path,
             "is_for_customers": kind.is_for_customers}
    if key:
        event, is_new = Event.objects.get_or_create(key=key, defaults=facts)
        if not is_new:
            return None
    else:
        event = Event.objects.create(**facts)
    people = recipients(kind, engagement, actor=actor, person=subject.person)
    _tell_people(event, people)
    _tell_channels(event)
    return event


def announce_entry(*, instance: AuditEntry, created: bool, **_signal) -> None:
    """An audit entry becomes an event, if it is of a kind that people hear of."""
    kind = kind_of_entry(instance.action, instance.data) if created else None
    subject = kind and subject_of(instance.target_type, instance.target_id, instance.action,
                                  getattr(instance, "target", None))
    if subject:
        announce(kind=kind, subject=subject, engagement=instance.engagement,
                 actor=instance.actor, at=instance.at)


def announce_contact(*, instance: NodeContact, created: bool, **_signal) -> None:
    """A node that stopped answering; its return is no news."""
    if created and not instance.is_reachable:
        node = instance.node
        announce(kind=KINDS["node_unreachable"], at=instance.at,
                 subject=Subject(node.name, reverse("workers:node", args=[node.pk])))


def announce_alarm(*, instance: CardAlarm, created: bool, **_signal) -> None:
    """An alarm of a card, once; its end is no news. The node's page says more and what to do."""
    if created:
        node = instance.node
        announce(kind=KINDS[f"card_{instance.kind}"], at=instance.since, subject=Subject(
            f"{node.name} · NPU {instance.card_index} · {instance.value}",
            reverse("workers:node", args=[node.pk])))


def _tell_people(event: Event, people: list[User]) -> None:
    wanted = preferences(event.declared, event.engagement, people)
    Notice.objects.bulk_create(
        Notice(event=event, recipient=user) for user in people if wanted[user.pk].in_inbox)
    mailed = [user for user in people if user.email and wanted[user.pk].email != Pace.OFF]
    Dispatch.objects.bulk_create(
        Dispatch(event=event, recipient=user, due_at=_due(event, wanted[user.pk].email))
        for user in mailed)
    for user in mailed:
        if wanted[user.pk].email == Pace.NOW:
            enqueueing.enqueue_mail(user.pk)


def _tell_channels(event: Event) -> None:
    channels = [channel for channel in Channel.objects.filter(
        Q(engagement=None) | Q(engagement=event.engagement_id), state=Channel.State.ACTIVE)
        if channel.takes(event.kind, event.is_for_customers)]
    Dispatch.objects.bulk_create(
        Dispatch(event=event, channel=channel, due_at=_due(event, channel.pace))
        for channel in channels)
    for channel in channels:
        if channel.pace == Pace.NOW:
            enqueueing.enqueue_channel(channel.pk)


def _due(event: Event, pace: str) -> datetime:
    return next_digest(event.at) if pace == Pace.DAILY else event.at
