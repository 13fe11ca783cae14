"""Gate checks of the survey: complete and confirmed, decided on, no blocking rule broken; and what
counts as work in its stage."""

from collections.abc import Iterable

from django.db.models import OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.consequences.counted_answers import CountedAnswers
from delivery.surveys.consequences.rules import RulesToRun, findings, in_words
from delivery.surveys.models import Consequence, Decision, Survey
from engagements.access import Can
from engagements.gates import CheckResult, register_check
from engagements.models import StageRecord
from engagements.stage_activity import register_stage_activity
from engagements.stages import Stage
from engagements.text.text_joining import following
from workers.rules import BLOCK


@register_check("survey", Stage.SURVEY)
def survey_is_confirmed(record: StageRecord) -> Iterable[CheckResult]:
    """The survey stage ends with a complete and confirmed survey (DOMAIN 2.2)."""
    survey = _survey(record)
    is_met = bool(survey and survey.state == Survey.State.CONFIRMED)
    yield CheckResult("survey", _("Survey complete and confirmed"), is_met, _found(survey),
                      reverse("surveys:overview", args=[record.engagement.code]),
                      "" if is_met else _remedy(survey))


@register_check("survey_decision", Stage.SURVEY)
def survey_is_decided(record: StageRecord) -> Iterable[CheckResult]:
    """A decision to go on, taken after the survey was last confirmed."""
    survey = _survey(record)
    newest = survey.decisions.select_related("decided_by").first() if survey else None
    is_met, sentence = _decided(survey, newest)
    yield CheckResult("survey_decision", _("Go or no-go"), is_met, sentence,
                      reverse("surveys:consequences", args=[record.engagement.code]),
                      "" if is_met else _("A project manager decides on the readiness page."),
                      needs=Can.VIEW_INTERNAL)


@register_check("survey_rules", Stage.DESIGN)
def rules_hold(record: StageRecord) -> Iterable[CheckResult]:
    """The plan rests on answers that break no blocking rule; only where rules were taken over."""
    chosen = Consequence.objects.filter(
        kind=RulesToRun.code, model=record.model).select_related("survey__engagement").first()
    if chosen is None:
        return
    given = CountedAnswers(Sheet(chosen.survey))
    broken = findings(given, record.model, chosen.value["rules"]).of(BLOCK)
    yield CheckResult(
        "survey_rules", _("Rules over the answers"), not broken,
        following(*map(in_words, broken)) or _("No blocking rule is broken."),
        reverse("surveys:consequences", args=[record.engagement.code]) + "#findings",
        _("Correct the answers, or change the plan and answer again.") if broken else "",
        needs=Can.VIEW_INTERNAL)


def _survey(record: StageRecord) -> Survey | None:
    return Survey.objects.filter(engagement=record.engagement).select_related(
        "engagement", "questionnaire", "confirmed_by").first()


def _found(survey: Survey | None) -> str:
    if survey is None:
        return _("The survey has not started.")
    if survey.state == Survey.State.CONFIRMED:
        return _("Confirmed by %(who)s.") % {"who": survey.confirmed_by}
    missing = len(Sheet(survey).missing)
    if missing:
        return ngettext("%(n)d required answer is missing.", "%(n)d required answers are missing.",
                        missing) % {"n": missing}
    return _("The survey is %(state)s.") % {"state": survey.get_state_display()}


def _remedy(survey: Survey | None) -> str:
    if survey is None:
        return _("Start the survey and answer the required questions.")
    if survey.state == Survey.State.SUBMITTED:
        return _("A consultant confirms the answers.")
    return _("Answer the required questions, then submit and confirm the survey.")


def _decided(survey: Survey | None, newest: Decision | None) -> tuple[bool, str]:
    if newest is None:
        return False, _("No decision yet.")
    if survey.confirmed_at is None or newest.decided_at < survey.confirmed_at:
        return False, _("The answers were reopened after the last decision.")
    sentence = _("%(verdict)s: decided by %(who)s.") % {
        "verdict": newest.get_verdict_display(), "who": newest.decided_by}
    return newest.verdict != Decision.Verdict.NO_GO, sentence


@register_stage_activity("survey")
def surveys_handed_in() -> QuerySet:
    """The engagement's survey that was submitted or confirmed since the survey stage began."""
    return Survey.objects.exclude(state=Survey.State.DRAFT).filter(
        Q(submitted_at__gte=OuterRef("started_at")) | Q(confirmed_at__gte=OuterRef("started_at")),
        engagement__models__stages=OuterRef("pk"), engagement__models__stages__stage=Stage.SURVEY)
