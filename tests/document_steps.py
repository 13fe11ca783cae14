"""The way of a document by three people, for the tests that need one at its end."""

from delivery.reports import services
from delivery.reports.models import Document
from engagements.models import Role, User


def reviewed_document(draft: Document, people: dict[str, User]) -> Document:
    """Submitted by its author, a manager, and reviewed by the consultant."""
    services.submit_document(actor=people[Role.MANAGER], document=draft)
    return services.review_document(actor=people[Role.CONSULTANT], document=draft)


def issued_document(draft: Document, people: dict[str, User]) -> Document:
    """The same, approved by the administrator, with its files."""
    return services.issue_document(actor=people[Role.ADMINISTRATOR],
                                   document=reviewed_document(draft, people))
