"""`url` and `translate` as Django has them, for templates that ask for the same again and again.

A page has a hundred links and as many words, nearly all of which another page has shown before.
Settings put `url` in the place of Django's own, and `quick_i18n` in that of its `i18n`.
"""

from django import template
from django.template.defaulttags import URLNode
from django.template.defaulttags import url as django_url
from django.urls import NoReverseMatch
from django.utils.html import conditional_escape

from engagements.addresses import address

register = template.Library()


class QuickURLNode(URLNode):
    """Addresses by name and plain arguments are remembered; all else is Django's own way."""

    def render(self, context):
        values = [argument.resolve(context) for argument in self.args]
        if self.kwargs or not all(type(one) in (str, int) for one in values):
            return super().render(context)
        try:
            found = address(self.view_name.resolve(context), *values)
        except NoReverseMatch:
            return super().render(context)
        if self.asvar:
            context[self.asvar] = found
            return ""
        return conditional_escape(found) if context.autoescape else found


@register.tag
def url(parser, token) -> QuickURLNode:
    """As Django's."""
    made = django_url(parser, token)
    return QuickURLNode(made.view_name, made.args, made.kwargs, made.asvar)
