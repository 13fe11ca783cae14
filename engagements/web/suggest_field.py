"""A choice out of thousands: typed, with the first ones suggested."""

from typing import Any

from django import forms
from django.db import models
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from engagements.web.offered_choices import offered


class SuggestInput(forms.TextInput):
    """A text input with a list of suggestions (value, label)."""

    rows: Any = ()

    def render(self, name, value, attrs=None, renderer=None) -> SafeString:
        place = f"{(attrs or {}).get('id') or name}-offered"
        field = super().render(name, value, {**(attrs or {}), "list": place}, renderer)
        options = format_html_join("", '<option value="{}">{}</option>', self.rows)
        return format_html('{}<datalist id="{}">{}</datalist>', field, place, options)


class SuggestField(forms.ModelChoiceField):
    """A row named by a unique column (`to_field_name`); its first rows are suggested."""

    widget = SuggestInput

    def _set_queryset(self, queryset: models.QuerySet) -> None:
        self._queryset = None if queryset is None else queryset.all()
        self.widget.rows = _Suggestions(self)

    queryset = property(forms.ModelChoiceField._get_queryset, _set_queryset)

    def to_python(self, value):
        """A row by its unique column, or by its key."""
        try:
            return super().to_python(value)
        except forms.ValidationError:
            found = self.queryset.filter(pk=value).first() if str(value).isdecimal() else None
            if found is None:
                raise
            return found

    def prepare_value(self, value):
        """The unique column also of a row that is known by its key."""
        if isinstance(value, int):
            value = self.queryset.filter(pk=value).first() or value
        return super().prepare_value(value)


class _Suggestions:
    """Asked when the form is shown, not when it is made."""

    def __init__(self, field: SuggestField) -> None:
        self.field = field

    def __iter__(self):
        name = self.field.to_field_name
        for row in offered(self.field.queryset):
            yield row.serializable_value(name), str(row)
