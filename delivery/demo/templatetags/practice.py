"""The banner over every page while the practice engagements are played."""

from django import template

from delivery.demo.progress_labels import banner

register = template.Library()


@register.inclusion_tag("delivery/demo/banner.html")
def practice_banner() -> dict:
    """How far the scenario is; empty where none runs. Asks the cache only."""
    return {"practice": banner()}
