"""A stage's comments beside the matrix: read, written, and shown in its cell at once."""

import pytest

from delivery.demo.sample_engagement import load_sample
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
    page.click(f"#comment-{record.pk}")
    page.fill("#drawer-body textarea", "second")
    page.click("#drawer-body button[type=submit]")
    page.wait_for_selector(f'#comment-{record.pk}[title*="second"]')
    assert page.locator("#drawer-body").inner_text().count("first") == 1
    assert page.url.endswith(address)
    assert (StageComment.objects.count(), visitor.errors) == (2, [])
    assert visitor.faults() == []
