"""Files that leave through the REST API: their schema, and an answer that is not negotiated."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request

from engagements.audit import download_log
from engagements.errors import InvalidInput

PDF = "application/pdf"
LANGUAGES = ("zh-hans", "en")
LANGUAGE = OpenApiParameter("language", enum=LANGUAGES, default=LANGUAGES[0])


class IgnoreAcceptHeader(DefaultContentNegotiation):
    """A file is sent as what it is, whatever the client says it accepts."""

    def select_renderer(self, request, renderers, format_suffix=None):
        return renderers[0], renderers[0].media_type


def chosen_language(request: Request) -> str:
    """`?language=` of a document, Chinese if left out; InvalidInput names the ones there are."""
    language = request.query_params.get("language", LANGUAGES[0])
    if language not in LANGUAGES:
        raise InvalidInput(f"language: {' | '.join(LANGUAGES)}")
    return language


def attached(data: bytes, media_type: str, name: str, target) -> HttpResponse:
    """A file to be stored under the name; the audit entry names the row it was made of."""
    return download_log.of(HttpResponse(data, content_type=media_type, headers={
        "Content-Disposition": f'attachment; filename="{name}"'}), target)


def schema_of(*media_types: str) -> dict:
    """The OpenAPI responses of an endpoint that answers with a file of one of these types."""
    return {(200, media_type): OpenApiTypes.BINARY for media_type in media_types}


class PdfAction:
    """Mixed into a viewset whose rows are printed; `render` takes row and language, gives bytes."""

    render = None

    @extend_schema(parameters=[LANGUAGE], responses=schema_of(PDF))
    @action(detail=True, content_negotiation_class=IgnoreAcceptHeader)
    def pdf(self, request, pk=None):
        """The row as a PDF; 409 until that of an issued one is stored."""
        row, language = self.get_object(), chosen_language(request)
        data = type(self).render(row, language)
        return attached(data, PDF, f"{self.pdf_name(row)}-{language}.pdf", row)

    def pdf_name(self, row) -> str:
        """What the file is called before its language: the row's number."""
        return str(row).split(" ")[0]
