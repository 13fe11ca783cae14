"""A drawn signature: numbers in, our own SVG out, so that nothing else can come through."""

import math

from django.utils.html import SafeString, format_html, format_html_join
from django.utils.translation import gettext as _

from bundle_verifier.json_limits import parse_json
from engagements.errors import InvalidInput

WIDTH, HEIGHT = 1000, 300
MAX_LINES, MAX_POINTS, MIN_POINTS = 200, 6000, 8


def checked_drawing(strokes) -> list[list[list[float]]]:
    """Lines of points [x, y], rounded to a tenth.

    Args:
        strokes: the lists, or their JSON text. Anything but numbers within 1000 by 300 is refused.
    """
    try:
        lines = parse_json(strokes) if isinstance(strokes, str | bytes) else strokes
        found = [[_point(point) for point in line] for line in lines]
    except (TypeError, ValueError) as error:
        raise InvalidInput(_("The drawn signature cannot be read; draw it again.")) from error
    points = sum(map(len, found))
    seen = sum(len(line) for line in found if any(point != line[0] for point in line))
    if not 0 < len(found) <= MAX_LINES or points > MAX_POINTS:
        raise InvalidInput(_("The drawn signature is too long or empty; draw it again."))
    if seen < MIN_POINTS:
        raise InvalidInput(_("A dot is not a signature; draw your name."))
    return found


def _point(point) -> list[float]:
    x, y = point
    if isinstance(x, bool) or isinstance(y, bool) or not (
            isinstance(x, int | float) and isinstance(y, int | float)):
        raise ValueError("not a number")
    if not (math.isfinite(x) and math.isfinite(y) and 0 <= x <= WIDTH and 0 <= y <= HEIGHT):
        raise ValueError("outside the field")
    return [round(float(x), 1), round(float(y), 1)]


def as_svg(strokes: list[list[list[float]]]) -> SafeString:
    """The picture of checked strokes, with a label in the active language."""
    lines = format_html_join("", '<path d="M{}"/>', (
        (" L".join(f"{x:g} {y:g}" for x, y in line),) for line in strokes if line))
    return format_html(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" role="img" aria-label="{}" '
        'width="200" height="60"><g fill="none" stroke="#12305c" stroke-width="7" '
        'stroke-linecap="round" stroke-linejoin="round">{}</g></svg>',
        WIDTH, HEIGHT, _("drawn signature"), lines)
