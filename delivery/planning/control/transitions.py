"""The way of a weekly report: written and counted anew until a manager freezes it; what turns out
wrong is corrected as its next version. Files and audit entries of the one before stay."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from bundle_verifier.canonical import SPACED, content_hash
from delivery.planning.control.weekly_facts import week_facts
from delivery.planning.models import WeeklyReport
from engagements.access import Can
from engagements.errors import InvalidInput
from engagements.models import User
from engagements.transitions import TransitionTable, transition

State = WeeklyReport.State
FROZEN_FIELDS = ("light", "summary", "deviations", "next_week", "problems", "customer_duties",
                 "facts")


class WeeklyMove(models.TextChoices):
    """Values are the names of the API's endpoints; `update` is its PATCH."""

    UPDATE = "update"
    REFRESH = "refresh"
    FREEZE = "freeze"
    CORRECT = "correct"


def _refresh(report: WeeklyReport, _actor: User, _reason: str) -> dict:
    """Count the facts anew; the words stay."""
    report.facts = week_facts(report.engagement, report.week_start)
    report.lock_version += 1
    return {"lock_version": report.lock_version, "changed": {}}


def _freeze(report: WeeklyReport, _actor: User, _reason: str) -> dict:
    if not report.summary.strip():
        raise InvalidInput(_("Write what was done this week before freezing."))
    report.facts = week_facts(report.engagement, report.week_start)
    report.frozen_at = timezone.now()
    report.content_hash = weekly_hash(report)
    return {"hash": report.content_hash}


def _correct(report: WeeklyReport, _actor: User, reason: str) -> dict:
    before = report.content_hash
    report.version, report.correction = report.version + 1, reason.strip()[:400]
    report.content_hash, report.frozen_at = "", None
    report.lock_version += 1
    return {"reason": report.correction, "before": before}


def weekly_hash(report: WeeklyReport) -> str:
    """SHA-256 of words and facts."""
    facts = {name: getattr(report, name) for name in FROZEN_FIELDS}
    return content_hash({"report": str(report), **facts}, SPACED)


TRANSITIONS = TransitionTable({
    WeeklyMove.UPDATE: transition(
        State.DRAFT, by=Can.WORK, audit=("weekly.update", gettext_lazy("Weekly report changed"))),
    WeeklyMove.REFRESH: transition(
        State.DRAFT, by=Can.WORK, effect=_refresh,
        label=gettext_lazy("Recount"),
        audit=("weekly.refresh", gettext_lazy("Weekly report refreshed"))),
    WeeklyMove.FREEZE: transition(
        State.DRAFT, to=State.FROZEN, by=Can.MANAGE, effect=_freeze,
        label=gettext_lazy("Freeze"),
        audit=("weekly.freeze", gettext_lazy("Weekly report frozen"))),
    WeeklyMove.CORRECT: transition(
        State.FROZEN, to=State.DRAFT, by=Can.MANAGE, needs_reason=True, effect=_correct,
        label=gettext_lazy("Draft the next version"),
        audit=("weekly.correct", gettext_lazy("Weekly report corrected by a next version"))),
})
