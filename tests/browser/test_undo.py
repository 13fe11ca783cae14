"""What was done in the matrix is taken back in the toast, with the mouse and with the keyboard."""

import pytest

from delivery.demo.sample_setup import load_sample
from engagements import services
from engagements.models import AuditEntry, Role, StageAssignment, StageRecord, User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_an_assignment_is_taken_back(visit):
    engagement = load_sample()
    record = StageRecord.objects.filter(model__engagement=engagement).first()
    manager = User.objects.filter(role=Role.MANAGER, memberships__engagement=engagement).first()
    visitor = visit(manager.username)
    page = visitor.open(f"/engagements/{engagement.code}/")
    for press in (lambda button: button.click(), lambda button: button.press("Enter")):
        page.click(f"#cell-{record.pk}")
        page.locator("#cell-person").select_option(str(manager.pk))
        with page.expect_navigation():
            page.locator("#cell-menu form[action$='/assign/'] button").click()
        assert StageAssignment.objects.get(record=record).person == manager
        button = page.locator(".desk-toasts form[action='/undo/'] button")
        assert visitor.faults() == []
        with page.expect_navigation():
            press(button)
        assert not StageAssignment.objects.filter(record=record).exists()
        assert page.url.endswith(f"/engagements/{engagement.code}/")
        assert page.locator(".desk-toasts .toast").count() == 1
        assert button.count() == 0
    latest = AuditEntry.objects.filter(action="stage.assign").first()
    assert (latest.data["from"], latest.data["to"]) == (manager.username, "")
    assert visitor.errors == []


def test_a_start_and_a_submission_are_taken_back(visit):
    """Each in the toast; where the toast is gone, in the menu of the cell."""
    engagement = load_sample()
    manager = User.objects.filter(role=Role.MANAGER, memberships__engagement=engagement).first()
    record = services.add_model(actor=manager, engagement=engagement, code="NEW",
                                name="新模型").stages.get(stage="survey")
    visitor = visit(manager.username)
    page = visitor.open(f"/engagements/{engagement.code}/")

    def choose(move: str) -> str:
        page.click(f"#cell-{record.pk}")
        with page.expect_navigation():
            page.locator(f"#cell-menu button[value={move}]").click()
        record.refresh_from_db()
        return record.state

    def press_undo() -> str:
        with page.expect_navigation():
            page.locator(".desk-toasts form[action='/undo/'] button").click()
        record.refresh_from_db()
        return record.state

    assert (choose("start"), press_undo()) == ("in_progress", "not_started")
    assert (choose("start"), choose("submit"), press_undo()) == (
        "in_progress", "submitted", "in_progress")
    page.locator(f"input[name=record][value='{record.pk}']").check()
    page.locator("#stage-move").select_option("submit")
    with page.expect_navigation():
        page.locator("#stage-moves button[type=submit]").first.click()
    record.refresh_from_db()
    assert (record.state, press_undo()) == ("submitted", "in_progress")
    page = visitor.open(page.url.removeprefix(visitor.base))
    assert (choose("submit"), choose("withdraw")) == ("submitted", "in_progress")
    assert visitor.errors == []
