"""HTML template and frozen context to the bytes of a PDF (WeasyPrint 70)."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import override

from delivery.documents.branding.theme import PLAIN
from delivery.documents.render_process import run_in_child
from engagements.errors import DeskError
from engagements.text.printable_text import printable

HTML_LANG = {"zh-hans": "zh-CN", "en": "en"}
PACKAGES = "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 fonts-noto-cjk"
ARCHIVAL = "pdf/a-2a"  # ISO 19005-2 level A: fonts and colours embedded, tagged, no attachments
# ISO 14289-1 beside it. PDF/A wants every foreign schema of its metadata described.
ACCESSIBLE = b"""
<rdf:Description xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/" rdf:about="">
<pdfuaid:part>1</pdfuaid:part></rdf:Description>
<rdf:Description xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
 xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#"
 xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#" rdf:about="">
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
<pdfaSchema:schema>PDF/UA identification schema</pdfaSchema:schema>
<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>
<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">
<pdfaProperty:name>part</pdfaProperty:name>
<pdfaProperty:valueType>Integer</pdfaProperty:valueType>
<pdfaProperty:category>internal</pdfaProperty:category>
<pdfaProperty:description>Part of ISO 14289</pdfaProperty:description>
</rdf:li></rdf:Seq></pdfaSchema:property></rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>
"""
END = b"</rdf:RDF>"
LONGEST_MARGIN = 200  # characters in the head or foot of a page


class PdfUnavailableError(DeskError):
    """The system libraries that set the type are missing."""

    code = "pdf_unavailable"
    status = 503


def render_pdf(template: str, context: dict, language: str) -> bytes:
    """A PDF to be archived (PDF/A-2a, PDF/UA-1): the same context and language, the same bytes.

    Args:
        template: name of a template that extends "documents/base.html".
        context: frozen facts; nothing in it may depend on the clock or the database.
        language: "zh-hans" or "en"; fixes all words, whatever the active language is.

    Raises PdfUnavailableError naming the packages to install.
    """
    return run_in_child(set_type, html_of(template, context, language))


def html_of(template: str, context: dict, language: str) -> str:
    """What the PDF is set from; see `render_pdf`."""
    with override(language):
        return printable(render_to_string(
            template, {"theme": PLAIN, **context, "language": language,
                       "html_lang": HTML_LANG[language]}))


def css_string(text: str) -> SafeString:
    """Text that is safe between the quotes of a CSS string in a <style> element.

    It stands in a margin of the page, beside another: a longer one is cut.
    """
    text = printable(text)
    text = text if len(text) <= LONGEST_MARGIN else f"{text[:LONGEST_MARGIN - 1]}…"
    return mark_safe("".join(
        c if c.isalnum() or c in " .,:;·–…-/()" else f"\\{ord(c):x} " for c in text))


def set_type(html: str) -> bytes:
    """The PDF of an HTML text; loads local files only."""
    weasyprint = _weasyprint()
    document = weasyprint.HTML(
        string=html, base_url=f"file://{settings.BASE_DIR}/", url_fetcher=_fetcher(weasyprint),
    ).render()
    _claim_accessible(document.metadata)
    return document.write_pdf(pdf_variant=ARCHIVAL)


def _claim_accessible(metadata) -> None:
    """Say in the metadata that the file follows PDF/UA-1 too; WeasyPrint names one standard."""
    written = metadata.generate_rdf_metadata

    def both(*args) -> bytes:
        head, _end, tail = written(*args).rpartition(END)
        return head + ACCESSIBLE + END + tail

    metadata.generate_rdf_metadata = both


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
