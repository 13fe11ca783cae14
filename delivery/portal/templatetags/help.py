"""The link from a page to its chapter of the user guide."""

from django import template
from django.urls import reverse

from delivery.portal.help.chapters import slug_for

register = template.Library()


@register.simple_tag(takes_context=True)
def help_url(context) -> str:
    """The chapter about the page that is shown."""
    request = context.get("request")
    match = getattr(request, "resolver_match", None)
    slug = slug_for(match.namespace, match.url_name or "") if match else slug_for("portal", "")
    return reverse("portal:help_chapter", args=[slug])
