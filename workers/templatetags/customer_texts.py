"""Sentences of jobs as the reader of a page may see them."""

from django import template

from workers.logs import customer_text

register = template.Library()


@register.filter
def shown_to(text, user) -> str:
    """A sentence without names of nodes and absolute paths, unless the reader is of the firm."""
    return customer_text.shown_to(user)(text or "")
