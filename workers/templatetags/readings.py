"""Links from a file's readings to the pages that show them in full."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from workers.reading_pages import page_of

register = template.Library()


@register.simple_tag
def reading_link(reading, css: str = "") -> SafeString:
    """The link, or nothing where no page is registered for the reading."""
    found = page_of(reading)
    if found is None:
        return mark_safe("")
    label, url = found
    return format_html('<a href="{}" class="{}">{}</a>', url, css, label)
