"""Colours of documents: written as #rrggbb, and legible on white (WCAG 2.2, 1.4.3 and 1.4.11)."""

import colorsys
import re

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput

HEX = re.compile(r"#[0-9a-f]{6}")
WHITE = "#ffffff"
TEXT_CONTRAST, LINE_CONTRAST = 4.5, 3.0
TINT_LIGHTNESS, TINT_SATURATION = 0.94, 0.42


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
