"""Next steps on pages: of an engagement, and of one object of it."""

from django import template
from django.core.cache import cache
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

from delivery.next_steps import engagement_steps
from delivery.next_steps.engagement_steps import steps_of as find_steps_of
from engagements.models import AuditEntry, Engagement, User

register = template.Library()
SHOWN = 6
CACHE_SECONDS = 60


@register.simple_tag
def next_steps(engagement: Engagement, user: User) -> SafeString:
    """The engagement's next steps: the first one with its button, others below.

    Half a hundred rules are asked; what they found is kept until something of the engagement is
    written (every write has an audit entry), at most a minute.
    """
    newest = AuditEntry.objects.filter(engagement=engagement).order_by("-pk").values_list(
        "pk", flat=True).first()
    key = (f"next-steps.{engagement.pk}.{newest}.{user.pk}.{user.role}.{get_language()}."
           f"{timezone.localdate()}")
    text = cache.get(key)
    if text is None:
        text = render_to_string("delivery/portal/next_steps.html", _steps(engagement, user))
        cache.set(key, text, CACHE_SECONDS)
    return mark_safe(text)


def _steps(engagement: Engagement, user: User) -> dict:
    steps = engagement_steps(engagement, user)
    mine = next((step for step in steps if step.is_for(user)), None)
    first = mine or next(iter(steps), None)
    return {"first": first, "is_mine": first is not None and first is mine,
            "others": [step for step in steps if step is not first][:SHOWN],
            "more": max(0, len(steps) - SHOWN - 1), "user": user}


@register.inclusion_tag("delivery/portal/steps_of.html")
def steps_of(subject, user) -> dict:
    """Who goes on with one object that waits; nothing where it waits for nobody."""
    return {"steps": find_steps_of(subject, user), "user": user}
