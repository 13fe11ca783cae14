"""The theme a document prints, frozen with its facts: customer's settings before the firm's.

A row of `BrandingVersion` is never changed: what was in force at any time can be found.
"""

from datetime import datetime

from delivery.documents.bilingual import LANGUAGES, pair
from delivery.documents.branding.colours import tint
from delivery.documents.branding.logos import as_uri
from delivery.documents.models import BrandingVersion
from engagements.models import Customer

SHIPPED = {"colour": "#12305c", "accent": "", "cover": BrandingVersion.Cover.RULE, "seal_mm": 45}
FALLING = ("colour", "accent", "cover", "seal_mm", "header_zh", "header_en", "confidentiality_zh",
           "confidentiality_en")  # empty for a customer: as the firm has it
PLAIN = {"colour": SHIPPED["colour"], "accent": SHIPPED["colour"], "tint": "#e9eef6",
         "cover": SHIPPED["cover"], "seal_mm": SHIPPED["seal_mm"], "logo": "", "partner_logo": "",
         "header": "", "confidentiality": ""}


def current(customer: Customer | None, at: datetime | None = None) -> BrandingVersion | None:
    """The settings of the firm (None) or a customer: the newest, or those in force at a time."""
    rows = BrandingVersion.objects.filter(customer=customer)
    return (rows.filter(made_at__lte=at) if at else rows).order_by("-version").first()


def theme_for(customer: Customer | None, at: datetime | None = None) -> dict:
    """What a document for the customer prints, as plain facts with texts in both languages."""
    return composed(current(None, at), current(customer, at) if customer else None)


def composed(firm: BrandingVersion | None, own: BrandingVersion | None) -> dict:
    """The same from given settings, stored or not."""
    found = {name: getattr(own, name, "") or getattr(firm, name, "") or SHIPPED.get(name, "")
             for name in FALLING}
    return {
        "versions": {"firm": getattr(firm, "version", 0) or 0,
                     "customer": getattr(own, "version", 0) or 0},
        "colour": found["colour"], "accent": found["accent"] or found["colour"],
        "tint": tint(found["colour"]), "cover": str(found["cover"]), "seal_mm": found["seal_mm"],
        "logo": as_uri(getattr(own, "logo", None) or getattr(firm, "logo", None)),
        "partner_logo": as_uri(getattr(own, "partner_logo", None)),
        "header": _texts(found, "header"), "confidentiality": _texts(found, "confidentiality"),
    }


def _texts(found: dict, name: str) -> dict[str, str]:
    if found[f"{name}_zh"]:
        return pair(found[f"{name}_zh"], found[f"{name}_en"])
    return dict.fromkeys(LANGUAGES, "")


def frozen_theme(facts: dict) -> dict:
    """The theme among frozen facts; documents of earlier versions of the program hold none."""
    return {**PLAIN, **(facts.get("look") or {})}


def page_headers(theme: dict, title: str) -> dict[str, str]:
    """What the head of every page says: left the title after the text set for it, right the mark.

    Args:
        theme: in one language.
    """
    return {"page_head": " · ".join(filter(None, (theme["header"], title))),
            "page_corner": theme["confidentiality"]}
