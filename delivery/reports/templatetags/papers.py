"""What the templates of documents share."""

from urllib.parse import quote
from xml.sax.saxutils import escape

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

register = template.Library()

WIDTH, HEIGHT, TILT = 760, 520, -32  # of the mark's picture, and its slope in degrees
LARGEST = 110  # size of the letters; long marks are set smaller


@register.simple_tag(takes_context=True)
def watermark(context) -> SafeString:
    """The CSS that puts the document's marks behind every page; nothing without a mark.

    A background is no content: screen readers skip it, and it covers no text.
    """
    marks = [word for name, word in (
        ("is_practice", _("PRACTICE")), ("is_withdrawn", _("WITHDRAWN")), ("is_draft", _("DRAFT")),
        ("is_sample", _("SAMPLE")),
    ) if context.get(name)]
    if not marks:
        return mark_safe("")
    picture = quote(_picture(" · ".join(marks)))
    return mark_safe(f'@page {{ background: url("data:image/svg+xml,{picture}") '
                     "no-repeat center / 150mm auto; }")


def _picture(text: str) -> str:
    room = WIDTH / sum(1 if ord(c) > 0x2E80 else 0.62 for c in text)
    x, y = WIDTH / 2, HEIGHT / 2
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
            f'<text x="{x:g}" y="{y:g}" text-anchor="middle" font-family="Noto Sans CJK SC" '
            f'font-weight="700" font-size="{min(LARGEST, room):.0f}" fill="#f8e3e0" '
            f'transform="rotate({TILT} {x:g} {y:g})">{escape(text)}</text></svg>')
