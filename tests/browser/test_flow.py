"""The portal in a real Chromium: people walk it, the console stays silent, axe finds no fault."""

import pytest

from delivery.demo.sample_firm import CODE
from engagements.stages import Stage
from workers.dispatch import runner
from workers.models import Job, JobState

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PLANNING = [f"/engagements/{CODE}/{name}/" for name in (
    "effort", "plan", "time", "timesheets", "control", "changes", "quotes")]
SIZES = {"narrow": (375, 800), "wide": (1440, 900)}


def test_consultant_runs_a_job_and_passes_it_on(visit, sample):
    visitor = visit("consultant")
    page = visitor.open(f"/engagements/{CODE}/models/LLM/survey/")
    page.click("text=运行作业")
    page.click("main a.card-link[href$='kind=survey.pt_analyse']")
    page.wait_for_selector("#id_source")
    page.fill("#id_source", "~/data/inspect_net")
    page.click("form[method=post] button.btn-primary")
    page.wait_for_url("**/jobs/*/")
    job = runner.drive(Job.objects.get())
    assert job.state == JobState.SUCCEEDED
    page.reload()
    assert "unsupported_api.csv" in page.content()
    page.goto(f"{visitor.base}/engagements/{CODE}/models/LLM/survey/")
    for _item in range(page.locator(".desk-checks form button").count()):
        page.locator(".desk-checks form button:not(.btn-success)").first.click()
        page.wait_for_load_state()
    page.click("button[value=submit]")
    page.wait_for_load_state()
    assert sample.models.get(code="LLM").stages.get(stage=Stage.SURVEY).state == "submitted"
    assert visitor.errors == []


def test_manager_passes_the_gate_only_when_it_is_met(visit, sample):
    from engagements import services
    from engagements.models import User

    record = sample.models.get(code="LLM").stages.get(stage=Stage.SURVEY)
    consultant = User.objects.get(username="consultant")
    services.move_stage(actor=consultant, record=record, move="submit")
    page = visit("manager").open(f"/engagements/{CODE}/models/LLM/survey/")
    page.click("button[value=pass]")
    page.wait_for_load_state()
    assert "未满足准出条件" in page.locator(".alert").inner_text()


def test_reviewer_sees_only_the_customers_side(visit, sample):
    visitor = visit("reviewer")
    page = visitor.open(f"/engagements/{CODE}/")
    menu = page.locator(".desk-menu").inner_text()
    assert ("节点" in menu, "审计日志" in menu) == (False, False)
    assert page.goto(f"{visitor.base}/nodes/").status == 403


PAGES = ["/", "/engagements/", f"/engagements/{CODE}/", f"/engagements/{CODE}/models/LLM/survey/",
         f"/engagements/{CODE}/team/", f"/engagements/{CODE}/survey/",
         f"/engagements/{CODE}/survey/consequences/", "/jobs/", "/nodes/",
         f"/engagements/{CODE}/criteria/", "/quotes/", "/quotes/prices/", "/documents/",
         "/definitions/", "/audit/"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", ["zh-CN", "en"])
def test_pages_fit_and_have_no_serious_fault(visit, sample, language, size):
    visitor = visit("manager", language=language, size=SIZES[size])
    faults = {}
    for path in PAGES + PLANNING:
        page = visitor.open(path)
        wider = page.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1")
        found = visitor.faults() + (["wider than the window"] if wider else [])
        if found:
            faults[path] = found
    assert faults == {}
    assert visitor.errors == []
