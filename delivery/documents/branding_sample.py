"""A sample document – a cover and a page – in a given theme; it holds no facts of anybody."""

from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override

from delivery.documents.bilingual import in_language
from delivery.documents.branding.theme import composed, current, page_headers
from delivery.documents.models import BrandingVersion, CompanyProfile
from delivery.documents.pdf import HTML_LANG, css_string, render_pdf
from engagements.models.engagement import localized

NUMBER = "TR-SAMPLE-20250101-001"
MARGINS = ("page_head", "page_corner", "page_foot", "page_before", "page_between", "page_after",
           "table_before", "table_after", "practice_words")


def sample_pdf(proposed: BrandingVersion, language: str) -> bytes:
    """The sample as PDF, marked as one."""
    facts = sample_facts(proposed, language)
    return render_pdf("documents/sample.html", {
        **facts, **{name: css_string(facts[name]) for name in MARGINS}}, language)


def sample_page(proposed: BrandingVersion, language: str) -> str:
    """The same as HTML for a browser, each sheet as a box with its head and foot."""
    with override(language):
        facts = sample_facts(proposed, language)
        return render_to_string("documents/sample_sheets.html", {
            **facts, "css": {name: css_string(facts[name]) for name in MARGINS},
            "language": language, "html_lang": HTML_LANG[language]})


def sample_facts(proposed: BrandingVersion, language: str) -> dict:
    """What the sample prints in one language."""
    customer, company = proposed.customer, CompanyProfile.current()
    firm, own = (current(None), proposed) if customer else (proposed, None)
    theme = in_language(composed(firm, own), language)
    with override(language):
        title, project = _("Test completion report"), _("Name of the project")
        before, between, after = _("Page {page} of {pages}").replace("{pages}", "{page}").split(
            "{page}")
        table_before, table_after = (_("Table %(n)s: %(title)s") % {"n": "{n}", "title": ""}
                                     ).split("{n}")
        return {
            "theme": theme, **page_headers(theme, f"{title} · {project}"), "title": title,
            "engagement": {"code": "SAMPLE", "name": project}, "number": "", "version": 1,
            "supplier": {"name": localized(company.name, company.name_en) or _("Our company"),
                         "address": localized(company.address, company.address_en),
                         "phone": company.phone, "email": company.email},
            "customer": {"name": customer.localized_name if customer
                         else _("Name of the customer")},
            "date": f"{timezone.localdate():%Y-%m-%d}",
            "content_hash": "0" * 64, "portal_url": "", "is_sample": True, "is_draft": False,
            "is_practice": False, "replaces": "", "page_foot": f"{NUMBER} V1.0 · SHA-256 …",
            "page_before": before, "page_between": between, "page_after": after,
            "table_before": table_before, "table_after": table_after, "practice_words": ""}
