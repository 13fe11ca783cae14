"""How an engagement ends: the conditions for closing it, and the table of its states.

A condition is registered by the package that knows it, as gate checks are (`engagements.gates`):
jobs by workers, time by planning, certificate, claims and warranty by acceptance, and so on.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.db.models import Count, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from engagements.agreed_scope import require_nothing_agreed
from engagements.errors import DeskError
from engagements.gates import CheckResult
from engagements.models import Engagement, User
from engagements.permissions import Can
from engagements.signals import engagement_cancelled
from engagements.text.text_joining import following, labelled
from engagements.transitions import TransitionTable, automatic, transition

State = Engagement.State


@dataclass(frozen=True, kw_only=True)
class ClosingCondition:
    """What has to be done before an engagement is closed.

    Args:
        code: for the API and tests.
        label: what it is about.
        met: the sentence where nothing is open.
        open_of: of the engagements those that do not meet it, by key, with a sentence on what is
            open; the number of its queries does not depend on how many there are.
        url: of an engagement, the page on which it is mended.
    """

    code: str
    label: Any
    met: Any
    open_of: Callable[[QuerySet[Engagement]], dict[int, str]]
    url: Callable[[Engagement], str]


_conditions: dict[str, ClosingCondition] = {}


def register_condition(condition: ClosingCondition) -> None:
    """Add a condition. Raises ValueError if its code is taken."""
    if condition.code in _conditions:
        raise ValueError(f"the closing condition {condition.code} is declared twice")
    _conditions[condition.code] = condition


def counted(rows: QuerySet, sentence: Callable[[int], str], path: str = "engagement"
            ) -> Callable[[QuerySet[Engagement]], dict[int, str]]:
    """`open_of` where each of the rows is open: how many there are, as a sentence."""

    def open_of(engagements: QuerySet[Engagement]) -> dict[int, str]:
        found = rows.all().filter(**{f"{path}__in": engagements}).order_by().values_list(
            path).annotate(Count("pk"))
        return {key: sentence(n) for key, n in found}

    return open_of


def conditions_of(engagement: Engagement) -> list[CheckResult]:
    """How each condition stands, in order of registration."""
    one = Engagement.objects.filter(pk=engagement.pk)
    found = [(condition, condition.open_of(one).get(engagement.pk, ""))
             for condition in _conditions.values()]
    return [CheckResult(condition.code, str(condition.label), not sentence,
                        sentence or str(condition.met), condition.url(engagement))
            for condition, sentence in found]


def ready_to_close(engagements: Iterable[Engagement]) -> set[int]:
    """Keys of those that meet every condition."""
    keys = {engagement.pk for engagement in engagements}
    for condition in _conditions.values():
        keys -= set(condition.open_of(Engagement.objects.filter(pk__in=keys))) if keys else set()
    return keys


class ConditionsOpen(DeskError):
    """An engagement cannot be closed; `details["checks"]` lists what is open and where."""

    code = "conditions_open"
    status = 409


class EngagementMove(models.TextChoices):
    """Values are the names of the API's endpoints."""

    CLOSE = "close", _("Close the engagement")
    CANCEL = "cancel", _("Cancel the engagement")
    LOSE = "lose", _("Record as not won")
    REOPEN = "reopen", _("Reopen the engagement")


def _close(engagement: Engagement, _actor: User, reason: str) -> dict:
    missing = [check for check in conditions_of(engagement) if not check.is_met]
    if missing:
        raise ConditionsOpen(following(*(labelled(c.label, c.sentence) for c in missing)),
                             checks=[c.as_dict() for c in missing])
    return _end(engagement, reason)


def _end(engagement: Engagement, reason: str) -> dict:
    engagement.ended_at, engagement.end_reason = timezone.now(), reason.strip()
    return {"reason": engagement.end_reason}


def _cancel(engagement: Engagement, actor: User, reason: str) -> dict:
    """The settlement stands on the row already. What is under way ends with it."""
    data = {**_end(engagement, reason), "settlement": engagement.settlement}
    engagement_cancelled.send(Engagement, engagement=engagement, actor=actor)
    return data


def _nothing_agreed(_user: User, engagement: Engagement) -> None:
    require_nothing_agreed(engagement)


def _lose(engagement: Engagement, actor: User, reason: str) -> dict:
    """The cause stands on the row already. What lies with the customer is taken back."""
    data = {**_end(engagement, reason), "cause": engagement.loss_cause}
    engagement_cancelled.send(Engagement, engagement=engagement, actor=actor)
    return data


def _reopen(engagement: Engagement, _actor: User, reason: str) -> dict:
    before = {"ended_with": engagement.end_reason, "settlement": engagement.settlement,
              "cause": engagement.loss_cause}
    engagement.ended_at, engagement.end_reason, engagement.settlement = None, "", ""
    engagement.loss_cause = ""
    return {"reason": reason.strip(), **before}


_M = EngagementMove
TRANSITIONS = TransitionTable({
    _M.CLOSE: transition(State.ACTIVE, State.ACCEPTED, to=State.CLOSED, by=Can.MANAGE,
                         effect=_close, audit=("engagement.close", _("Engagement closed"))),
    _M.CANCEL: transition(State.ACTIVE, State.ACCEPTED, to=State.CANCELLED, by=Can.MANAGE,
                          needs_reason=True, effect=_cancel,
                          audit=("engagement.cancel", _("Engagement cancelled"))),
    _M.LOSE: transition(State.ACTIVE, to=State.NOT_WON, by=(Can.MANAGE, Can.PRICE),
                        guards=(_nothing_agreed,), needs_reason=True, effect=_lose,
                        audit=("engagement.lose", _("Engagement not won"))),
    _M.REOPEN: transition(*sorted(Engagement.ENDED), to=State.ACTIVE, by=Can.MANAGE,
                          needs_reason=True, effect=_reopen, may_have_ended=True,
                          audit=("engagement.reopen", _("Engagement reopened"))),
}, automatic={
    # AR-15: see `delivery.acceptance.certificates.follow_certificate`.
    "the certificate in force accepts every model": automatic(
        State.ACTIVE, to=State.ACCEPTED,
        audit=("engagement.accepted", _("Engagement accepted"))),
    "it no longer does": automatic(State.ACCEPTED, to=State.ACTIVE),
})
