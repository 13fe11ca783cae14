"""Fixtures of the planning tests."""

from datetime import date
from decimal import Decimal

import pytest
from django.utils import timezone

from assessments import services as assessing
from assessments.models import MetricDefinition
from delivery.planning.plan import task_dates
from delivery.planning.services import (
    change_drafts,
    changes,
    control,
    estimates,
    plans,
    time_entries,
    timesheets,
    weekly_reports,
)
from delivery.quotes import services as quoting
from delivery.quotes.models import PriceLine, Quote
from engagements.models import Role
from tests.cached_fixtures import cached_fixture
from tests.delivery.conftest import sign_for_both, stored

MONDAY = date(2025, 9, 22)
WORDS = {"title": "时延阈值调整", "category": "criteria", "requested_by": "某电力公司 陈国栋",
         "reason": "新增并发场景", "before": "≤ 10 ms", "after": "≤ 12 ms",
         "effect_on_scope": "无", "effect_on_schedule": "调研延长两天",
         "effect_on_price": "新版报价", "effect_on_quality": "增加一轮并发压测",
         "effect_on_criteria": "时延阈值由 10 改为 12",
         "measures": "压测结果双方会签"}


@pytest.fixture(autouse=True)
def _firm(firm):
    """No quote leaves the house without the firm's particulars."""


@pytest.fixture(autouse=True)
def on_day(monkeypatch):
    """Plans are scheduled as on the Monday on which those of these tests begin; or on a day."""
    def be(day: date) -> None:
        monkeypatch.setattr(task_dates, "today", lambda: day)

    be(date(2025, 9, 22))
    return be


@pytest.fixture
@cached_fixture
def agreed(people, engagement, llm):
    """Signed criteria, a plan with a baseline and an issued quote."""
    manager, sales = people[Role.MANAGER], people[Role.SALES]
    assessing.load_standard_definitions()
    draft = assessing.draft_criteria(actor=manager, engagement=engagement)
    for code in ("latency", "inference_throughput"):
        assessing.add_criterion(actor=manager, criteria_set=draft, model=llm, threshold=10,
                                definition=MetricDefinition.objects.get(code=code, version=1),
                                stage="infer_tune")
    sign_for_both(people, draft)
    made = plans.draft_plan(actor=manager, engagement=engagement, starts_on=date(2025, 9, 22))
    plans.take_baseline(actor=manager, plan=made)
    quoting.load_rate_cards(actor=people[Role.ADMINISTRATOR])
    quote = quoting.create_quote(actor=sales, engagement=engagement)
    quoting.add_line(actor=sales, quote=quote, price=PriceLine.objects.get(code="S-PM"),
                     quantity=Decimal(5))
    quote.refresh_from_db()
    quoting.update_quote(actor=sales, quote=quote, source_note="以各行为准")
    quoting.submit_quote(actor=sales, quote=quote)
    quoting.review_quote(actor=people[Role.CONSULTANT], quote=quote)
    quoting.approve_quote(actor=manager, quote=quote)
    quoting.issue_quote(actor=sales, quote=quote)
    return engagement


@pytest.fixture
@cached_fixture
def change(people, agreed, llm):
    """A submitted change of a threshold, a task and the quote."""
    consultant = people[Role.CONSULTANT]
    made = changes.create_change(actor=consultant, engagement=agreed,
                                 quote=Quote.objects.get(), **WORDS)
    change_drafts.set_criterion_effect(
        actor=consultant, change=made, threshold_after=Decimal(12),
        criterion=agreed.criteria_sets.get().criteria.get(definition__code="latency"))
    change_drafts.set_schedule_effect(actor=consultant, change=made, days_after=3,
                                      task=agreed.plan.tasks.get(stage="survey"))
    change_drafts.set_price_effect(actor=consultant, change=made, action="change",
                                   quantity=Decimal(8),
                             line=Quote.objects.get().lines.get())
    change_drafts.set_price_effect(actor=consultant, change=made, action="add", quantity=Decimal(2),
                                   price=PriceLine.objects.get(code="S-TEST"))
    return changes.submit_change(actor=consultant, change=made)


@pytest.fixture
def meeting(people, engagement):
    return control.record_meeting(
        actor=people[Role.CONSULTANT], engagement=engagement, topic="启动会", chair="林雪",
        held_at=timezone.now(), participants="甲方 陈国栋", agenda="讨论范围",
        attachments=[stored(engagement, None, "范围说明.txt", b"x")],
        decisions="先迁移大模型\n每周周报",
        todos=[{"text": "提供日志", "owner": people[Role.MANAGER], "due_on": MONDAY}])


@pytest.fixture
@cached_fixture
def sheet(people, engagement, llm):
    time_entries.record_day(halves=["am", "pm"], actor=people[Role.CONSULTANT],
                            engagement=engagement,
                    work_date=MONDAY, item="adapt", grade="senior", model=llm)
    time_entries.record_time(half="am", actor=people[Role.CONSULTANT], engagement=engagement,
                             work_date=date(2025, 9, 23), item="adapt", grade="senior", model=llm)
    return timesheets.confirm_month(actor=people[Role.MANAGER], engagement=engagement,
                                    month=MONDAY)


@pytest.fixture
@cached_fixture
def report(people, agreed):
    return weekly_reports.draft_weekly(actor=people[Role.CONSULTANT], engagement=agreed, day=MONDAY)


@pytest.fixture
@cached_fixture
def two_models(people, engagement, llm, detector, agreed):
    """LLM and DET are planned and estimated; the estimate has its lines in the quote."""
    estimate = estimates.draft_estimate(actor=people[Role.CONSULTANT], engagement=engagement)
    estimates.approve_estimate(actor=people[Role.MANAGER], estimate=estimate)
    return engagement


@pytest.fixture
@cached_fixture
def draft(people, two_models):
    return changes.create_change(actor=people[Role.CONSULTANT], engagement=two_models,
                                 quote=Quote.objects.get(), **WORDS)
