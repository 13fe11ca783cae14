"""REST doors of a quote's papers."""

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action

from delivery.quotes.models import Quote
from delivery.quotes.paper import quote_pdf
from engagements.doors import XLSX
from engagements.file_answers import (
    LANGUAGE,
    AnyAccepted,
    Paper,
    attached,
    chosen_language,
    schema_of,
)


class QuoteFiles(Paper):
    """Mixed into the viewset of quotes."""

    render = quote_pdf

    @extend_schema(parameters=[LANGUAGE], responses=schema_of(XLSX))
    @action(detail=True, content_negotiation_class=AnyAccepted)
    def xlsx(self, request, pk=None):
        """The quote as a workbook whose sums are formulas."""
        from delivery.quotes.sheet.workbook import quote_xlsx  # openpyxl: not at start

        quote, language = self.get_object(), chosen_language(request)
        return attached(quote_xlsx(quote, language), XLSX,
                        f"{self.paper_name(quote)}-{language}.xlsx", quote)

    def paper_name(self, row: Quote) -> str:
        return f"{row.number}-V{row.version}"
