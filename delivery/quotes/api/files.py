"""REST endpoints of a quote's documents."""

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action

from delivery.quotes.models import Quote
from delivery.quotes.quote_files import quote_file
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

    render = quote_file

    @extend_schema(parameters=[LANGUAGE], responses=schema_of(XLSX))
    @action(detail=True, content_negotiation_class=IgnoreAcceptHeader)
    def xlsx(self, request, pk=None):
        """The quote as a workbook whose sums are formulas; 409 until that of an issued one is
        stored."""
        quote, language = self.get_object(), chosen_language(request)
        return attached(quote_file(quote, language, "xlsx"), XLSX,
                        f"{quote.file_name}-{language}.xlsx", quote)

    def pdf_name(self, row: Quote) -> str:
        return row.file_name
