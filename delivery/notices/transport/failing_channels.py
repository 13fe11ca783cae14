"""A channel that fails again and again is switched off, and its managers hear of it."""

from django.conf import settings
from django.db import transaction

from delivery.notices.models import Channel, Dispatch
from delivery.notices.send_outcomes import Outcome
from engagements.audit import audit_log

GONE = 410  # the receiver's own word for "send no more"


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
