"""HTML to PDF with WeasyPrint 70: local files only, tagged, byte-identical for the same input."""

from pathlib import Path
from urllib.parse import urlparse

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import override

from engagements.errors import DeskError

PACKAGES = "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 fonts-noto-cjk"


class PdfUnavailable(DeskError):
    """The system libraries that draw a PDF are missing."""

    code = "pdf_unavailable"
    status = 503


def render_pdf(template: str, context: dict, language: str) -> bytes:
    """Render a template of `templates/documents` in one language.

    Args:
        context: plain data; nothing that changes from call to call, so that bytes repeat.
        language: `zh-hans` or `en`.
    Raises:
        PdfUnavailable: naming the packages to install.
    """
    try:
        from weasyprint import HTML
    except OSError as error:
        raise PdfUnavailable(
            _("PDF rendering needs system packages: apt-get install %(packages)s")
            % {"packages": PACKAGES}) from error
    with override(language):
        html = render_to_string(template, {**context, "language": language})
    return HTML(string=html, base_url=f"{settings.BASE_DIR}/", url_fetcher=_local_only).write_pdf(
        pdf_variant="pdf/ua-1", pdf_identifier=False)


def _local_only(url: str, *args, **kwargs):
    """Files below the static and template folders and data URLs; nothing from a network."""
    from weasyprint import default_url_fetcher

    parts = urlparse(url)
    if parts.scheme == "data":
        return default_url_fetcher(url)
    path = Path(parts.path).resolve()
    roots = [Path(settings.BASE_DIR) / name for name in ("static", "templates")]
    if parts.scheme != "file" or not any(path.is_relative_to(root) for root in roots):
        raise ValueError(f"a document must not load {url}")
    return default_url_fetcher(url)
