"""From an event to inboxes and dispatches, in the transaction of what happened: the team hears of
it by role, the person concerned, and nobody who may not see it."""

from datetime import date, datetime

from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from delivery.notices.event_kinds import KINDS, EventKind, kind_of_entry
from delivery.notices.event_subjects import Subject, subject_of
from delivery.notices.models import Channel, Dispatch, Event, Notice, Pace, Preference
from delivery.notices.rate_limits import next_digest
from engagements.access import allowed
from engagements.models import AuditEntry, Engagement, User
from engagements.queue import enqueue_on_commit
from workers.models import CardAlarm, CardLease, Job, NodeContact, NodeReservation
from workers.models.job import WAITING_STATES


@transaction.atomic
def announce(*, kind: EventKind, subject: Subject, at: datetime,
             engagement: Engagement | None = None, actor: User | None = None,
             day: date | None = None, key: str | None = None, outcome: str = "") -> Event | None:
    """Store the event with its notices and dispatches; wake the senders after the commit.

    Args:
        key: of what is found by looking again and again; a known key announces nothing.
    Returns:
        the event, or None if the key is known.
    """
    facts = {"kind": kind.code, "engagement": engagement, "actor": actor, "at": at, "day": day,
             "outcome": outcome, "subject": subject.code[:160], "stage": subject.stage,
             "path": subject.path, "is_for_customers": kind.is_for_customers}
    if key:
        event, is_new = Event.objects.get_or_create(key=key, defaults=facts)
        if not is_new:
            return None
    else:
        event = Event.objects.create(**facts)
    people = recipients(kind, engagement, actor=actor, person=subject.person)
    _tell_people(event, kind, people)
    _tell_channels(event)
    return event


def announce_entry(*, instance: AuditEntry, created: bool, **_signal) -> None:
    """An audit entry becomes an event, if it is of a kind that people hear of."""
    kind = kind_of_entry(instance.action, instance.data) if created else None
    subject = kind and subject_of(instance.target_type, instance.target_id, instance.action,
                                  getattr(instance, "target", None))
    if subject:
        announce(kind=kind, subject=subject, engagement=instance.engagement,
                 actor=instance.actor, at=instance.at, outcome=kind.outcome_of(instance.data))


def announce_contact(*, instance: NodeContact, created: bool, **_signal) -> None:
    """A node that stopped answering; its return is no news, nor is it one that was silenced."""
    if created and not instance.is_reachable and not CardAlarm.objects.filter(
            node=instance.node, kind=CardAlarm.Kind.AWAY,
            silenced_until__gt=instance.at).exists():
        node = instance.node
        announce(kind=KINDS["node_unreachable"], at=instance.at,
                 subject=Subject(node.name, reverse("workers:node", args=[node.pk])))


def announce_alarm(*, instance: CardAlarm, created: bool, **_signal) -> None:
    """An alarm of a card or node, once, and to the owner of the job that has the card; its end is
    no news, nor is one that was silenced. The node's page says more and what to do."""
    if created and not (instance.silenced_until and instance.silenced_until > instance.since):
        node = instance.node
        if instance.card_index is None:
            if kind := KINDS.get(f"node_{instance.kind}"):  # that it is away was told at once
                announce(kind=kind, at=instance.since, subject=Subject(
                    f"{node.name} · {instance.value}", reverse("workers:node", args=[node.pk])))
            return
        for lease in CardLease.objects.filter(
                node=node, card_index=instance.card_index, released_at=None).select_related(
                "job__engagement", "job__created_by"):
            job = lease.job
            announce(kind=KINDS["job_card_alarm"], at=instance.since, engagement=job.engagement,
                     subject=Subject(f"{job} · NPU {instance.card_index} · {instance.value}",
                                     reverse("workers:job", args=[job.pk]),
                                     person=job.created_by))
        announce(kind=KINDS[f"card_{instance.kind}"], at=instance.since, subject=Subject(
            f"{node.name} · NPU {instance.card_index} · {instance.value}",
            reverse("workers:node", args=[node.pk])))


def announce_maintenance(*, instance: NodeReservation, created: bool, **_signal) -> None:
    """To owners of jobs that run on a node whose maintenance is planned: they go on, or are stopped
    at a time."""
    if not created or instance.engagement_id:
        return
    kind = KINDS["job_to_be_stopped" if instance.stops_jobs_at else "job_maintenance"]
    at = timezone.localtime(instance.stops_jobs_at or instance.starts_at)
    running = Job.objects.filter(node=instance.node).in_flight().exclude(state__in=WAITING_STATES)
    for job in running.select_related("engagement", "created_by", "gang__job__created_by"):
        whole = job.gang.job if job.gang else job
        announce(kind=kind, at=timezone.now(), engagement=job.engagement, subject=Subject(
            f"{whole} · {instance.node.name} · {at:%Y-%m-%d %H:%M} · {instance.reason}",
            reverse("workers:job", args=[whole.pk]), person=whole.created_by))


def _tell_people(event: Event, kind: EventKind, people: list[User]) -> None:
    wanted = preferences(kind, event.engagement, people)
    Notice.objects.bulk_create(
        Notice(event=event, recipient=user) for user in people if wanted[user.pk].in_inbox)
    mailed = [user for user in people if user.email and wanted[user.pk].email != Pace.OFF]
    Dispatch.objects.bulk_create(
        Dispatch(event=event, recipient=user, due_at=_due(event, wanted[user.pk].email))
        for user in mailed)
    for user in mailed:
        if wanted[user.pk].email == Pace.NOW:
            enqueue_on_commit("notices.send_mail_to", user.pk)


def _tell_channels(event: Event) -> None:
    channels = [channel for channel in Channel.objects.filter(
        Q(engagement=None) | Q(engagement=event.engagement_id), state=Channel.State.ACTIVE)
        if channel.takes(event.kind, event.is_for_customers)]
    Dispatch.objects.bulk_create(
        Dispatch(event=event, channel=channel, due_at=_due(event, channel.pace))
        for channel in channels)
    for channel in channels:
        if channel.pace == Pace.NOW:
            enqueue_on_commit("notices.send_to_channel", channel.pk)


def _due(event: Event, pace: str) -> datetime:
    return next_digest(event.at) if pace == Pace.DAILY else event.at


def recipients(kind: EventKind, engagement: Engagement | None, *, actor: User | None,
               person: User | None = None) -> list[User]:
    """Active people who hear of it, without the one who did it.

    With an engagement its members, without one everybody whose role includes the audience.
    `person` (a job's or quote's maker) hears of it too, if he still sees the engagement.
    """
    people = User.objects.filter(is_active=True)
    if engagement:
        people = people.filter(memberships__engagement=engagement)
    chosen = {user.pk: user for user in people if may_hear(user, kind)}
    if person and person.is_active and _sees(person, kind, engagement):
        chosen[person.pk] = person
    return [user for pk, user in sorted(chosen.items()) if actor is None or pk != actor.pk]


def may_hear(user: User, kind: EventKind) -> bool:
    """Whether the role includes the audience; customers only hear what is meant for them."""
    return (kind.is_for_customers or not user.is_reviewer) and any(
        allowed(user, action) for action in kind.audience)


def _sees(user: User, kind: EventKind, engagement: Engagement | None) -> bool:
    if user.is_reviewer and not kind.is_for_customers:
        return False
    return engagement is None or Engagement.objects.visible_to(user).filter(
        pk=engagement.pk).exists()


def preferences(kind: EventKind, engagement: Engagement | None, users: list[User]
                ) -> dict[int, Preference]:
    """Each user's preference: the engagement's, else his general one, else the kind's own."""
    found = {user.pk: Preference(user=user, kind=kind.code, email=kind.email) for user in users}
    rows = Preference.objects.filter(user__in=users, kind=kind.code)
    general = [row for row in rows if row.engagement_id is None]
    special = [row for row in rows if engagement and row.engagement_id == engagement.pk]
    found.update({row.user_id: row for row in [*general, *special]})
    return found
