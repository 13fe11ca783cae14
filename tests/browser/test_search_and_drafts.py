"""The search box by keyboard alone, and entries that outlive a sign-in."""

import pytest

from delivery.demo.sample_engagement import PASSWORD

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
    assert page.input_value("[name=code]") == ""


def test_no_secret_is_kept(visit, sample):
    page = visit("operator").open("/nodes/new/")
    page.fill("[name=name]", "bms-9")
    assert page.evaluate("sessionStorage.getItem('desk-typed')") is None
