"""Words of a command line, inputs from elsewhere and uploads in parts, in Chromium."""

import re

import pytest

from tests.browser.browser_session import SHOTS
from workers.models import Artifact, Job, Node

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PASTE = """(text) => {
    const data = new DataTransfer();
    data.setData("text", text);
    document.querySelector("[data-desk-words] input").dispatchEvent(
        new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""
PASTED = "accelerate launch 'my train.py' --name=\"数据 集\" \\\n  --lr 1e-5 a\\ b ''"
WORDS = ["accelerate", "launch", "my train.py", "--name=数据 集", "--lr", "1e-5", "a b", ""]


def test_a_command_is_pasted_and_an_input_chosen(visit, sample):
    node = Node.objects.get()
    Node.objects.update(file_roots="/")
    consultant = visit("consultant")
    page = consultant.open(f"/jobs/new/?engagement={sample.code}&kind=run.command")
    page.evaluate(PASTE, PASTED)
    assert page.locator("[data-desk-words] input").first.input_value() == "accelerate"
    page.locator("[name=words]").last.press("Enter")
    page.keyboard.type("$HOME")
    assert page.locator("[data-words-notice]").first.is_visible()
    page.locator("[data-desk-words] .input-group").nth(len(WORDS)).locator("button").click()
    page.get_by_role("button", name="加入队列").click()
    page.wait_for_url("**/jobs/*/")
    assert Job.objects.get(kind="run.command").command == WORDS
    page = consultant.open(f"/jobs/new/?engagement={sample.code}&kind=acc.compare")
    page.locator("#div_id_target button").click()
    page.locator("#drawer").get_by_text(node.name).click()
    page.locator("#drawer .list-group-item").click()
    page.locator("#drawer").get_by_text("etc/", exact=True).click()
    page.locator("#drawer").get_by_text("/etc", exact=True).wait_for()
    page.locator("#drawer .btn-primary").click()
    assert page.input_value("#id_target") == f"desk:node/{node.pk}/etc"
    assert consultant.errors == []


def test_an_upload_in_parts_shows_its_progress_and_goes_on(visit, sample, tmp_path):
    data = bytes(range(256)) * (9 * 4096)
    (tmp_path / "weights.bin").write_bytes(data)
    consultant = visit("consultant")
    page = consultant.open(f"/artifacts/upload/?engagement={sample.code}")
    page.set_input_files("input[type=file]", tmp_path / "weights.bin")
    cut = []

    def once(route):
        if len(cut) == 1:
            cut.append(route.abort())
        else:
            cut.append(route.continue_())

    page.route("**/content/", once)
    page.click("main form [type=submit]")
    page.wait_for_url("**/artifacts/*/", timeout=60_000)
    artifact = Artifact.objects.get(name="weights.bin")
    assert artifact.file.read() == data
    assert len(cut) == 3


DROP = """(place) => {
    const data = new DataTransfer();
    for (const name of ["a.log", "b.log"]) data.items.add(new File([name], name));
    for (const type of ["dragenter", "dragover", "drop"]) place.dispatchEvent(
        new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


@pytest.mark.parametrize("is_dropped", [True, False], ids=["dropped", "chosen"])
def test_several_files_are_stored_with_their_model_and_told(visit, sample, tmp_path, is_dropped):
    model = sample.models.get(code="LLM")
    page = visit("consultant").open(f"/artifacts/upload/?model={model.pk}")
    if is_dropped:
        page.locator("main input[type=file]").evaluate(DROP)
    else:
        for name in ("a.log", "b.log"):
            (tmp_path / name).write_bytes(name.encode())
        page.set_input_files("input[type=file]", [tmp_path / "a.log", tmp_path / "b.log"])
    page.click("main form [type=submit]")
    page.locator("[data-upload-files] li:nth-child(2) a").wait_for(timeout=60_000)
    assert sorted(Artifact.objects.filter(name__in=("a.log", "b.log")).values_list(
        "name", "model__code")) == [("a.log", "LLM"), ("b.log", "LLM")]


MOST_CLICKS = 3


def test_a_job_that_the_gate_asks_for_is_three_clicks_from_the_engagement(visit, sample):
    page, clicks = visit("consultant").open(f"/engagements/{sample.code}/"), 0
    for control in ("a[href$='/models/LLM/env/']", ".desk-checks a[href*='kind=env.npu_info']",
                    "form[method=post] button.btn-primary"):
        with page.expect_navigation():
            page.locator("main").locator(control).first.click()
        clicks += 1
    job = Job.objects.get()
    assert (job.kind, job.stage, job.model.code) == ("env.npu_info", "env", "LLM")
    assert clicks <= MOST_CLICKS


@pytest.mark.parametrize(("language", "buttons", "says"), [
    ("en", ("Check only", "Queue job"), r"Checked: 1 error, 1 warning, \d+ rules lack data\."),
    ("zh-CN", ("仅检查", "加入队列"), r"检查结果：1 项错误，1 项警告，\d+ 条规则缺少数据。")],
    ids=["en", "zh"])
def test_check_only_says_what_queueing_says(visit, sample, language, buttons, says):
    consultant = visit("consultant", language=language)
    page = consultant.open(f"/jobs/new/?engagement={sample.code}&kind=adapt.megatron_train")
    for button in buttons:
        for name, value in (("cards", "8"), ("tensor_parallel", "3"), ("learning_rate", "0.01")):
            page.fill(f"[name={name}]", value)
        with page.expect_navigation():
            page.get_by_role("button", name=button, exact=True).click()
        assert re.fullmatch(says, page.locator(".alert-danger").first.inner_text().strip())
        field = page.locator("#div_id_cards")
        assert "R-PAR-02" in field.locator(".invalid-feedback").inner_text()
        assert page.locator(".desk-hits tbody tr").count() == 2
        assert consultant.faults() == []
        if SHOTS:
            page.screenshot(path=f"{SHOTS}/check-only-{language}.png", full_page=True)
    assert not Job.objects.exists()
    assert consultant.errors == []
