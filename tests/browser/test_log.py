"""The log of a running job in Chromium: live, searched as a whole, bounded in the browser."""

import re

import pytest
from django.utils import timezone

from engagements.models import User
from workers.logs import live_log
from workers.models import Job, Node

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LINE = b" iteration %7d | lm loss: 1.234567E+00 | elapsed time per iteration (ms): 512.3 |\n"
MEGABYTES = 24  # many times what the terminal keeps; the same script was run by hand with 1 GB


@pytest.fixture
def job(sample, settings, tmp_path):
    """A running job whose log has an error at its start and one in its middle."""
    node = Node.objects.create(name="big-1", host="127.0.0.1", username="x", state="maintenance",
                               cards_total=8)
    found = Job.objects.create(
        kind="env.npu_info", node=node, state="running", started_at=timezone.now(),
        created_by=User.objects.get(username="operator"))
    half = b"".join(LINE % n for n in range(MEGABYTES * 2**20 // 2 // len(LINE % 0)))
    write(found, "\x1b[31mRuntimeError: 中文 at the start\x1b[0m\n".encode())
    write(found, half + b"Traceback (most recent call last): in the middle\n" + half)
    return found


def write(job: Job, data: bytes) -> None:
    """What the worker does with a new part of the log."""
    job.refresh_from_db()
    live_log.write_at(live_log.path(job), job.log_stored, data)
    Job.objects.filter(pk=job.pk).update(log_stored=job.log_stored + len(data))


def shows(page, text: str) -> None:
    page.locator(".xterm-accessibility").filter(has_text=text).wait_for(
        state="attached", timeout=30_000)


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_log_is_followed_without_gap_or_repeat(visit, job, motion):
    visitor = visit("operator", motion=motion)
    page = visitor.open(f"/jobs/{job.pk}/")
    parts = [f"live {n} 进度\n" for n in range(6)]
    for part in parts:
        write(job, part.encode())
        page.wait_for_timeout(150)
    page.context.set_offline(True)  # the line is cut, and comes back
    write(job, b"".join(b"\rloading %d%%" % n for n in range(0, 101, 5)) + b"\n")
    page.wait_for_timeout(1500)
    page.context.set_offline(False)
    write(job, b"last line\n")
    shows(page, "last line")
    shown = page.locator(".xterm-accessibility").inner_text()
    assert re.findall(r"live \d 进度", shown) == [part.strip() for part in parts]
    assert (shown.count("loading"), "loading 100%" in shown) == (1, True)
    assert page.locator(".xterm-rows > div").count() > 10  # the terminal took its full height


def test_whole_log_is_searched_and_memory_is_bounded(visit, job):
    visitor = visit("operator", language="en")
    page = visitor.open(f"/jobs/{job.pk}/")
    write(job, b"the end\n")
    shows(page, "the end")
    page.click("[data-log-error]")
    shows(page, "in the middle")
    page.click("[data-log-error]")
    shows(page, "中文 at the start")
    page.click("[data-log-end]")
    shows(page, "the end")
    page.fill("[data-log-search]", "AT THE START")
    page.press("[data-log-search]", "Enter")
    shows(page, "中文 at the start")
    with page.expect_download() as download:
        page.click("a[download]")
    assert download.value.path().read_bytes() == live_log.path(job).read_bytes()
    used = page.context.new_cdp_session(page).send("Runtime.getHeapUsage")["usedSize"]
    assert used < 64 * 2**20
    assert visitor.errors == []
