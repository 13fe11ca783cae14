"""By which words documents are found: number, kind in every language, and their engagement's."""

from django.conf import settings
from django.utils.translation import override

from delivery.reports import registry
from delivery.reports.models import Document
from engagements.search.index import Indexed, of_engagement, register


def _kind_titles(row: Document) -> list[str]:
    titles = []
    for language, _name in settings.LANGUAGES:
        with override(language):
            titles += [str(kind.title) for kind in registry.all_kinds() if kind.code == row.kind]
    return [row.kind, *titles]


register(Indexed(Document, ("number", *of_engagement()), "engagement", _kind_titles))
