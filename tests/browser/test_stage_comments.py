"""A stage's comments beside the matrix: read, written, and shown in its cell at once."""

import pytest

from delivery.demo.sample_setup import load_sample
from engagements import services
from engagements.models import Role, StageComment, StageRecord, User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_comment_appears_in_the_cell_without_leaving_the_page(visit):
    engagement = load_sample()
    record = StageRecord.objects.filter(model__engagement=engagement).first()
    writer = User.objects.filter(role=Role.CONSULTANT, memberships__engagement=engagement).first()
    services.comment_on_stage(actor=writer, record=record, text="first")
    visitor = visit(writer.username)
    address = f"/engagements/{engagement.code}/"
    page = visitor.open(address)
    page.click(f"#cell-{record.pk}")
    page.fill("#cell-menu #id_text", "second")
    page.click("#cell-comment")
    page.wait_for_selector(f'#cell-{record.pk}[title*="second"]')
    assert page.locator("#cell-menu").inner_text().count("first") == 1
    assert page.url.endswith(address)
    assert (StageComment.objects.count(), visitor.errors) == (2, [])
    assert visitor.faults() == []


def test_the_menu_of_a_cell_by_keyboard(visit):
    """Opened, used and put away without a mouse; the focus comes back to the cell."""
    engagement = load_sample()
    record = StageRecord.objects.filter(model__engagement=engagement, state="not_started").last()
    manager = User.objects.filter(role=Role.MANAGER, memberships__engagement=engagement).first()
    member = engagement.memberships.exclude(role=Role.REVIEWER).first()
    visitor = visit(manager.username)
    page = visitor.open(f"/engagements/{engagement.code}/")
    before = page.locator(f"#cell-{record.pk}").bounding_box()
    assert (before["width"] >= 24, before["height"] >= 24) == (True, True)
    page.locator(f"#cell-{record.pk}").press("Enter")
    page.locator("#cell-menu:popover-open").wait_for()
    assert page.evaluate("document.activeElement.closest('#cell-menu') !== null")
    assert visitor.faults() == []
    page.keyboard.press("Escape")
    page.locator("#cell-menu:not(:popover-open)").wait_for(state="attached")
    assert page.evaluate("document.activeElement.id") == f"cell-{record.pk}"
    page.keyboard.press("Enter")
    page.locator("#cell-person").select_option(str(member.user_id))
    page.locator("#cell-menu form[action$='/assign/'] input[name=comment]").focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    record.refresh_from_db()
    assert record.assignment.person == member.user
    assert page.url.endswith(f"/engagements/{engagement.code}/#cell-{record.pk}")
    assert visitor.errors == []
