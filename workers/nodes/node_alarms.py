"""Alarms of nodes, from what is the matter with them: opened, kept and ended as those of cards."""

from datetime import datetime, timedelta

from django.conf import settings

from workers.models import CardAlarm, Node
from workers.nodes.conditions import conditions_of

NOT_WATCHED = (Node.State.PENDING, Node.State.UNTRIED, Node.State.RETIRED)


def watch(now: datetime) -> None:
    """Open an alarm for what is newly the matter with a node, keep what goes on, end the others. A
    node that does not answer keeps what it had: nobody knows better."""
    nodes = list(Node.objects.exclude(state__in=NOT_WATCHED).without_secrets())
    found = conditions_of(nodes, now)
    for node in nodes:
        wrong = {reason.kind: reason.value for reason in found[node.pk].reasons if reason.kind}
        if node.unreachable_since and now - node.unreachable_since < timedelta(
                minutes=settings.NODE_AWAY_MINUTES):
            wrong.pop(CardAlarm.Kind.AWAY, None)
        _update(node, wrong, now)


def _update(node: Node, wrong: dict[str, str], now: datetime) -> None:
    opened = {alarm.kind: alarm for alarm in node.open_alarms if alarm.card_index is None}
    for kind, value in wrong.items():
        if alarm := opened.get(kind):
            CardAlarm.objects.filter(pk=alarm.pk).update(value=value[:60], seen_at=now)
        else:
            CardAlarm.open_anew(node=node, card_index=None, kind=kind, value=value[:60], at=now)
    over = [alarm.pk for kind, alarm in opened.items() if kind not in wrong and (
        node.unreachable_since is None or kind == CardAlarm.Kind.AWAY)]
    if over:
        CardAlarm.objects.filter(pk__in=over, cleared_at=None).update(cleared_at=now)
