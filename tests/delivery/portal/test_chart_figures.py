"""Figures of the portfolio's charts are what their rows say, after every kind of write."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from assessments.models import CriteriaSet, Criterion, MetricDefinition, Verdict
from assessments.services import load_standard_definitions
from delivery.planning.services import estimates, time_entries
from delivery.portal import chart_figures
from delivery.portal.models import ChartFigure
from delivery.quotes.models import Quote
from engagements import services
from engagements.models import Engagement, Role
from tests.delivery.planning.test_effort import book

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


def test_acceptance_counts_in_its_quarter_and_in_time(engagement, llm, detector):
    Engagement.objects.update(starts_on=None, ends_on=timezone.localdate())
    llm.stages.filter(stage="accept").update(state="passed", passed_at=timezone.now())
    bar = chart_figures.quarter(timezone.localdate())
    assert (figures("accepted"), figures("on_time")) == ({bar: 1}, {bar: 1})
    Engagement.objects.update(ends_on=timezone.localdate() - timedelta(days=1))
    assert (figures("accepted"), figures("on_time")) == ({bar: 1}, {})
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
