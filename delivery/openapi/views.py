"""The API's description, made once per process and language."""

from functools import lru_cache

from django.http import HttpResponse
from django.utils.translation import get_language, override
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

RENDERERS = {renderer.media_type: renderer for renderer in (
    OpenApiYamlRenderer, OpenApiJsonRenderer)}
KEEP_SECONDS = 300


class SchemaView(SpectacularAPIView):
    """OpenAPI 3 description of the API."""

    schema = None  # says nothing of itself
    renderer_classes = list(RENDERERS.values())

    def get(self, request, *args, **kwargs):
        media_type = request.accepted_renderer.media_type
        language = request.query_params.get("lang") or get_language()
        name = "schema.json" if media_type == OpenApiJsonRenderer.media_type else "schema.yaml"
        return HttpResponse(_described(language, media_type), content_type=media_type, headers={
            "Content-Disposition": f'inline; filename="{name}"',
            "Cache-Control": f"private, max-age={KEEP_SECONDS}",
            "Vary": "Accept, Accept-Language, Cookie"})


class DocsView(SpectacularSwaggerSplitView):
    """The browsable page; its script is a file of its own, as the content security policy asks."""

    url_name = "schema"


@lru_cache(maxsize=4)
def _described(language: str, media_type: str) -> bytes:
    """The description in a language as bytes; a second and more the first time."""
    with override(language):
        schema = SchemaGenerator().get_schema(request=None, public=True)
        return RENDERERS[media_type]().render(schema, renderer_context={})
