"""Figures of the portfolio's charts are what their rows say, after every kind of write."""

from datetime import date, datetime, time
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import DEFAULT_DB_ALIAS
from django.db.migrations import Migration
from django.utils import timezone
from django.utils.translation import override

from assessments.models import CriteriaSet, Criterion, MetricDefinition, Verdict
from assessments.services import load_standard_definitions
from delivery.planning.services import estimates, time_entries
from delivery.portal import chart_figures
from delivery.portal.models import ChartFigure
from delivery.portal.portfolio.charts import charts_for
from delivery.quotes.models import Quote
from engagements import services
from engagements.models import Engagement, MigratedModel, Role
from tests.delivery.planning.test_effort import book
from tests.delivery.portal.conftest import many

pytestmark = pytest.mark.usefixtures("firm")


def figures(chart: str) -> dict[str, Decimal]:
    return dict(ChartFigure.objects.filter(chart=chart).values_list("bar", "number"))


def agrees() -> bool:
    return list(chart_figures.differences()) == []


def test_stages_and_quotes_keep_the_pipeline(people, engagement, llm, detector, quoted):
    net = Decimal(quoted.snapshot["totals"]["net"])
    assert (figures("pipeline"), figures("value")) == ({"survey": 1}, {"survey": net})
    for model in (llm, detector):
        model.stages.filter(stage="survey").update(state="passed", passed_at=timezone.now())
    assert (figures("pipeline"), figures("value")) == ({"design": 1}, {"design": net})
    services.drop_model(actor=people[Role.MANAGER], model=detector, reason="r")
    Quote.objects.filter(pk=quoted.pk).update(state=Quote.State.SUPERSEDED)
    assert figures("value") == {}
    Engagement.objects.update(state="closed")
    assert figures("pipeline") == {}
    assert agrees()


def test_days_are_those_of_the_estimate_in_force_and_of_entries_that_count(
        people, engagement, llm, detector, estimate):
    assert figures("planned") == {}
    estimates.approve_estimate(actor=people[Role.MANAGER], estimate=estimate)
    likely = sum(line.likely for line in estimate.lines.all())
    assert sum(figures("planned").values()) == likely > 0
    book(people[Role.CONSULTANT], engagement, llm, "adapt", 2)
    assert sum(figures("used").values()) == 2
    time_entries.remove_time(actor=people[Role.CONSULTANT],
                             entry=engagement.time_entries.first())
    assert sum(figures("used").values()) == Decimal("1.5")
    assert agrees()


def accept(model, day: date) -> None:
    """The model passes its acceptance at noon of a day."""
    model.stages.filter(stage="accept").update(
        state="passed", passed_at=timezone.make_aware(datetime.combine(day, time(12))))


def rate(people, day: date) -> dict[str, str]:
    """The bars of the on-time rate as a manager reads them on a day."""
    now = timezone.make_aware(datetime.combine(day, time(12)))
    with override("en"):
        [chart] = [c for c in charts_for(people[Role.MANAGER], now) if c.title == "On-time rate"]
    return {bar.label: bar.text for bar in chart.bars}


def test_an_engagement_is_in_time_once_its_last_model_is(people, engagement, llm, detector):
    """In the quarter of its agreed end, whenever its models were accepted, and once."""
    Engagement.objects.update(starts_on=None, ends_on=date(2026, 3, 31))
    accept(llm, date(2025, 12, 30))
    assert rate(people, date(2026, 4, 1)) == {"2026 Q1": "0% (0/1)"}  # the detector is open
    accept(detector, date(2026, 3, 31))
    assert (figures("due"), figures("in_time")) == ({"2026-03-31": 1}, {"2026-03-31": 1})
    assert rate(people, date(2026, 4, 1)) == {"2026 Q1": "100% (1/1)"}
    accept(detector, date(2026, 4, 1))
    assert rate(people, date(2026, 7, 1)) == {"2026 Q1": "0% (0/1)"}
    services.drop_model(actor=people[Role.MANAGER], model=detector, reason="r")
    assert rate(people, date(2026, 7, 1)) == {"2026 Q1": "100% (1/1)"}
    assert agrees()


@pytest.mark.slow
def test_the_rate_is_over_all_that_were_due(people, engagement, llm):
    """Overdue and open, or closed without acceptance: not in time. What is due later waits."""
    Engagement.objects.update(starts_on=None, ends_on=date(2026, 2, 10))
    accept(llm, date(2026, 2, 9))
    others = {name: many(people, engagement.customer, 1, name) for name in (
        "OPEN", "TODAY", "CLOSED", "GONE", "ENDLESS")}
    ends = {"OPEN": date(2026, 2, 11), "TODAY": date(2026, 2, 12), "CLOSED": date(2026, 2, 1),
            "GONE": date(2026, 2, 1), "ENDLESS": None}
    for name, other in others.items():
        Engagement.objects.filter(pk=other.pk).update(
            ends_on=ends[name], state="closed" if name in ("CLOSED", "GONE") else "active")
    for model in others["GONE"].models.all():  # nothing was left to be accepted
        MigratedModel.objects.filter(pk=model.pk).update(
            dropped_at=timezone.now(), drop_reason="r")
    assert rate(people, date(2026, 2, 12)) == {"2026 Q1": "33% (1/3)"}
    assert agrees()


def test_figures_are_made_anew_where_a_migration_changes_what_they_mean(engagement, llm):
    ChartFigure.objects.update(number=7)
    chart_figures.prepare(DEFAULT_DB_ALIAS, plan=[(Migration("0001", "engagements"), False)])
    assert not agrees()
    chart_figures.prepare(DEFAULT_DB_ALIAS, plan=[(Migration("0003", "portal"), False)])
    assert agrees()


def test_verdicts_count_in_their_month(engagement, llm):
    load_standard_definitions()
    criterion = Criterion.objects.create(
        criteria_set=CriteriaSet.objects.create(engagement=engagement, version=1), model=llm,
        stage="train_tune", threshold=Decimal(1),
        definition=MetricDefinition.objects.get(code="latency"))
    for outcome in ("failed", "failed", "passed"):
        Verdict.objects.create(criterion=criterion, outcome=outcome, reason="x",
                               engine_version="1")
    month = f"{timezone.localdate():%Y-%m}"
    assert figures("verdicts") == {f"{month} failed": 2, f"{month} passed": 1}
    assert agrees()


def test_the_command_tells_what_differs_and_mends_it(engagement, llm, capsys):
    ChartFigure.objects.update(number=7)
    ChartFigure.objects.create(engagement=engagement, chart="used", bar="env", number=1)
    with pytest.raises(CommandError, match="2 differ"):
        call_command("summaries")
    assert "pipeline survey" in capsys.readouterr().out
    call_command("summaries", "--rebuild")
    assert figures("pipeline") == {"survey": 1}
    assert agrees()
