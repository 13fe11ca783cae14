"""The theme a document prints, frozen with its facts: customer's settings before the firm's; and
which colours can be printed.

A row of `BrandingVersion` is never changed: what was in force at any time can be found.
"""

import colorsys
import re
from datetime import datetime

from django.utils.translation import gettext as _

from delivery.documents.bilingual import LANGUAGES, pair
from delivery.documents.branding.logos import as_uri
from delivery.documents.models import BrandingVersion
from engagements.errors import InvalidInput
from engagements.models import Customer

SHIPPED = {"colour": "#12305c", "accent": "", "cover": BrandingVersion.Cover.RULE, "seal_mm": 45}
FALLING = ("colour", "accent", "cover", "seal_mm", "header_zh", "header_en", "confidentiality_zh",
           "confidentiality_en")  # empty for a customer: as the firm has it
PLAIN = {"colour": SHIPPED["colour"], "accent": SHIPPED["colour"], "tint": "#e9eef6",
         "cover": SHIPPED["cover"], "seal_mm": SHIPPED["seal_mm"], "logo": "", "partner_logo": "",
         "header": "", "confidentiality": ""}
HEX = re.compile(r"#[0-9a-f]{6}")
WHITE = "#ffffff"
TEXT_CONTRAST, LINE_CONTRAST = 4.5, 3.0
TINT_LIGHTNESS, TINT_SATURATION = 0.94, 0.42


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


def checked_colour(value: str, name: str, least: float = TEXT_CONTRAST) -> str:
    """The colour in small letters; empty stays empty.

    Raises InvalidInput where it is no colour, or too pale on white or on its own tint.
    """
    colour = value.strip().lower()
    if not colour:
        return ""
    if not HEX.fullmatch(colour):
        raise InvalidInput(_("%(name)s: “%(value)s” is not a colour; use the form #12305c.") % {
            "name": name, "value": value[:20]})
    found = min(contrast(colour, WHITE), contrast(colour, tint(colour)))
    if found < least:
        raise InvalidInput(_("%(name)s: %(value)s has a contrast of %(found).1f on paper; "
                             "%(least).1f are needed. Choose a darker colour.") % {
            "name": name, "value": colour, "found": found, "least": least})
    return colour


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.2, definition of contrast ratio)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    """Relative luminance, 0 to 1 (WCAG 2.2, definition of relative luminance)."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
                        for c in parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def tint(colour: str) -> str:
    """The pale ground of table heads that goes with a colour."""
    hue, _light, saturation = colorsys.rgb_to_hls(*parts(colour))
    found = colorsys.hls_to_rgb(hue, TINT_LIGHTNESS, min(saturation, TINT_SATURATION))
    return "#" + "".join(f"{round(255 * c):02x}" for c in found)


def parts(colour: str) -> tuple[float, ...]:
    """Red, green and blue, 0 to 1."""
    return tuple(int(colour[n:n + 2], 16) / 255 for n in (1, 3, 5))
