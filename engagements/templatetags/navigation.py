"""The tabs of an engagement, above every page that belongs to one."""

from django import template
from django.urls import reverse
from django.utils.http import urlencode

from engagements.access import Can, allowed
from engagements.models import Engagement
from engagements.navigation import TAB_OF_NAMESPACE, Tab, groups_for

register = template.Library()

# What a page is about, where its context does not name the engagement itself.
SUBJECTS = ("engagement", "quote", "document", "review", "job", "criterion", "baseline", "scan")


@register.simple_tag(takes_context=True)
def engagement_of_page(context) -> Engagement | None:
    """The engagement that the page belongs to; None for pages of no or of several ones."""
    for name in SUBJECTS:
        subject = context.get(name)
        found = subject if isinstance(subject, Engagement) else getattr(subject, "engagement", None)
        if isinstance(found, Engagement):
            return found
    return None


@register.inclusion_tag("engagements/tab_groups.html", takes_context=True)
def engagement_tabs(context, engagement: Engagement) -> dict:
    """The groups of tabs, and the tabs of the group that is open."""
    request = context["request"]
    active = context.get("active") or TAB_OF_NAMESPACE.get(
        request.resolver_match.namespace if request.resolver_match else "", "")
    groups = []
    for group, tabs in groups_for(allowed(request.user, Can.VIEW_INTERNAL)):
        entries = [{"title": tab.title, "url": _url(tab, engagement), "is_open": tab.key == active}
                   for tab in tabs]
        title = tabs[0].title if len(tabs) == 1 else group.title  # as for the customer
        groups.append({"title": title, "url": entries[0]["url"], "tabs": entries,
                       "is_open": any(entry["is_open"] for entry in entries)})
    return {"groups": groups, "open": next((g for g in groups if g["is_open"]), None)}


def _url(tab: Tab, engagement: Engagement) -> str:
    if tab.is_query:
        return f"{reverse(tab.route)}?{urlencode({'engagement': engagement.code})}"
    return reverse(tab.route, args=[engagement.code])
