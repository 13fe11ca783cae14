"""Writes of channels: addresses and secrets go in and never come out."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from delivery.notices.channel_kinds import kinds_that, sender_of
from delivery.notices.event_kinds import KINDS
from delivery.notices.models import Channel, Dispatch
from delivery.notices.rate_limits import take_token
from delivery.notices.send_outcomes import REASONS, Outcome, sentence
from delivery.notices.transport import address_allowlist, send_dispatches
from delivery.notices.transport.message_text import test_message_item
from delivery.notices.transport.webhook_signatures import SECRET_PREFIX, is_standard, new_secret
from engagements.access import Can, require, require_visible
from engagements.audit import audit_log
from engagements.decisions import require_decider
from engagements.errors import InvalidInput, WrongState
from engagements.models import User
from engagements.queue import enqueue_on_commit
from engagements.text.text_joining import following

SHORTEST_SECRET = 16
SECRET_OVERLAP = timedelta(hours=24)


@transaction.atomic
def create_channel(*, actor: User, url: str, secret: str = "", **fields) -> Channel:
    """A new channel. Writes an audit entry without address and secret.

    A webhook without a secret is given one: `new_secret` of the answer, to be shown this once.

    Raises InvalidInput: an address that is not allowed, a webhook's secret that is none,
    an unknown kind of event, a name that is taken. NotAllowed: an engagement that is not seen.
    """
    require(actor, Can.MANAGE)
    is_made = fields.get("kind") in kinds_that("makes_secret") and not secret
    made = new_secret() if is_made else ""
    channel = _save(actor, Channel(), "channel.create", url=url, secret=secret or made, **fields)
    channel.new_secret = made
    return channel


@transaction.atomic
def update_channel(*, actor: User, channel: Channel, url: str = "", secret: str = "", **fields
                   ) -> Channel:
    """Change a channel; an empty address or secret keeps the stored one."""
    channel = _locked(actor, channel)
    return _save(actor, channel, "channel.update", url=url or channel.url,
                 secret=secret or channel.secret, **fields)


@transaction.atomic
def rotate_secret(*, actor: User, channel: Channel) -> Channel:
    """A new signing secret for a webhook; the old one signs beside it for SECRET_OVERLAP.

    `new_secret` of the answer is to be shown this once. Writes an audit entry without it.
    Raises WrongState for a robot, whose secret its own settings make.
    """
    channel = _locked(actor, channel)
    if not channel.makes_secret:
        raise WrongState(_("A robot's secret is generated in its own settings; enter it there and "
                           "here."))
    channel.previous_secret = channel.secret
    channel.previous_secret_until = timezone.now() + SECRET_OVERLAP
    channel.secret = channel.new_secret = new_secret()
    channel.save(update_fields=["secret", "previous_secret", "previous_secret_until"])
    audit_log.record(actor=actor, action="channel.rotate_secret", target=channel,
                     engagement=channel.engagement,
                     data={"previous_until": channel.previous_secret_until})
    return channel


def _locked(actor: User, channel: Channel) -> Channel:
    require(actor, Can.MANAGE)
    require_visible(actor, channel.engagement)
    return Channel.objects.select_for_update(of=("self",), no_key=True).get(pk=channel.pk)


def _save(actor: User, channel: Channel, action: str, **fields) -> Channel:
    for name, value in fields.items():
        setattr(channel, name, value.strip() if name in ("url", "secret") else value)
    require_visible(actor, channel.engagement)
    _require_usable(channel)
    channel.save()
    audit_log.record(actor=actor, action=action, target=channel, engagement=channel.engagement,
                     data={"kind": channel.kind, "address": channel.masked_url,
                           "events": channel.kinds, "pace": channel.pace})
    return channel


def _require_usable(channel: Channel) -> None:
    address_allowlist.check(channel.kind, channel.url)
    if channel.makes_secret and len(channel.secret) < SHORTEST_SECRET:
        raise InvalidInput(_("A webhook needs a signing secret of at least %(count)d characters.")
                           % {"count": SHORTEST_SECRET})
    if channel.secret.startswith(SECRET_PREFIX) and not is_standard(channel.secret):
        raise InvalidInput(_("The part after “whsec_” must be Base64."))
    unknown = sorted(set(channel.kinds) - set(KINDS))
    if unknown:
        raise InvalidInput(_("“%(kind)s” is not among the events you may choose.")
                           % {"kind": ", ".join(unknown)[:200]})
    if Channel.objects.filter(name=channel.name).exclude(pk=channel.pk).exists():
        raise InvalidInput(_("The name %(name)s is taken.") % {"name": channel.name})


@transaction.atomic
def switch_channel(*, actor: User, channel: Channel, is_on: bool) -> Channel:
    """Switch on or off. What waited for a channel that is switched off is never sent."""
    channel = _locked(actor, channel)
    channel.state = Channel.State.ACTIVE if is_on else Channel.State.CLOSED
    channel.failures = 0
    channel.save(update_fields=["state", "failures"])
    if not is_on:
        channel.dispatches.filter(state=Dispatch.State.PENDING).update(
            state=Dispatch.State.WITHDRAWN)
    audit_log.record(actor=actor, action="channel.switch", target=channel,
                     engagement=channel.engagement, data={"on": is_on})
    return channel


def send_test_message(*, actor: User, channel: Channel) -> Outcome:
    """Send a test message now, within the channel's rate. Writes an audit entry.

    Raises WrongState with the reason if it did not arrive.
    """
    require(actor, Can.MANAGE)
    require_visible(actor, channel.engagement)
    require_decider(actor, "channel.test")
    _take_token(channel)
    with translation.override(channel.language):
        outcome = send_dispatches.deliver(channel, [test_message_item()], [
            {"id": None, "kind": "test", "title": str(test_message_item().title),
             "at": timezone.now().isoformat()}], is_test=True)
    audit_log.record(actor=actor, action="channel.test", target=channel,
                     engagement=channel.engagement, data={"ok": outcome.is_ok})
    if not outcome.is_ok:
        raise WrongState(following(_("The test message did not arrive."),
                                   sentence(outcome.error)))
    return outcome


@transaction.atomic
def _take_token(channel: Channel) -> None:
    locked = Channel.objects.select_for_update(of=("self",), no_key=True).get(pk=channel.pk)
    now = timezone.now()
    tokens, wait = take_token(sender_of(locked.kind).rate, locked.tokens, locked.refilled_at, now)
    if wait:
        raise WrongState(str(REASONS["rate"]))
    Channel.objects.filter(pk=channel.pk).update(tokens=tokens, refilled_at=now)


@transaction.atomic
def send_again(*, actor: User, dispatch: Dispatch) -> Dispatch:
    """Put a message that was given up back into the line; a webhook's also if it was sent.
    Writes an audit entry."""
    require(actor, Can.MANAGE)
    require_visible(actor, dispatch.event.engagement)
    if not _back_into_line(Dispatch.objects.filter(pk=dispatch.pk)):
        raise WrongState(_("Only messages that were given up can be sent again; a webhook's "
                           "delivered messages can be, too."))
    dispatch.refresh_from_db()
    audit_log.record(actor=actor, action="dispatch.send_again", target=dispatch,
                     engagement=dispatch.event.engagement)
    if dispatch.channel_id:
        enqueue_on_commit("notices.send_to_channel", dispatch.channel_id)
    else:
        enqueue_on_commit("notices.send_mail_to", dispatch.recipient_id)
    return dispatch


@transaction.atomic
def replay(*, actor: User, channel: Channel, since: datetime) -> int:
    """Send a webhook again what happened since then, whether it was sent or given up; how many
    events. Their numbers stay, so that the receiver knows what it has. Writes an audit entry.

    Raises WrongState for a robot, whose readers would be told twice, and for a channel that is off.
    """
    channel = _locked(actor, channel)
    if not channel.may_repeat:
        raise WrongState(_("Only webhooks can be resent in bulk; a chat would receive everything "
                           "twice."))
    if channel.state != Channel.State.ACTIVE:
        raise WrongState(_("Switch the channel on first."))
    count = _back_into_line(channel.dispatches.filter(event__at__gte=since))
    audit_log.record(actor=actor, action="channel.replay", target=channel,
                     engagement=channel.engagement, data={"since": since, "events": count})
    enqueue_on_commit("notices.send_to_channel", channel.pk)
    return count


def _back_into_line(dispatches: QuerySet) -> int:
    may_repeat = Q(state=Dispatch.State.DEAD) | Q(
        state=Dispatch.State.SENT, channel__kind__in=kinds_that("may_repeat"))
    chosen = Dispatch.objects.filter(pk__in=dispatches.filter(may_repeat).values("pk"))
    return chosen.update(state=Dispatch.State.PENDING, attempts=0, due_at=timezone.now(),
                         sent_at=None, error="")
