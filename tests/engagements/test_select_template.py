"""The template of drop-down lists writes what Django's own writes."""

import pytest
from django import forms
from django.forms.renderers import DjangoTemplates, TemplatesSetting

CHOICES = [("", "--"), ("a<b", "A & B"), ("Group", [("1", "one"), ("2", "two")]), (3, "three")]


@pytest.mark.parametrize("widget", [forms.Select, forms.SelectMultiple])
@pytest.mark.parametrize("value", ["", "a<b", "2", ["1", "3"], None])
def test_same_markup(widget, value):
    field = widget(attrs={"class": "form-select", "required": True}, choices=CHOICES)
    ours, djangos = (
        "".join(field.render("one", value, renderer=renderer()).split())
        for renderer in (TemplatesSetting, DjangoTemplates))
    assert ours == djangos
