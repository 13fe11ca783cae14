"""What the pages of this app share."""

from collections.abc import Iterable

from django.shortcuts import get_object_or_404
from django.utils.translation import get_language

from delivery.reports import registry
from delivery.reports.models import Document, DocumentFile
from engagements.models import Engagement

LANGUAGE_NAMES = {"zh-hans": "中文", "en": "English"}


def in_reading_order(files: Iterable[DocumentFile]) -> list[tuple[DocumentFile, str]]:
    """Files with the names of their languages, those in the reader's language first.

    Of a withdrawn document the copies that say so come before what was issued. Older versions of
    the product stored a copy at each signature: the one of all signers alone is shown.
    """
    files = list(files)
    forms = [file.format for file in files if file.format.startswith("signed")]
    partial = {*forms} - {max(forms, key=lambda form: int(form.removeprefix("signed") or 1),
                              default="")}
    ordered = sorted((file for file in files if file.format not in partial), key=lambda file: (
        file.language != get_language(), not file.format.startswith(registry.WITHDRAWN)))
    return [(file, LANGUAGE_NAMES[file.language]) for file in ordered]


def visible_document(request, pk: int, *, with_facts: bool = True) -> Document:
    """The document, or 404 for whoever may not see it.

    Args:
        with_facts: False where nothing of the snapshot is shown (see `without_facts`).
    """
    documents = Document.objects.visible_to(request.user).select_related(
        "engagement__customer", "replaces", "created_by", "submitted_by", "reviewed_by",
        "issued_by").defer("replaces__snapshot", "replaces__words")
    return get_object_or_404(documents if with_facts else documents.without_facts(), pk=pk)


def visible_engagement(request, code: str) -> Engagement:
    """The engagement of that code, or 404 for a stranger."""
    return get_object_or_404(
        Engagement.objects.visible_to(request.user).select_related("customer"), code=code)
