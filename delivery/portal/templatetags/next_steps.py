"""Next steps on pages: of an engagement, and of one object of it."""

from django import template

from delivery.next_steps import engagement_steps
from delivery.next_steps.engagement_steps import steps_of as find_steps_of

register = template.Library()
SHOWN = 6


@register.inclusion_tag("delivery/portal/next_steps.html")
def next_steps(engagement, user) -> dict:
    """The engagement's next steps: the first one with its button, others below."""
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
