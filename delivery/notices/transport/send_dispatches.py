"""Sending what is due to one channel or to one person, as one message."""

import smtplib
import time
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.next_steps import inbox_items
from delivery.notices.channel_kinds import all_senders, sender_of
from delivery.notices.models import Channel, Dispatch, Event, MailSetting, SendAttempt
from delivery.notices.models.dispatch import DispatchQuerySet
from delivery.notices.rate_limits import MAX_ATTEMPTS, after_quiet, retry_delay, take_token
from delivery.notices.send_outcomes import Outcome
from delivery.notices.transport import http_client
from delivery.notices.transport.message_text import Item, headline, item_of
from engagements.audit import audit_log
from engagements.bilingual_mail import send_mail
from engagements.models import User
from engagements.text.printable_text import printable
from engagements.text.text_joining import colon, labelled

SHOWN = 5  # entries of the inbox in an e-mail
MOST_ANSWER = 1000  # characters of an answer that the delivery log keeps
CLAIM_DURATION = timedelta(minutes=5)  # longer than sending can take
BATCH_SIZE = 50
GONE = 410  # the receiver's own word for "send no more"
State = Dispatch.State


def send_to_channel(channel_id: int) -> None:
    """Send what is due on the channel as one message, if its rate allows one now.

    Call it as often as you like: rows are claimed, and without a token they wait and are merged.
    """
    now = timezone.now()
    channel, token, rows = _claim(channel_id, now)
    if rows:
        with translation.override(channel.language):
            items = [item_of(row.event) for row in rows]
            outcome = deliver(channel, items, [as_json(row.event) for row in rows])
        record_outcome(token, outcome, timezone.now())
        note_outcome(channel_id=channel.pk, outcome=outcome)


@transaction.atomic
def _claim(channel_id: int, now: datetime) -> tuple[Channel | None, str, list[Dispatch]]:
    channel = Channel.objects.select_for_update(of=("self",), no_key=True).filter(
        pk=channel_id, state=Channel.State.ACTIVE,
        kind__in=[sender.code for sender in all_senders()]).first()
    rows = Dispatch.objects.due(now).filter(channel=channel) if channel else Dispatch.objects.none()
    if not rows.exists() or not take_channel_token(channel, rows, now):
        return channel, "", []
    token, claimed = claim_batch(rows, now)
    wrong = [row for row in claimed
             if not channel.takes(row.event.kind, row.event.is_for_customers)]
    withdraw(token, wrong)
    return channel, token, [row for row in claimed if row not in wrong]


def take_channel_token(channel: Channel, rows, now: datetime) -> bool:
    """Take a token of the locked channel. Without one the rows become due when there is one."""
    rate = sender_of(channel.kind).rate
    channel.tokens, wait = take_token(rate, channel.tokens, channel.refilled_at, now)
    channel.refilled_at = now
    channel.save(update_fields=["tokens", "refilled_at"])
    if wait:
        rows.filter(state=Dispatch.State.PENDING).update(due_at=now + wait)
    return not wait


def deliver(channel: Channel, items: list[Item], events: list[dict], *, is_test: bool = False
            ) -> Outcome:
    """One message in the active language; an attempt is logged whatever happens."""
    began = time.monotonic()
    sender, answered = sender_of(channel.kind), ""
    request = sender.request(channel, items, events, timezone.now())
    try:
        answer = http_client.post(channel.kind, request.url, request.body, request.headers)
        outcome = sender.outcome(answer)
        answered = printable(answer.body.decode(errors="replace"))
    except http_client.NotSent as error:
        outcome = Outcome(False, error.reason, is_permanent=error.is_permanent)
    SendAttempt.objects.create(
        channel=channel, at=timezone.now(), events=len(events), is_test=is_test,
        is_ok=outcome.is_ok, http_status=outcome.http_status, code=outcome.code,
        error=outcome.error, duration_ms=int((time.monotonic() - began) * 1000),
        message_id=request.message_id,
        payload=request.body.decode() if request.message_id else "",
        answer=answered[:MOST_ANSWER] if request.message_id else "")
    return outcome


def as_json(event: Event) -> dict:
    """An event as webhooks carry it; `id` lets the receiver notice a repetition."""
    item = item_of(event)
    return {"id": event.pk, "kind": event.kind, "outcome": event.outcome, "title": item.title,
            "subject": item.about, "engagement": item.project, "url": item.url,
            "at": event.at.isoformat()}


# E-mail ---------------------------------------------------------------------------

def send_mail_to(user_id: int) -> None:
    """Send the person everything that is due, in one e-mail; withdraw what he may not see."""
    now = timezone.now()
    user = User.objects.filter(pk=user_id).first()
    if user is None or _is_quiet(user, now):
        return
    with transaction.atomic():
        due = Dispatch.objects.due(now).filter(recipient=user)
        token, rows = claim_batch(due, now)
        visible = set(Event.objects.visible_to(user).filter(
            pk__in=[row.event_id for row in rows]).values_list("pk", flat=True))
        may_get = user.is_active and bool(user.email)
        wrong = [row for row in rows if not may_get or row.event_id not in visible]
        withdraw(token, wrong)
    events = [row.event for row in rows if row not in wrong]
    if events:
        record_outcome(token, _send_mail(user, events), timezone.now())


def mail_setting(user: User) -> MailSetting:
    """What the person chose; an empty one where nothing was chosen."""
    return MailSetting.objects.filter(user=user).first() or MailSetting(user=user)


def _is_quiet(user: User, now: datetime) -> bool:
    """Whether the person wants no e-mail now; what is due then becomes due at the end of it."""
    chosen = mail_setting(user)
    until = after_quiet(now, chosen.quiet_from, chosen.quiet_until)
    if until > now:
        Dispatch.objects.due(now).filter(recipient=user, state=Dispatch.State.PENDING).update(
            due_at=until)
    return until > now


def waiting_text(user: User) -> str:
    """What waits for the person, most urgent first: kinds, codes of engagements and why, as all
    that leaves by e-mail; empty where nothing does."""
    found = inbox_items(user)
    portal = settings.PUBLIC_URL.rstrip("/")
    lines = [f"- {item.label} · {item.engagement} ({item.reason})\n  {portal}{item.url}"
             for item in found[:SHOWN]]
    if left := len(found) - SHOWN if len(found) > SHOWN else 0:
        lines.append(ngettext("- and %(n)d more: %(url)s", "- and %(n)d more: %(url)s", left) % {
            "n": left, "url": f"{portal}/"})
    return "\n".join([_("Waiting for you (%(count)d):") % {"count": len(found)}, *lines]
                     ) if found else ""


def _send_mail(user: User, events: list[Event]) -> Outcome:
    try:
        send_mail(to=user, language=mail_setting(user).language or settings.LANGUAGE_CODE,
                  subject=lambda: _subject(events),
                  paragraphs=lambda: _paragraphs(user, events))
    except (smtplib.SMTPException, OSError, ValueError) as error:
        return Outcome(False, "mail", type(error).__name__)
    return Outcome(True)


def _subject(events: list[Event]) -> str:
    items = [item_of(event) for event in events]
    return headline(items) + (f"{colon()}{items[0].about}" if len(items) == 1 else "")


def _paragraphs(user: User, events: list[Event]) -> list[str]:
    blocks = ["\n".join(_lines(user, event)) for event in events]
    preferences = settings.PUBLIC_URL.rstrip("/") + reverse("notices:preferences")
    return [*blocks, *filter(None, [waiting_text(user)]),
            _("Which messages you get, and when: %(url)s") % {"url": preferences}]


def _lines(user: User, event: Event) -> Iterator[str]:
    """Codes alone for the firm's people, whose mailboxes hold what many projects are about; a
    customer is told whose word it is, by name."""
    item = item_of(event)
    yield f"{item.title} · {item.about}"
    if user.is_outside and event.engagement:
        yield labelled(_("Project"), f"{item.project} {event.engagement.localized_name}")
        if event.actor and event.actor != user:
            yield labelled(_("Done by"), event.actor.localized_name)
    elif item.project:
        yield labelled(_("Project"), item.project)
    yield item.url


# What becomes of them --------------------------------------------------------------

def claim_batch(rows: DispatchQuerySet, now: datetime) -> tuple[str, list[Dispatch]]:
    """Claim the oldest of these rows that are due, at most BATCH_SIZE.

    Returns:
        the claim's token, and its rows.
    """
    chosen = list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH_SIZE])
    due = Dispatch.objects.due(now).filter(pk__in=chosen)
    token = due.claim(now, CLAIM_DURATION, state=State.SENDING)
    claimed = Dispatch.objects.claimed_with(token) if token else Dispatch.objects.none()
    return token, list(claimed.select_related(
        "event__engagement", "event__actor").order_by("pk"))


def withdraw(token: str, rows: list[Dispatch]) -> None:
    """Never send these claimed rows: their addressee may no longer see them."""
    Dispatch.objects.claimed_with(token).filter(pk__in=[row.pk for row in rows]).release(
        state=State.WITHDRAWN)


def record_outcome(token: str, outcome: Outcome, now: datetime) -> None:
    """Note of all claimed rows that they were sent, wait for another attempt, or are given up."""
    rows = Dispatch.objects.claimed_with(token)
    common = {"attempts": F("attempts") + 1, "error": outcome.error}
    if outcome.is_ok:
        rows.release(state=State.SENT, sent_at=now, **common)
        return
    last = rows.all() if outcome.is_permanent else rows.filter(attempts__gte=MAX_ATTEMPTS - 1)
    last.release(state=State.DEAD, **common)
    most = rows.order_by("-attempts").values_list("attempts", flat=True).first() or 0
    rows.release(state=State.PENDING, due_at=now + retry_delay(most + 1, outcome.pause), **common)


@transaction.atomic
def note_outcome(*, channel_id: int, outcome: Outcome) -> None:
    """Count failures in a row; after NOTICE_MOST_FAILURES, or a 410, switch the channel off.

    What waits is given up, so that it can be sent again once the channel is mended. Writes an audit
    entry (of which the notice `channel_disabled` is made) when it switches off.
    """
    channel = Channel.objects.select_for_update(of=("self",), no_key=True).get(pk=channel_id)
    failures = 0 if outcome.is_ok else channel.failures + 1
    if failures != channel.failures:
        Channel.objects.filter(pk=channel.pk).update(failures=failures)
    is_too_much = failures >= settings.NOTICE_MOST_FAILURES or outcome.http_status == GONE
    if is_too_much and channel.state == Channel.State.ACTIVE:
        _disable(channel, failures, outcome)


def _disable(channel: Channel, failures: int, outcome: Outcome) -> None:
    channel.state = Channel.State.DISABLED
    channel.save(update_fields=["state"])
    channel.dispatches.filter(state=Dispatch.State.PENDING).update(
        state=Dispatch.State.DEAD, error=outcome.error)
    audit_log.record(actor=None, action="channel.disable", target=channel,
                     engagement=channel.engagement,
                     data={"failures": failures, "error": outcome.error})
