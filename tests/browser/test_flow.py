"""The portal in a real Chromium: people walk it, the console stays silent, axe finds no fault."""

import os
import shutil
from pathlib import Path

import pytest
from django.conf import settings

from delivery.portal.sample import CODE, PASSWORD, load_sample
from engagements.stages import Stage
from workers import runner
from workers.models import Job, JobState

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
AXE = Path(settings.BASE_DIR) / "node_modules" / "axe-core" / "axe.min.js"
SIZES = {"narrow": (375, 800), "wide": (1440, 900)}


@pytest.fixture(scope="session")
def chromium():
    """Debian's Chromium, driven by Playwright."""
    from playwright.sync_api import sync_playwright

    # Playwright runs an event loop in this thread; Django's guard would take it for async code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def sample(db):
    """The sample engagement with its practice node."""
    from workers.practice_node.server import running_practice_node

    engagement = load_sample()
    with running_practice_node(Path(settings.VAR_DIR) / "practice-node") as node:
        from delivery.portal.sample_node import enrol_practice_node

        enrol_practice_node(node.root, node.host, node.port)
        yield engagement


class Visitor:
    """Somebody at a browser window; collects what the console complains about."""

    def __init__(self, browser, base: str, language: str = "zh-CN", size=(1440, 900)):
        context = browser.new_context(locale=language,
                                      viewport={"width": size[0], "height": size[1]})
        self.page, self.base, self.errors = context.new_page(), base, []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(message.text)
                     if message.type == "error" else None)

    def sign_in(self, username: str) -> "Visitor":
        self.open("/login/")
        self.page.fill("#id_username", username)
        self.page.fill("#id_password", PASSWORD)
        self.page.click("form[novalidate] button[type=submit]")
        return self

    def open(self, path: str):
        answer = self.page.goto(self.base + path)
        assert answer.status == 200, f"{path}: {answer.status}"
        return self.page

    def serious_faults(self) -> list[str]:
        """axe's serious and critical findings on the open page."""
        self.page.add_script_tag(path=str(AXE))
        found = self.page.evaluate("axe.run().then(r => r.violations)")
        return [f"{v['id']}: {v['nodes'][0]['target']}" for v in found
                if v["impact"] in ("serious", "critical")]


@pytest.fixture
def visit(chromium, live_server):
    def go(username: str, **kwargs) -> Visitor:
        return Visitor(chromium, live_server.url, **kwargs).sign_in(username)

    return go


def test_consultant_runs_a_job_and_passes_it_on(visit, sample):
    visitor = visit("consultant")
    page = visitor.open(f"/engagements/{CODE}/models/LLM/survey/")
    page.click("button[value=start]")
    page.click("text=运行作业")
    page.select_option("#kind", "survey.pt_analyse")
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
    services.move_stage(actor=consultant, record=record, move="start")
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
         f"/engagements/{CODE}/team/", "/jobs/", "/nodes/", f"/engagements/{CODE}/criteria/",
         "/quotes/", "/quotes/prices/", "/documents/", "/definitions/", "/audit/"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("language", ["zh-CN", "en"])
def test_pages_fit_and_have_no_serious_fault(visit, sample, language, size):
    visitor = visit("manager", language=language, size=SIZES[size])
    faults = {}
    for path in PAGES:
        page = visitor.open(path)
        wider = page.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1")
        found = visitor.serious_faults() + (["wider than the window"] if wider else [])
        if found:
            faults[path] = found
    assert faults == {}
    assert visitor.errors == []
