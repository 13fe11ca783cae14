"""The main job without a mouse: sign in, find the model, run a job, read it, hand the stage in."""

import pytest

from delivery.demo.sample_firm import PASSWORD
from engagements.stages import Stage
from tests.browser.conftest import Visitor
from workers.dispatch import runner
from workers.models import Job, JobState

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MOST_STOPS = 250  # of one page; more would be a trap
NAME = """() => {
    const e = document.activeElement;
    const label = e.labels?.[0]?.textContent ?? "";
    if (e.matches("div, main, nav, ul, ol, pre")) return "a region";
    return e === document.body ? "" : `${e.getAttribute("aria-label") ?? ""} ${label} `
        + `${e.textContent} ${e.getAttribute("href") ?? ""} ${e.name ?? ""}=${e.value ?? ""}`;
}"""
IS_SHOWN = """() => {
    const box = document.activeElement.getBoundingClientRect();
    return box.width > 0 && box.height > 0;
}"""


class Keyboard:
    """Somebody who only presses keys; every stop has to be visible."""

    def __init__(self, visitor: Visitor):
        self.page = visitor.page

    def reach(self, words: str) -> None:
        """Tab on to the control whose name, address or value holds the words."""
        for _stop in range(MOST_STOPS):
            self.page.keyboard.press("Tab")
            name = self.page.evaluate(NAME)
            assert not name or self.page.evaluate(IS_SHOWN), f"unseen stop: {name}"
            if words in name:
                return
        raise AssertionError(f"no key leads to “{words}” on {self.page.url}")

    def follow(self, words: str) -> None:
        """Reach a link or button and press Enter; a page answers."""
        self.reach(words)
        self.enter()

    def enter(self) -> None:
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")

    def jump(self, words: str, path: str) -> None:
        """The command palette, to the first hit of that path."""
        self.page.keyboard.press("Control+k")
        self.page.keyboard.type(words)
        self.page.locator(f"#search-hits a[href='{path}']").wait_for()
        for _hit in range(MOST_STOPS):
            self.page.keyboard.press("ArrowDown")
            if path in self.page.evaluate(NAME):
                return self.enter()
        raise AssertionError(f"no hit {path}")

    def walk_round(self) -> int:
        """Tab from the page's beginning to its end; how many stops there are."""
        self.page.evaluate("document.activeElement.blur()")
        for stop in range(MOST_STOPS):
            self.page.keyboard.press("Tab")
            if stop and not self.page.evaluate(NAME):
                return stop
        raise AssertionError(f"a trap on {self.page.url}: {self.page.evaluate(NAME)}")


def test_main_job_by_keyboard(chromium, live_server, sample):
    visitor = Visitor(chromium, live_server.url)
    page, keys = visitor.open("/"), Keyboard(visitor)
    keys.reach("username")
    page.keyboard.type("consultant")
    keys.reach("password")
    page.keyboard.type(PASSWORD)
    keys.enter()
    stage = f"/engagements/{sample.code}/models/LLM/survey/"
    keys.jump("LLM", stage)
    keys.follow("kind=survey.pt_analyse")
    keys.reach("source=")
    page.keyboard.press("Control+a")
    page.keyboard.type("~/data/inspect_net")
    keys.follow("加入队列")
    page.wait_for_url("**/jobs/*/")
    assert runner.drive(Job.objects.get()).state == JobState.SUCCEEDED
    page.reload()
    assert keys.walk_round() > 20  # also out of the log
    keys.reach("unsupported_api.csv")
    page.keyboard.press("Enter")
    page.locator("#drawer.show").get_by_text("SHA-256").first.wait_for()
    page.keyboard.press("Escape")
    page.locator("#drawer:not(.show)").wait_for(state="attached")
    keys.jump("LLM", stage)
    for _item in range(page.locator(".desk-checks form button:not(.btn-success)").count()):
        keys.follow(page.locator(
            ".desk-checks form button:not(.btn-success)").first.get_attribute("aria-label"))
    keys.follow("move=submit")
    assert sample.models.get(code="LLM").stages.get(stage=Stage.SURVEY).state == "submitted"
    assert visitor.errors == []


def test_pages_of_a_group_are_reached_and_put_away_by_keys(visit, sample):
    visitor = visit("manager")
    page, keys = visitor.open(f"/engagements/{sample.code}/"), Keyboard(visitor)
    keys.reach("/criteria/")
    pages = page.locator(".desk-group-pages:visible a")
    assert pages.count() == 4
    page.keyboard.press("Escape")
    assert pages.count() == 0
    keys.reach("/quotes/")
    keys.reach("/changes/")
    keys.enter()
    assert page.url.endswith("/changes/")
    assert visitor.errors == []


FOCUSED = "document.activeElement.closest('td')?.cellIndex + ' ' + (" \
    "document.activeElement.closest('tr')?.sectionRowIndex)"


def test_arrow_keys_walk_the_board(visit, sample):
    """The board too is one stop of Tab; Space selects the row, Enter opens the cell's page."""
    visitor = visit("manager")
    page, keys = visitor.open("/board/"), Keyboard(visitor)
    stops = page.locator("[data-desk-grid] :is(a, input)[tabindex='0'], "
                         "[data-desk-grid] td[tabindex='0']")
    assert stops.count() == 1
    keys.reach(sample.code)
    walked = []
    for key in ("ArrowRight", "Home", "ArrowDown", "End", "Control+Home", "ArrowUp"):
        page.keyboard.press(key)
        walked.append(page.evaluate(FOCUSED))
        assert stops.count() == 1
    last = page.locator("[data-desk-grid] thead th").count() - 1
    assert walked == ["2 0", "0 0", "0 1", f"{last} 1", "0 0", "0 0"]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert page.locator("[data-desk-grid] tr[aria-selected=true] input:checked").count() == 1
    assert visitor.faults() == []
    keys.enter()
    assert f"/engagements/{sample.code}/" in page.url
    assert visitor.errors == []


def test_arrow_keys_walk_the_matrix(visit, sample):
    """The matrix is one stop of Tab; arrows, Home and End walk it, Enter opens a cell's menu."""
    visitor = visit("manager")
    page, keys = visitor.open(f"/engagements/{sample.code}/"), Keyboard(visitor)
    stops = page.locator("[data-desk-grid] :is(a, input)[tabindex='0'], "
                         "[data-desk-grid] td[tabindex='0']")
    last = sample.models.count() - 1
    assert stops.count() == 1
    keys.reach("#content")  # past the tabs
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    keys.reach("/menu/")
    walked = []
    for key in ("ArrowRight", "ArrowDown", "End", "ArrowRight", "Home", "ArrowLeft", "ArrowUp",
                "Control+End", "ArrowDown", "Control+Home", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
        walked.append(page.evaluate(FOCUSED))
        assert stops.count() == 1
    assert walked == ["2 0", "2 1", "9 1", "9 1", "0 1", "0 1", "0 0", f"9 {last}", f"9 {last}",
                      "0 0", "0 0", "1 0"]
    page.keyboard.press("Space")
    assert page.locator("[data-desk-grid] [aria-selected=true] input:checked").count() == 1
    page.keyboard.press("Enter")
    page.locator("#cell-menu:popover-open").wait_for()
    assert page.evaluate("document.activeElement.closest('#cell-menu') !== null")
    assert visitor.faults() == []
    page.keyboard.press("Escape")
    page.locator("#cell-menu:not(:popover-open)").wait_for(state="attached")
    assert page.evaluate(FOCUSED) == "1 0"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('[data-desk-grid]')") is None
    assert visitor.faults() == []
    assert visitor.errors == []
