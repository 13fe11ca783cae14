from html import escape

from django import forms
from django.forms.utils import flatatt
from django.utils.html import format_html
from django.utils.safestring import mark_safe


class DayInput(forms.DateInput):
    """The browser's own date field."""

    def __init__(self):
        super().__init__(attrs={"type": "date"}, format="%Y-%m-%d")


class LongSelect(forms.Select):
    """A list of thousands of choices: the same markup without a template per choice."""

    def render(self, name, value, attrs=None, renderer=None):
        chosen = str(value) if value not in (None, "") else ""
        context = self.build_attrs(self.attrs, {**(attrs or {}), "name": name})
        options = "".join(
            f'<option value="{escape(str(key))}"{" selected" if str(key) == chosen else ""}>'
            f"{escape(str(label))}</option>" for key, label in self.choices)
        return format_html("<select{}>{}</select>", flatatt(context), mark_safe(options))


def short_text(rows: int = 2) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows})
