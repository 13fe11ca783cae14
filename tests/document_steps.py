"""The way of a document by three people, for the tests that need one at its end."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from delivery.reports import services
from delivery.reports.models import Document
from engagements.models import Role, User


@contextmanager
def checks(are_made: bool) -> Iterator[None]:
    """What stands in a document's way takes half of its way: asked where a test says so."""
    if are_made:
        yield
        return
    with patch("delivery.reports.services.approvals.require_complete"), \
            patch("delivery.reports.services.issuing.require_complete"):
        yield


def reviewed_document(draft: Document, people: dict[str, User], *, is_checked: bool = False
                      ) -> Document:
    """Submitted by its author, a manager, and reviewed by the consultant."""
    with checks(is_checked):
        services.submit_document(actor=people[Role.MANAGER], document=draft)
        return services.review_document(actor=people[Role.CONSULTANT], document=draft)


def issued_document(draft: Document, people: dict[str, User], *, is_checked: bool = False
                    ) -> Document:
    """The same, approved by the administrator, with its files."""
    with checks(is_checked):
        return services.issue_document(
            actor=people[Role.ADMINISTRATOR],
            document=reviewed_document(draft, people, is_checked=is_checked))
