"""Endpoints of planning beside creation: PDFs, workbook, counting anew, lines and effects."""

from datetime import date

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from delivery.planning.models import EffortLine, GradeCost, ScopeEffect
from delivery.planning.services import (
    changes,
    control,
    estimates,
    plans,
    scope_effects,
    weekly_reports,
)
from engagements.models import AuditEntry, Role
from engagements.web.form_actions import XLSX
from tests.cached_fixtures import cached_fixture

DAY = date(2026, 3, 4)
LINE = {"stage": "env", "item": "env", "grade": "expert", "low": "1", "likely": "2",
        "high": "3", "reason": "a second data set"}


@pytest.fixture
@cached_fixture
def change(people, engagement, llm):
    made = changes.create_change(
        actor=people[Role.CONSULTANT], engagement=engagement, title="c", category="scope",
        requested_by="x", reason="x", before="x", after="x")
    scope_effects.set_scope_effect(actor=people[Role.CONSULTANT], change=made, action="drop_model",
                                   model=llm)
    return made


def test_an_effort_line_with_its_reason(api, outside, people, engagement, llm):
    estimate = estimates.draft_estimate(actor=people[Role.MANAGER], engagement=engagement)
    url = f"/api/v1/effort-estimates/{estimate.pk}/lines/"
    assert outside.post(url, LINE, format="json").status_code == 404
    assert api(Role.REVIEWER).post(url, LINE, format="json").status_code in (403, 404)
    assert api(Role.CONSULTANT).post(
        url, {**LINE, "reason": ""}, format="json").status_code == 400
    answer = api(Role.CONSULTANT).post(url, {**LINE, "model": llm.pk}, format="json")
    assert answer.status_code == 200, answer.json()
    line = EffortLine.objects.get(reason="a second data set")
    assert (line.model, line.likely, line.stage) == (llm, 2, "env")


def test_a_week_is_counted_anew(api, outside, people, engagement):
    report = weekly_reports.draft_weekly(actor=people[Role.MANAGER], engagement=engagement, day=DAY,
                                         today=DAY)
    type(report).objects.filter(pk=report.pk).update(facts={})
    url = f"/api/v1/weekly-reports/{report.pk}/refresh/"
    assert outside.post(url).status_code == 404
    assert api(Role.SALES).post(url).status_code == 403
    assert api(Role.MANAGER).post(url).status_code == 200
    report.refresh_from_db()
    assert report.facts != {}


def test_an_effect_is_taken_out(api, outside, change):
    effect = change.scope_effects.get()
    url = f"/api/v1/change-requests/{change.pk}/effects/scope/{effect.pk}/"
    assert outside.delete(url).status_code == 404
    assert api(Role.REVIEWER).delete(url).status_code in (403, 404)
    assert api(Role.CONSULTANT).delete(url.replace("scope", "price")).status_code == 404
    answer = api(Role.CONSULTANT).delete(url)
    assert (answer.status_code, answer.json()["scope_effects"]) == (200, [])
    assert not ScopeEffect.objects.exists()


def test_an_effect_tells_its_number(api, change):
    shown = api(Role.CONSULTANT).get(f"/api/v1/change-requests/{change.pk}/").json()
    assert [row["id"] for row in shown["scope_effects"]] == [change.scope_effects.get().pk]


def test_the_plan_as_a_workbook(api, outside, people, engagement, llm):
    made = plans.draft_plan(actor=people[Role.MANAGER], engagement=engagement, starts_on=DAY)
    url = f"/api/v1/plans/{made.pk}/xlsx/"
    assert outside.get(url).status_code == 404
    answer = api(Role.MANAGER).get(url)
    assert (answer["Content-Type"], answer.content[:2]) == (XLSX, b"PK")


@pytest.mark.slow
@pytest.mark.parametrize("language", ["zh-hans", "en"])
def test_papers_as_pdf(api, outside, people, engagement, language):
    meeting = control.record_meeting(
        actor=people[Role.MANAGER], engagement=engagement, topic="kick-off",
        held_at=timezone.now())
    url = f"/api/v1/meetings/{meeting.pk}/pdf/?language={language}"
    assert outside.get(url).status_code == 404
    answer = api(Role.MANAGER).get(url, headers={"accept": "application/pdf"})
    assert answer.content[:5] == b"%PDF-"
    refused = api(Role.MANAGER).get(url.replace(language, "fr"))
    assert (refused.status_code, "zh-hans | en" in str(refused.json())) == (400, True)


@pytest.mark.slow
def test_a_paper_through_the_api_stands_in_the_audit_log(people, engagement):
    report = weekly_reports.draft_weekly(actor=people[Role.MANAGER], engagement=engagement, day=DAY,
                                         today=DAY)
    client = APIClient()
    client.force_login(people[Role.MANAGER])
    assert client.get(f"/api/v1/weekly-reports/{report.pk}/pdf/").status_code == 200
    assert AuditEntry.objects.get(action="file.download").engagement == engagement


def test_no_paper_of_another_customer(outside, change):
    assert outside.get(f"/api/v1/change-requests/{change.pk}/pdf/").status_code == 404


def test_days_of_an_estimate_and_what_they_cost(api, outside, people, engagement, llm):
    estimate = estimates.draft_estimate(actor=people[Role.MANAGER], engagement=engagement)
    url = f"/api/v1/effort-estimates/{estimate.pk}/totals/"
    assert outside.get(url).status_code == api(Role.REVIEWER).get(url).status_code == 404
    found = api(Role.CONSULTANT).get(url).json()
    for by in ("by_grade", "by_stage"):
        assert sum(float(row["likely"]) for row in found[by]) == float(sum(
            line.likely for line in estimate.lines.all()))
    assert api(Role.REVIEWER).get("/api/v1/effort-estimates/calibration/").status_code == 403
    assert api(Role.SALES).get("/api/v1/effort-estimates/calibration/").json() == []

    costs, data = "/api/v1/grade-costs/", {"grade": "senior", "day_cost": "900.00"}
    assert api(Role.CONSULTANT).get(costs).status_code == 403
    assert api(Role.CONSULTANT).post(costs, data).status_code == 403
    assert api(Role.MANAGER).post(costs, {**data, "day_cost": "-1"}).status_code == 400
    for cost in ("900.00", "950.00"):
        assert api(Role.MANAGER).post(costs, {**data, "day_cost": cost}).status_code == 201
    assert [row["day_cost"] for row in api(Role.MANAGER).get(costs).json()] == ["950.00", "900.00"]
    assert GradeCost.objects.on(timezone.localdate()) == {"senior": 950}

    usage = "/api/v1/time-entries/usage/?engagement=EP2501"
    assert outside.get(usage).status_code == 404
    assert api(Role.REVIEWER).get(usage).status_code == 403
    assert api(Role.CONSULTANT).get(usage).json()["margin"] is None
    seen = api(Role.MANAGER).get(usage).json()
    assert {row["grade"] for row in seen["grades"]} == {line.grade for line in estimate.lines.all()}
    assert seen["margin"]["missing"] != []
