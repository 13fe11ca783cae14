"""The bell of the top bar."""

from django import template

from delivery.notices.event_subjects import subject_of
from delivery.notices.queries import unread_count

register = template.Library()


@register.inclusion_tag("delivery/notices/bell.html")
def bell(user) -> dict:
    """The link to the inbox with the number of unread notices."""
    return {"unread": unread_count(user)}


@register.filter
def subject_path(entry) -> str:
    """The page of what an audit entry is about; "" where it has none, or the row is gone."""
    subject = subject_of(entry.target_type, entry.target_id, entry.action)
    return subject.path if subject else ""
