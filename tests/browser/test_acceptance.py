"""A new engagement by hand, click by click, from its first form to the signed acceptance."""

import re
import zipfile

import pytest
from django.core import mail
from django.core.management import call_command

from delivery.acceptance import services
from delivery.demo.sample_survey import load_survey
from delivery.reports.models import RenderJob
from delivery.reports.services import take_render_job
from engagements.models import Engagement, User
from engagements.stages import Stage
from workers.dispatch import runner
from workers.models import Job, JobState

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HOME = "/engagements/BYHAND/"
JOBS = {
    Stage.SURVEY: [("survey.pt_analyse", {"source": "~/data/inspect_net", "mode": mode})
                   for mode in ("torch_apis", "third_party")],
    Stage.ENV: [("env.npu_info", {}), ("env.host_probe", {}), ("env.torch_check", {})],
    Stage.INFER_MIGRATE: [("inf.atc", {"model_file": "~/data/model.onnx"})],
    Stage.INFER_TUNE: [("inf.om_bench", {"loop": "20"})],
}


def submit(page, selector: str = "main form[method=post] button.btn-primary") -> None:
    """Click a button and wait for the page that answers."""
    with page.expect_navigation():
        page.locator(selector).last.click()


def fill(page, **values) -> None:
    for name, value in values.items():
        field = page.locator(f"#id_{name}")
        if field.evaluate("e => e.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)


def set_up(manager) -> None:
    """Engagement with a new customer, one inference-only model, and its team."""
    page = manager.open("/engagements/new/")
    fill(page, code="BYHAND", name="变电站巡检（手工）", contract_number="HT-2026-001",
         new_customer="某电力公司")
    submit(page)
    page = manager.open(HOME + "models/new/")
    fill(page, code="VIS", name="缺陷检测", scope="inference", inference_route="offline",
         parameters_billion="0.05")
    submit(page)
    page = manager.open(HOME + "team/")
    for person in ("周启明", "陈国栋"):  # each in the role of his account
        page.locator("#div_id_user .form-check", has_text=person).locator("input").check()
    submit(page)


def survey_and_decide(manager) -> None:
    """The customer's answers, as `tests/browser/test_quote_clicks.py` follows them; then go."""
    load_survey(Engagement.objects.get(code="BYHAND"), User.objects.get(username="reviewer"),
                User.objects.get(username="consultant"))
    page = manager.open(HOME + "survey/consequences/")
    fill(page, verdict="conditional", reason="可以启动；算子分析在设计阶段补齐。")
    submit(page, "form[action$='/consequences/decide/'] button")
    page = manager.open(HOME + "edit/")
    fill(page, ends_on="2099-12-31")  # the answers named a day that is over
    submit(page)


def agree_on_criteria(lead, manager) -> None:
    page = lead.open(HOME + "criteria/")
    submit(page, "main .page-header button")
    page = lead.open(HOME + "criteria/new/")
    latency = page.locator("#id_definition option", has_text="平均推理时延").first
    page.select_option("#id_model", index=1)
    page.select_option("#id_definition", latency.get_attribute("value"))
    fill(page, stage="infer_tune", threshold="200")
    submit(page)
    page = manager.open(HOME + "criteria/")
    fill(page, customer_signatory="陈国栋 信息中心主任")
    page.set_input_files("#id_signed_sheet", {
        "name": "criteria.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7 signed"})
    submit(page, "form[action$='/sign/'] button")


def run(consultant, stage: str, kind: str, values: dict) -> None:
    """Queue a job from its form, let the worker's steps happen, look at its page."""
    page = consultant.open(HOME + f"models/VIS/{stage}/")
    page.click("a[href*='/jobs/new/']:not([href*='kind='])")
    page.click(f"main a.card-link[href$='kind={kind}']")
    page.wait_for_selector("#id_node")
    fill(page, **values)
    submit(page)
    job = runner.drive(Job.objects.first())
    assert job.state == JobState.SUCCEEDED, job.sentence
    consultant.open(f"/jobs/{job.pk}/")


def pass_stage(consultant, manager, stage: str) -> None:
    tick(consultant, stage)
    submit(consultant.page, "button[value=submit]")
    submit(manager.open(HOME + f"models/VIS/{stage}/"), "button[value=pass]")
    assert state_of(stage) == "passed", manager.page.locator(".alert").all_inner_texts()


def tick(consultant, stage: str) -> None:
    """Tick the stage's whole checklist."""
    page = consultant.page
    items = consultant.open(HOME + f"models/VIS/{stage}/").locator(".desk-checks form button")
    for _item in range(items.count()):
        for field in page.locator(".desk-checks input[name=evidence]").all():
            field.fill("会议纪要 2026-07-01")
        submit(page, ".desk-checks form button:not(.btn-success)")


def state_of(stage: str) -> str:
    return Engagement.objects.get(code="BYHAND").models.get().stages.get(stage=stage).state


def start(consultant, stage: str) -> None:
    submit(consultant.open(HOME + f"models/VIS/{stage}/"), "button[value=start]")


def issue(lead, reviewer, approver, kind: str):
    """Drafted, reviewed and issued by three people; its page."""
    page = lead.open(HOME + "documents/")
    submit(page, f"button[name=kind][value={kind}]")
    submit(page, "form[action$='/submit/'] button")
    assert page.locator("form[action$='/submit/']").count() == 0, page.inner_text("main")
    path = page.url.removeprefix(lead.base)
    submit(reviewer.open(path), "form[action$='/confirm/'] button")
    submit(approver.open(path), "form[action$='/issue/'] button")
    for order in RenderJob.objects.filter(state="pending"):
        take_render_job(order.pk)
    page = approver.open(path)
    assert page.locator(".desk-tag", has_text="已签发").count()
    return page


def accept(reviewer, path: str):
    page = reviewer.open(path)
    fill(page, text="证据已逐项核对。")
    submit(page, "form[action$='/comment/'] button")
    page.check("input[name=decision][value=accepted]")
    submit(page, "form[action$='/decide/'] button")
    assert page.url.endswith("/signing/")
    submit(page, "form[action$='/identify/'] button")
    draw(page)
    fill(page, code=re.search(r"(?<!\d)\d{6}(?!\d)", mail.outbox[-1].body).group())
    submit(page, "form[action$='/sign/'] button")
    return page


def draw(page) -> None:
    """A signature with the mouse."""
    page.check("input[name=mark][value=drawn]")
    page.locator("[data-desk-pad]").scroll_into_view_if_needed()
    box = page.locator("[data-desk-pad]").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 40)
    page.mouse.down()
    for step in range(1, 12):
        page.mouse.move(box["x"] + 20 + step * 18, box["y"] + 40 + (step % 3) * 12)
    page.mouse.up()


def test_engagement_by_hand_from_first_form_to_signed_acceptance(visit, sample, tmp_path):
    manager, consultant, reviewer = visit("manager"), visit("consultant"), visit("reviewer")
    lead = visit("lead")
    set_up(manager)
    for stage in (Stage.SURVEY, Stage.DESIGN, Stage.ENV, Stage.INFER_MIGRATE, Stage.INFER_TUNE):
        start(consultant, stage)
        if stage == Stage.SURVEY:
            survey_and_decide(manager)
        if stage == Stage.DESIGN:
            agree_on_criteria(lead, manager)
        for kind, values in JOBS.get(stage, []):
            run(consultant, stage, kind, {**values, **converted(stage)})
        pass_stage(consultant, manager, stage)
    issue(lead, manager, visit("admin"), "TR")  # the consultant measured
    start(consultant, Stage.ACCEPT)
    tick(consultant, Stage.ACCEPT)
    submit(issue(lead, consultant, manager, "FA"), "form[action$='/review/open/'] button")
    page = accept(reviewer, manager.page.url.removeprefix(manager.base))
    assert page.locator(".desk-tag", has_text="已签署").count()
    assert services.complete_signed_copies() == 2
    assert state_of(Stage.ACCEPT) == "passed"  # by the signature
    assert Engagement.objects.get(code="BYHAND").state == "accepted"
    check_bundle(manager, page.url.removesuffix("review/"), tmp_path / "bundle.zip")
    assert manager.errors + consultant.errors + reviewer.errors == []


def converted(stage: str) -> dict:
    """The benchmark measures what the conversion wrote on the node."""
    if stage != Stage.INFER_TUNE:
        return {}
    job = Job.objects.filter(kind="inf.atc").first()
    return {"model_file": f"~/{job.node.scratch_dir}/{job.directory_name}/work/model.om"}


def check_bundle(manager, document_url: str, path) -> None:
    page = manager.page
    page.goto(document_url)
    submit(page, "form[action$='/bundle/'] button")
    with page.expect_download() as download:
        page.locator("a[href*='/bundles/']").first.click()
    download.value.save_as(path)
    assert "SHA256SUMS" in zipfile.ZipFile(path).namelist()
    call_command("verify", str(path))
