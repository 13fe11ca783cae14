"""Writes of channels: addresses and secrets go in and never come out."""

from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from delivery.notices import enqueueing
from delivery.notices.event_kinds import KINDS
from delivery.notices.models import Channel, Dispatch
from delivery.notices.rate_limits import RATES, take_token
from delivery.notices.send_outcomes import REASONS, Outcome, sentence
from delivery.notices.transport import address_allowlist, send_dispatches
from delivery.notices.transport.message_text import test_message_item
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import User
from engagements.text.text_joining import following

SHORTEST_SECRET = 16


@transaction.atomic
def create_channel(*, actor: User, url: str, secret: str = "", **fields) -> Channel:
    """A new channel. Writes an audit entry without address and secret.

    Raises InvalidInput: an address that is not allowed, a webhook without a proper secret,
    an unknown kind of event, a name that is taken.
    """
    require(actor, Can.MANAGE)
    return _save(actor, Channel(), "channel.create", url=url, secret=secret, **fields)


@transaction.atomic
def update_channel(*, actor: User, channel: Channel, url: str = "", secret: str = "", **fields
                   ) -> Channel:
    """Change a channel; an empty address or secret keeps the stored one."""
    require(actor, Can.MANAGE)
    channel = Channel.objects.select_for_update(of=("self",), no_key=True).get(pk=channel.pk)
    return _save(actor, channel, "channel.update", url=url or channel.url,
                 secret=secret or channel.secret, **fields)


def _save(actor: User, channel: Channel, action: str, **fields) -> Channel:
    for name, value in fields.items():
        setattr(channel, name, value.strip() if name in ("url", "secret") else value)
    _require_usable(channel)
    channel.save()
    audit_log.record(actor=actor, action=action, target=channel, engagement=channel.engagement,
                     data={"kind": channel.kind, "address": channel.masked_url,
                           "events": channel.kinds, "pace": channel.pace})
    return channel


def _require_usable(channel: Channel) -> None:
    address_allowlist.check(channel.kind, channel.url)
    if channel.kind == Channel.Kind.WEBHOOK and len(channel.secret) < SHORTEST_SECRET:
        raise InvalidInput(_("A webhook needs a signing secret of at least %(count)d characters.")
                           % {"count": SHORTEST_SECRET})
    unknown = sorted(set(channel.kinds) - set(KINDS))
    if unknown:
        raise InvalidInput(_("“%(kind)s” is not among the events you may choose.")
                           % {"kind": ", ".join(unknown)[:200]})
    if Channel.objects.filter(name=channel.name).exclude(pk=channel.pk).exists():
        raise InvalidInput(_("The name %(name)s is taken.") % {"name": channel.name})


@transaction.atomic
def switch_channel(*, actor: User, channel: Channel, is_on: bool) -> Channel:
    """Switch on or off. What waited for a channel that is switched off is never sent."""
    require(actor, Can.MANAGE)
    channel = Channel.objects.select_for_update(of=("self",), no_key=True).get(pk=channel.pk)
    channel.state = Channel.State.ACTIVE if is_on else Channel.State.CLOSED
    channel.save(update_fields=["state"])
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
    tokens, wait = take_token(RATES[locked.kind], locked.tokens, locked.refilled_at, now)
    if wait:
        raise WrongState(str(REASONS["rate"]))
    Channel.objects.filter(pk=channel.pk).update(tokens=tokens, refilled_at=now)


@transaction.atomic
def send_again(*, actor: User, dispatch: Dispatch) -> Dispatch:
    """Put a message that was given up back into the line. Writes an audit entry."""
    require(actor, Can.MANAGE)
    changed = Dispatch.objects.filter(pk=dispatch.pk, state=Dispatch.State.DEAD).update(
        state=Dispatch.State.PENDING, attempts=0, due_at=timezone.now(), error="")
    if not changed:
        raise WrongState(_("Only messages that were given up can be sent again."))
    dispatch.refresh_from_db()
    audit_log.record(actor=actor, action="dispatch.send_again", target=dispatch,
                     engagement=dispatch.event.engagement)
    if dispatch.channel_id:
        enqueueing.enqueue_channel(dispatch.channel_id)
    else:
        enqueueing.enqueue_mail(dispatch.recipient_id)
    return dispatch
