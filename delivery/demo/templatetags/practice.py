"""The banner over every page while the practice engagements are played."""

from django import template

from delivery.demo.progress_labels import banner
from delivery.demo.sample_node import can_be_asked_for

register = template.Library()


@register.inclusion_tag("delivery/demo/banner.html")
def practice_banner() -> dict:
    """How far the scenario is; empty where none runs. Asks the cache only."""
    return {"practice": banner()}


@register.simple_tag
def practice_node_can_be_asked_for() -> bool:
    return can_be_asked_for()
