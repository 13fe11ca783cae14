"""The search box by keyboard alone, and entries that outlive a sign-in."""

import pytest
from django.utils import timezone

from delivery.demo.sample_firm import PASSWORD
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.services import reopen_survey
from engagements.models import User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_jump_to_a_model_without_a_mouse(visit, sample):
    window = visit("consultant")
    page = window.open("/")
    page.keyboard.press("Control+k")
    page.wait_for_selector("#search-hits .desk-hit")
    page.keyboard.type("PSR")
    page.locator("#search-hits").filter(has_text="PSR").wait_for()
    assert window.faults() == []
    page.keyboard.press("ArrowDown")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.url.endswith("/engagements/EP2501/models/PSR/survey/")
    page.keyboard.press("/")
    assert page.locator("#search").evaluate("box => box.open")
    page.keyboard.press("Escape")
    assert not page.locator("#search").evaluate("box => box.open")
    assert window.errors == []


def test_words_typed_before_the_first_hits_arrive(visit, people_with_mail, engagement):
    window, held = visit("manager"), []
    page = window.open("/")
    page.route("**/search/**", lambda route: route.continue_() if held else held.append(route))
    with page.expect_request("**/search/**"):
        page.keyboard.press("Control+k")
    page.keyboard.type(engagement.code)
    page.wait_for_timeout(500)  # longer than the box waits for the next letter
    with page.expect_response(f"**/search/?q={engagement.code}"):
        held[0].continue_()
    page.locator("#search-hits").filter(has_text=engagement.code).wait_for()
    assert window.errors == []


def test_what_was_typed_outlives_the_sign_in(visit, sample):
    window = visit("manager")
    page = window.open("/engagements/new/")
    page.fill("[name=code]", "EP2699")
    page.fill("[name=name]", "输电线路巡检")
    page.context.clear_cookies(name="sessionid")
    page.click("main form button[type=submit]")
    page.fill("#id_username", "manager")
    page.fill("#id_password", PASSWORD)
    with page.expect_navigation():
        page.click("form[novalidate] button[type=submit]")
    assert page.url.endswith("/engagements/new/")
    assert page.input_value("[name=code]") == "EP2699"
    assert page.input_value("[name=name]") == "输电线路巡检"
    assert page.locator("main .alert-warning").count() == 1
    window.open("/engagements/new/")
    assert page.input_value("[name=name]") == ""
    assert page.input_value("[name=code]") == f"EP{timezone.localdate():%y}01"  # as suggested


def test_no_secret_is_kept(visit, sample):
    page = visit("operator").open("/nodes/new/")
    page.fill("[name=name]", "bms-9")
    assert page.evaluate("sessionStorage.getItem('desk-typed')") is None


def test_answers_given_without_a_network_are_sent_when_there_is_one(visit, sample):
    """What a colleague answered meanwhile stays."""
    survey = reopen_survey(actor=User.objects.get(username="consultant"), survey=sample.survey)
    window = visit("reviewer")
    page = window.open(f"/engagements/{sample.code}/survey/")
    path = page.locator("main table a").first.get_attribute("href")
    page = window.open(path)
    first, second = _text_fields(page)
    page.context.set_offline(True)
    page.fill(f"[name='a:{first}']", "机房在地下一层")
    page.press(f"[name='a:{first}']", "Tab")
    page.locator("#survey-state", has_text="网络不可用").wait_for()
    page.evaluate("navigator.sendBeacon = () => false")  # nor is there a last message
    page.goto("about:blank")
    colleague = visit("consultant").open(path)
    colleague.fill(f"[name='a:{second}']", "同事已填")
    colleague.press(f"[name='a:{second}']", "Tab")
    colleague.locator("#survey-state", has_text="已于").wait_for()
    page.context.set_offline(False)
    page.goto(window.base + path)
    page.locator("#survey-state", has_text="已于").wait_for()
    assert _answers(survey, first, second) == ["机房在地下一层", "同事已填"]
    assert page.evaluate("Object.keys(localStorage).filter(k => k.startsWith('desk-survey'))") == []


def _text_fields(page) -> list[str]:
    """Names of the first two answers that are plain text."""
    names = page.locator("[data-desk-survey] :is(input[type=text], textarea)").evaluate_all(
        "all => all.map(field => field.name)")
    return [name.removeprefix("a:") for name in names if name.startswith("a:")][:2]


def _answers(survey, *names) -> list[str]:
    cells = Sheet(survey).cells
    return [cells[name].text for name in names]
