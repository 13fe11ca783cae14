"""The bell of the top bar."""

from django import template

from delivery.notices.queries import unread_count

register = template.Library()


@register.inclusion_tag("delivery/notices/bell.html")
def bell(user) -> dict:
    """The link to the inbox with the number of unread notices."""
    return {"unread": unread_count(user)}
