"""Bounds that the validators of columns declare, on the fields of forms."""

from django import forms
from django.core import validators
from django.db import models

BOUNDS = {validators.MinValueValidator: "min_value", validators.MaxValueValidator: "max_value",
          validators.MaxLengthValidator: "max_length"}


def bounded(column: models.Field, **options) -> forms.Field | None:
    """The column's field on a form: a `formfield_callback`. The range of the database's own type
    is no declared bound."""
    declared = column.deconstruct()[3].get("validators", ())
    return column.formfield(**options, **{
        BOUNDS[type(one)]: one.limit_value for one in declared if type(one) in BOUNDS})
