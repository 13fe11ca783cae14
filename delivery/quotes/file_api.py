"""REST doors of a quote's papers."""

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action

from delivery.quotes.paper import quote_pdf
from engagements.doors import XLSX
from engagements.file_answers import (
    LANGUAGE,
    PDF,
    AnyAccepted,
    attached,
    chosen_language,
    schema_of,
)


class QuoteFiles:
    """Mixed into the viewset of quotes."""

    @extend_schema(parameters=[LANGUAGE], responses=schema_of(PDF))
    @action(detail=True, content_negotiation_class=AnyAccepted)
    def pdf(self, request, pk=None):
        """The quote as PDF."""
        quote, language = self.get_object(), chosen_language(request)
        return attached(quote_pdf(quote, language), PDF, _name(quote, language, "pdf"), quote)

    @extend_schema(parameters=[LANGUAGE], responses=schema_of(XLSX))
    @action(detail=True, content_negotiation_class=AnyAccepted)
    def xlsx(self, request, pk=None):
        """The quote as a workbook whose sums are formulas."""
        from delivery.quotes.spreadsheet import quote_xlsx  # openpyxl: not at start

        quote, language = self.get_object(), chosen_language(request)
        return attached(quote_xlsx(quote, language), XLSX, _name(quote, language, "xlsx"), quote)


def _name(quote, language: str, ending: str) -> str:
    return f"{quote.number}-V{quote.version}-{language}.{ending}"
