"""Forms of rows: what may be entered is declared once, by the serializer of the API."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.db import models
from rest_framework import serializers

BOUNDS = ("max_length", "min_length", "max_value", "min_value", "max_digits", "decimal_places")


class RowForm(forms.Form):
    """A form whose fields are those that a serializer lets be written, `left_out` excepted.

    A column's length, labels, choices, help texts and the kinds of fields come from the model; what
    else bounds it from the serializer. A field declared on the class takes the place of the one of
    its name, or comes last. Nothing is put on a row: services say in words what does not fit. On
    the form of a row whose serializer takes `seen` a hidden field holds the version that the page
    showed.

    Attributes:
        offered: {reference: a function from what the page is about to the rows to choose from}.
        field_order: names in the order of the page where the serializer's is another.
        widgets, labels, help_texts: of single fields, where the page wants others.
    """

    serializer_class: type[serializers.ModelSerializer]
    left_out: tuple[str, ...] = ("engagement",)
    offered: Mapping[str, Callable[[Any], models.QuerySet]] = {}
    widgets: Mapping[str, forms.Widget] = {}
    labels: Mapping[str, str] = {}
    help_texts: Mapping[str, str] = {}

    def __init__(self, *args, of: Any = None, instance: models.Model | None = None,
                 initial: Mapping[str, Any] | None = None, **kwargs):
        """
        Args:
            of: what the page is about, for `offered`: mostly the engagement.
            instance: the row whose values are shown; None for a new one.
        """
        self.instance, derived = instance, self.derived_fields()
        stored = forms.model_to_dict(instance, list(derived)) if instance else {}
        super().__init__(*args, initial={**stored, **(initial or {})}, **kwargs)
        if (instance and "seen" in written(self.serializer_class)
                and "seen" not in self.base_fields):
            derived["seen"] = forms.IntegerField(
                widget=forms.HiddenInput, required=False, initial=instance.lock_version)
        self.fields = {**derived, **self.fields}
        self.order_fields(self.field_order)
        for name in self.offered.keys() & self.fields.keys():
            self.fields[name].queryset = self.offered[name](of)

    @classmethod
    def derived_fields(cls) -> dict[str, forms.Field | None]:
        """The fields that the serializer gives, by name; None for what the class declares itself.

        Raises TypeError for an input that is no column of the model and neither declared nor left
        out, and for a reference without the rows that are offered.
        """
        inputs = written(cls.serializer_class)

        def form_field(column: models.Field, **options) -> forms.Field | None:
            entered = inputs[column.name]
            field = column.formfield(**options, **{
                name: bound for name in BOUNDS
                if (bound := getattr(entered, name, None)) is not None})
            if field:
                field.required |= _is_required(entered)
            return field

        names = [name for name in inputs if name not in (*cls.left_out, "seen")]
        found = forms.fields_for_model(
            cls.serializer_class.Meta.model,
            [name for name in names if name not in cls.base_fields], widgets=cls.widgets,
            labels=cls.labels, help_texts=cls.help_texts, formfield_callback=form_field)
        wrong = [name for name, field in found.items() if field is None or (
            isinstance(field, forms.ModelChoiceField) and name not in cls.offered)]
        if wrong:
            raise TypeError(f"{cls.__name__}: declare or leave out {wrong}, or offer their rows")
        return {name: found.get(name) for name in names}


@functools.cache
def written(serializer_class: type[serializers.Serializer]) -> dict[str, serializers.Field]:
    """The fields of a serializer that may be written, by name."""
    return {name: field for name, field in serializer_class().fields.items()
            if not field.read_only and not isinstance(field, serializers.HiddenField)}


def _is_required(entered: serializers.Field) -> bool:
    return (entered.required and not entered.allow_null
            and not getattr(entered, "allow_blank", False)
            and not isinstance(entered, serializers.BooleanField))
