"""HTML template and frozen context to the bytes of a PDF (WeasyPrint 70)."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import override

from engagements.errors import DeskError

HTML_LANG = {"zh-hans": "zh-CN", "en": "en"}
PACKAGES = "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 fonts-noto-cjk"


class PdfUnavailableError(DeskError):
    """The system libraries that set the type are missing."""

    code = "pdf_unavailable"
    status = 503


def render_pdf(template: str, context: dict, language: str) -> bytes:
    """A tagged PDF (PDF/UA-1): the same template, context and language give the same bytes.

    Args:
        template: name of a template that extends "documents/base.html".
        context: frozen facts; nothing in it may depend on the clock or the database.
        language: "zh-hans" or "en"; fixes all words, whatever the active language is.

    Raises PdfUnavailableError naming the packages to install.
    """
    weasyprint = _weasyprint()
    with override(language):
        html = render_to_string(
            template, {**context, "language": language, "html_lang": HTML_LANG[language]})
    document = weasyprint.HTML(
        string=html, base_url=f"file://{settings.BASE_DIR}/", url_fetcher=_fetcher(weasyprint))
    return document.write_pdf(pdf_variant="pdf/ua-1")


def _weasyprint():
    try:
        import weasyprint
    except OSError as error:
        raise PdfUnavailableError(
            _("PDF files need system libraries that are missing here. Install them with: "
              "%(command)s") % {"command": f"apt-get install {PACKAGES}"}) from error
    return weasyprint


def _fetcher(weasyprint):
    """Fetches only files below static/ and templates/, and data: URLs; never the network."""
    roots = [Path(settings.BASE_DIR, name).resolve() for name in ("static", "templates")]

    class LocalFetcher(weasyprint.URLFetcher):
        def fetch(self, url, headers=None):
            parts = urlsplit(url)
            path = Path(unquote(parts.path)).resolve()
            is_ours = parts.scheme == "file" and any(path.is_relative_to(r) for r in roots)
            if parts.scheme != "data" and not is_ours:
                raise ValueError(f"Documents load local files only, not {url}")
            return super().fetch(url, headers)

    return LocalFetcher()
