"""The portfolio: true figures per engagement, by role, at a constant cost; charts, views, xlsx."""

import io
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.cache import cache
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override
from openpyxl import load_workbook

from assessments.models import CriteriaSet, Criterion, MetricDefinition, Verdict
from assessments.services import load_standard_definitions
from delivery.planning.effort import usage
from delivery.planning.services import control, time_entries
from delivery.portal.models import SavedView
from delivery.portal.portfolio.charts import charts_for
from delivery.portal.portfolio.columns import columns_for
from delivery.portal.portfolio.rows import portfolio_engagements, rows_of
from delivery.portal.portfolio.saved_views import MOST, save_view
from delivery.reports.models import Document
from engagements.errors import InvalidInput
from engagements.models import Engagement, Role
from engagements.stages import Stage
from tests.delivery.conftest import api_client
from tests.delivery.planning.test_effort import book
from tests.delivery.portal.conftest import many

pytestmark = pytest.mark.usefixtures("firm")
TODAY = timezone.localdate


def row_of(engagement, with_money=True):
    [row] = rows_of([Engagement.objects.get(pk=engagement.pk)], with_money=with_money)
    return row


def test_figures_of_an_engagement(people, engagement, llm, detector, estimate, quoted):
    manager = people[Role.MANAGER]
    Engagement.objects.update(ends_on=TODAY() - timedelta(days=3), starts_on=None)
    llm.stages.filter(stage__in=["survey", "design"]).update(state="passed",
                                                             passed_at=timezone.now())
    for state in ("open", "closed"):
        risk = control.add_risk(actor=manager, engagement=engagement, title=state, probability=3,
                                impact=3, owner=manager, review_on=TODAY())
        if state == "closed":
            control.update_risk(actor=manager, risk=risk, state="closed")
    for grade in ("manager", "expert", "senior", "engineer", "junior"):
        time_entries.set_grade_cost(actor=manager, grade=grade, day_cost=Decimal(100))
    book(people[Role.CONSULTANT], engagement, llm, "adapt", 11)
    row = row_of(engagement)
    assert (row.owner, row.days_late, row.stages_passed, row.open_risks) == (
        "Manager", 3, 2, 1)
    assert (row.next_gate, row.next_gate_models) == (Stage.SURVEY.label, 1)
    assert (row.effort.days_quoted, row.effort.days_used, row.is_over_budget) == (10, 11, True)
    assert row.effort.quoted_amount == Decimal(quoted.snapshot["totals"]["net"])
    assert row.margin == usage.margin(engagement)
    assert row.margin["percent"] is not None
    Engagement.objects.update(state="accepted")
    assert row_of(engagement).days_late == 0  # what is accepted is late no more


@pytest.mark.parametrize(("state", "is_late"), [("active", True), ("accepted", False)])
def test_lists_and_the_engagement_s_page_say_that_it_is_late(client, people, engagement, state,
                                                             is_late):
    Engagement.objects.update(ends_on=TODAY() - timedelta(days=3), starts_on=None, state=state)
    client.force_login(people[Role.CONSULTANT])
    for url in (reverse("engagements:list"),
                reverse("engagements:engagement", args=[engagement.code])):
        page = client.get(url, headers={"accept-language": "en"}, follow=True).content.decode()
        assert ("3 days late" in page) == is_late


def test_a_failing_criterion_counts_until_it_passes_or_is_waived(llm, engagement, people):
    load_standard_definitions()
    signed = CriteriaSet.objects.create(engagement=engagement, version=1)
    criterion = Criterion.objects.create(
        criteria_set=signed, model=llm, stage="train_tune", threshold=Decimal(1),
        definition=MetricDefinition.objects.get(code="latency"))
    Verdict.objects.create(criterion=criterion, outcome="failed", reason="x", engine_version="1")
    assert row_of(engagement).failing_criteria == 0  # agreed on by nobody yet
    CriteriaSet.objects.update(state="signed", signed_at=timezone.now(), content_hash="x",
                               signed_by=people[Role.MANAGER], customer_signatory="x")
    assert row_of(engagement).failing_criteria == 1
    Verdict.objects.create(criterion=criterion, outcome="passed", reason="x", engine_version="1")
    assert row_of(engagement).failing_criteria == 0


def test_costs_and_prices_are_for_whom_they_are(people, client, busy):
    seen = {role: {column.code for column in columns_for(user)} for role, user in people.items()}
    assert {role for role, codes in seen.items() if "margin" in codes} == {
        Role.ADMINISTRATOR, Role.MANAGER}
    assert {role for role, codes in seen.items() if "quoted" in codes} == {
        Role.ADMINISTRATOR, Role.MANAGER, Role.SALES}
    shown = api_client(people[Role.CONSULTANT]).get("/api/v1/portfolio/").json()[0]
    assert (shown["margin_percent"], shown["quoted_amount"]) == (None, None)
    assert api_client(people[Role.REVIEWER]).get("/api/v1/portfolio/").status_code == 403


@pytest.mark.parametrize(("asked", "codes"), [
    ("", ["LATE", "SMALL", "EP2501"]), ("late=1", ["LATE"]), ("q=small", ["SMALL"]),
    ("sort=code", ["EP2501", "LATE", "SMALL"]), ("sort=-code", ["SMALL", "LATE", "EP2501"]),
    ("state=accepted", []), ("state=none&sort=nonsense", ["LATE", "SMALL", "EP2501"]),
    ("owner=manager", ["LATE", "SMALL", "EP2501"]), ("owner=nobody", []),
    ("stage=survey", ["LATE", "SMALL"]), ("stage=design", [])])
def test_filter_and_order(people, engagement, asked, codes):
    Engagement.objects.update(ends_on=None)
    for name in ("SMALL", "LATE"):
        many(people, engagement.customer, 1, name)
    Engagement.objects.filter(code="LATE").update(ends_on=TODAY() - timedelta(days=1))
    found = portfolio_engagements(people[Role.MANAGER], QueryDict(asked))
    assert [row.code for row in found] == codes


def test_strangers_see_nothing_and_everybody_only_his_own(people, stranger, engagement):
    many(people, engagement.customer, 1, "OTHER").memberships.all().delete()
    assert [e.code for e in portfolio_engagements(people[Role.SALES], {})] == ["EP2501"]
    assert list(portfolio_engagements(stranger, {})) == []


@pytest.mark.slow
def test_many_engagements_cost_the_queries_of_three(client, people, engagement, quoted):
    client.force_login(people[Role.MANAGER])
    urls = [reverse("portal:portfolio"), reverse("portal:portfolio_export"),
            reverse("portal:portfolio_charts")]

    def costs():
        found = []
        for url in urls:
            cache.clear()
            with CaptureQueriesContext(connection) as caught:
                answer = client.get(url)
                assert answer.status_code == 200
                b"".join(answer.streaming_content) if answer.streaming else answer.content
            found.append(len(caught))
        return found

    for number in range(2):
        many(people, engagement.customer, 1, f"A{number}")
    few = costs()
    for number in range(25):  # fewer than 500 stages: the log reads new rows in batches of that
        many(people, engagement.customer, 2, f"B{number}")
    assert costs() == few


def test_the_workbook_holds_the_filtered_rows_and_no_formula(client, people, engagement):
    Engagement.objects.update(name="=1+1", name_en="=1+1")
    many(people, engagement.customer, 1, "OTHER")
    client.force_login(people[Role.MANAGER])
    answer = client.get(reverse("portal:portfolio_export"), {"q": "EP2501", "columns": "risks"})
    sheet = load_workbook(io.BytesIO(b"".join(answer.streaming_content))).active
    rows = list(sheet.iter_rows(values_only=True))
    assert (len(rows), rows[1][0]) == (4, "EP2501")
    assert rows[0] == ("编号", "名称", "人天（已用/报价）", "报价人天", "计划人天", "未关闭风险")
    assert "EP2501" in rows[3][0]  # the filter
    assert not rows[1][1].startswith("=")


@pytest.mark.slow
def test_the_decision_that_was_signed_last_is_said(client, act, delivered, quick_files):
    def said(columns="") -> tuple[str, list[str]]:
        page = client.get(f"/portfolio/?q=EP2501{columns}", HTTP_ACCEPT_LANGUAGE="en")
        api = api_client(act.manager).get("/api/v1/portfolio/?q=EP2501").json()
        tags = re.findall(r'bg-(\w+)-lt">.*?<span>([^<]*)</span>', page.content.decode(), re.S)
        return api[0]["decision"], [f"{colour}: {words}" for colour, words in tags]

    client.force_login(act.manager)
    review = act.open(delivered)
    act.decide(review, "rejected", reason="未测")
    assert said() == ("", [])  # nobody has signed it
    Document.objects.filter(pk=review.document_id).update(state="signed")
    assert said() == ("rejected", ["red: Failed"])
    assert said("&columns=decision") == ("rejected", ["red: Final acceptance: Failed"])
    sheet = load_workbook(io.BytesIO(b"".join(client.get(reverse("portal:portfolio_export"), {
        "columns": "decision"}, HTTP_ACCEPT_LANGUAGE="en").streaming_content))).active
    assert sheet.cell(2, sheet.max_column).value == "Final acceptance: Failed"
    Document.objects.filter(pk=review.document_id).update(state="superseded")
    assert said() == ("", [])


def test_charts_count_what_is_there(people, busy, quoted):
    with override("en"):
        charts = {chart.title: chart for chart in charts_for(people[Role.MANAGER])}
    net = Decimal(quoted.snapshot["totals"]["net"])
    survey = charts["Pipeline by stage"].bars[0]
    assert (survey.text, survey.url) == (f"1 · ¥{net:,.0f}", "/portfolio/?stage=survey")
    assert {"On-time rate", "Person-days, planned and used", "Verdicts", "Card utilisation"} < (
        set(charts))
    assert "¥" not in charts_for(people[Role.CONSULTANT])[0].bars[0].text


def test_views_are_kept_replaced_and_only_ones_own(client, people, engagement):
    client.force_login(people[Role.MANAGER])
    save, name = reverse("portal:view_save"), {"name": "late"}
    client.post(save, {**name, "query": "late=1&columns=risks&page=3&csrf=x"})
    client.post(save, {**name, "query": "late=1&sort=code"})
    [view] = SavedView.objects.all()
    assert view.query == "late=1&sort=code"
    assert 'href="/portfolio/?late=1&amp;sort=code"' in client.get("/portfolio/").content.decode()
    client.force_login(people[Role.ADMINISTRATOR])
    delete = reverse("portal:view_delete", args=[view.pk])
    assert client.post(delete).status_code == 404
    assert api_client(people[Role.ADMINISTRATOR]).get("/api/v1/portfolio-views/").json()[
        "results"] == []
    client.force_login(people[Role.MANAGER])
    client.post(delete)
    assert not SavedView.objects.exists()
    for number in range(MOST):
        save_view(actor=people[Role.MANAGER], name=str(number), query="")
    with pytest.raises(InvalidInput):
        save_view(actor=people[Role.MANAGER], name="more", query="")
