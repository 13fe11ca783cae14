"""Django's `i18n` library, whose `translate` remembers the words of each language."""

from django import template
from django.templatetags import i18n
from django.utils.translation import get_language

register = template.Library()
register.tags.update(i18n.register.tags)
register.filters.update(i18n.register.filters)


class QuickTranslateNode(i18n.TranslateNode):
    """A constant without a filter is looked up once per language."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        expression = self.filter_expression
        self.known: dict[tuple, str] = {}
        self.is_constant = not expression.filters and expression.var.lookups is None

    def render(self, context):
        if not self.is_constant:
            return super().render(context)
        key = (get_language(), context.autoescape)
        text = self.known.get(key)
        if text is None:
            text = self.known[key] = self._looked_up(context)
        if self.asvar:
            context[self.asvar] = text
            return ""
        return text

    def _looked_up(self, context) -> str:
        """What Django's own node would put into the page."""
        name, self.asvar = self.asvar, None
        try:
            return super().render(context)
        finally:
            self.asvar = name


@register.tag("translate")
@register.tag("trans")
def translate(parser, token) -> QuickTranslateNode:
    """As Django's."""
    made = i18n.do_translate(parser, token)
    return QuickTranslateNode(made.filter_expression, made.noop, made.asvar, made.message_context)
