"""REST endpoints of a quote's documents."""

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action

from delivery.quotes.models import Quote
from delivery.quotes.rendering import quote_pdf
from engagements.web.file_responses import (
    LANGUAGE,
    IgnoreAcceptHeader,
    PdfAction,
    attached,
    chosen_language,
    schema_of,
)
from engagements.web.form_actions import XLSX


class QuoteFiles(PdfAction):
    """Mixed into the viewset of quotes."""

    render = quote_pdf

    @extend_schema(parameters=[LANGUAGE], responses=schema_of(XLSX))
    @action(detail=True, content_negotiation_class=IgnoreAcceptHeader)
    def xlsx(self, request, pk=None):
        """The quote as a workbook whose sums are formulas."""
        from delivery.quotes.xlsx.workbook import quote_xlsx  # openpyxl: not at start

        quote, language = self.get_object(), chosen_language(request)
        return attached(quote_xlsx(quote, language), XLSX,
                        f"{self.pdf_name(quote)}-{language}.xlsx", quote)

    def pdf_name(self, row: Quote) -> str:
        return f"{row.number}-V{row.version}"
