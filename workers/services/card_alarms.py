"""What operators say about alarms of cards and nodes: known, and silent until a time."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.audit_rows.secret_texts import refuse_secrets
from engagements.errors import InvalidInput, WrongState
from engagements.models import User
from workers.models import CardAlarm


def acknowledge_alarm(*, actor: User, alarm: CardAlarm, note: str = "") -> CardAlarm:
    """Somebody looks after it: lists show it as known. The card is leased to nobody all the same.

    Raises WrongState for an alarm that has ended.
    """
    return _say(actor, alarm, "alarm.acknowledge", acknowledged_by=actor, note=note.strip()[:160])


def silence_alarm(*, actor: User, alarm: CardAlarm, until: datetime, reason: str) -> CardAlarm:
    """Tell nobody of it until then, even if it ends and comes again.

    Raises WrongState for an alarm that has ended, InvalidInput without a reason or a coming end.
    """
    require(actor, Can.OPERATE)
    if not reason.strip() or until <= timezone.now():
        raise InvalidInput(_("Give the reason and an end that is to come."))
    return _say(actor, alarm, "alarm.silence", silenced_until=until, note=reason.strip()[:160])


@transaction.atomic
def _say(actor: User, alarm: CardAlarm, action: str, **changes) -> CardAlarm:
    require(actor, Can.OPERATE)
    alarm = CardAlarm.objects.select_for_update(of=("self",), no_key=True).get(pk=alarm.pk)
    if alarm.cleared_at:
        raise WrongState(_("The alarm has ended."))
    refuse_secrets(CardAlarm, changes)
    for name, value in changes.items():
        setattr(alarm, name, value)
    alarm.save(update_fields=list(changes))
    until = changes.get("silenced_until")
    audit_log.record(actor=actor, action=action, target=alarm.node, data={
        "card": alarm.card_index, "kind": alarm.kind, "note": alarm.note,
        **({"until": until.isoformat()} if until else {})})
    return alarm
