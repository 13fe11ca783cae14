"""Taking over what follows from the answers, and the decision after the survey."""

from collections.abc import Iterable

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.consequences import KINDS, Row, compare
from delivery.surveys.models import Consequence, Decision, Survey
from delivery.surveys.readiness import readiness
from delivery.surveys.transitions import locked
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import DeskError, InvalidInput, WrongState
from engagements.models import User
from engagements.text.text_joining import bracketed, labelled, listed


class Overtaken(DeskError):
    """The answers changed since the page was shown; nothing was applied."""

    code = "overtaken"
    status = 409


@transaction.atomic
def apply_consequences(*, actor: User, survey: Survey, tokens: Iterable[str] | None = None
                       ) -> list[str]:
    """Take over consequences of a confirmed survey, all in one transaction or none.

    Args:
        tokens: tokens of the rows as they were shown (`Row.token`); None for all open ones.
    Returns:
        codes of what was taken over or withdrawn; each has its audit entry, beside those of the
        services that do the work.
    Raises:
        WrongState: the survey is not confirmed.
        Overtaken: a row is no longer what was shown.
        DeskError: a row cannot be taken over; the message names it.
    """
    require(actor, Can.MANAGE, survey.engagement)
    survey = locked(survey)
    if survey.state != Survey.State.CONFIRMED:
        raise WrongState(_("Confirm the survey first; only then can its conclusions be applied."))
    rows = _chosen(compare(Sheet(survey)), None if tokens is None else list(tokens))
    for row in rows:
        try:
            _take_over(actor, survey, row)
        except DeskError as error:
            where = bracketed(row.model and row.model.code)
            raise type(error)(labelled(f"{row.label}{where}", error.message),
                              **error.details) from error
    return [row.code for row in rows]


def _chosen(rows: list[Row], tokens: list[str] | None) -> list[Row]:
    open_rows = {row.token: row for row in rows if row.is_open}
    if tokens is None:
        return list(open_rows.values())
    if set(tokens) - set(open_rows):
        raise Overtaken(_("The conclusions have changed since this page was shown. Nothing was "
                          "applied; check them again."))
    return [row for token, row in open_rows.items() if token in tokens]


def _take_over(actor: User, survey: Survey, row: Row) -> None:
    kind = KINDS[row.kind]
    before = row.applied.value if row.applied else None
    if row.item is None:
        kind.withdraw(actor, survey, row.applied)
        Consequence.objects.filter(pk=row.applied.pk).delete()
        audit_log.record(actor=actor, action="consequence.withdraw", target=row.applied,
                         engagement=survey.engagement, data={"before": before})
        return
    result = kind.apply(actor, survey, row.item, row.applied)
    taken, _made = Consequence.objects.update_or_create(
        survey=survey, code=row.item.code,
        defaults={"kind": row.kind, "key": row.key, "model": row.model, "value": row.item.value,
                  "result": result, "applied_by": actor, "applied_at": timezone.now()})
    audit_log.record(actor=actor, action="consequence.apply", target=taken,
                     engagement=survey.engagement,
                     data={"before": before, "after": row.item.value, "result": result})


@transaction.atomic
def decide(*, actor: User, survey: Survey, verdict: str, reason: str,
           tokens: Iterable[str] = ()) -> Decision:
    """Go, go with conditions, or no-go, with the readiness at this moment.

    Args:
        tokens: rows that are taken over first, as they were shown (see `apply_consequences`);
            with a no-go nothing is.
    Raises WrongState unless the survey is confirmed; InvalidInput without a reason, or for a
    plain “go” while something that blocks is missing; what `apply_consequences` raises.
    """
    require(actor, Can.MANAGE, survey.engagement)
    survey = locked(survey)
    if survey.state != Survey.State.CONFIRMED:
        raise WrongState(_("Confirm the survey before deciding on it."))
    if verdict not in Decision.Verdict.values or not reason.strip():
        raise InvalidInput(_("Choose a decision and give its reason."))
    if verdict != Decision.Verdict.NO_GO and (chosen := list(tokens)):
        apply_consequences(actor=actor, survey=survey, tokens=chosen)
    found = readiness(Sheet(survey))
    if verdict == Decision.Verdict.GO and found.blocking:
        raise InvalidInput(_("Still missing: %(items)s. Go ahead with conditions and state "
                             "them.") % {
            "items": listed(entry.label for entry in found.blocking)})
    decision = Decision.objects.create(
        survey=survey, verdict=verdict, reason=reason.strip()[:2000], score=found.score,
        missing=[{"code": entry.code, "label": entry.label, "sentence": entry.sentence}
                 for entry in found.missing], decided_by=actor, decided_at=timezone.now())
    Survey.objects.filter(pk=survey.pk, is_decided=False).update(is_decided=True)
    audit_log.record(actor=actor, action="survey.decide", target=decision,
                     engagement=survey.engagement,
                     data={"verdict": verdict, "reason": decision.reason, "score": found.score})
    return decision
