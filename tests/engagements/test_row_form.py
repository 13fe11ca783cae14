"""Forms and actions that are derived from the serializer."""

import pytest
from django import forms
from rest_framework import serializers

from delivery.planning.api.control import TodoViewSet
from engagements.models import Customer, Engagement
from engagements.web.row_form import RowForm


class CustomerSerializer(serializers.ModelSerializer):
    contact_name = serializers.CharField(max_length=7)
    added = serializers.IntegerField(read_only=True)
    seen = serializers.IntegerField(required=False)

    class Meta:
        model = Customer
        fields = ["id", "name", "name_en", "contact_name", "added", "seen"]


class CustomerForm(RowForm):
    serializer_class = CustomerSerializer
    left_out = ("name_en",)

    note = forms.CharField(required=False)


def test_fields_are_those_that_may_be_written():
    assert list(CustomerForm().fields) == ["name", "contact_name", "note"]


def test_bounds_of_the_serializer_labels_of_the_model():
    field, column = CustomerForm().fields["contact_name"], Customer._meta.get_field("contact_name")
    assert (field.max_length, field.required, column.blank) == (7, True, True)
    assert field.label.lower() == str(column.verbose_name).lower()
    assert CustomerForm().fields["name"].max_length == Customer._meta.get_field("name").max_length


def test_form_of_a_row_shows_it_and_the_version_that_was_seen():
    row = Customer(name="某客户", contact_name="张三")
    row.lock_version = 4
    form = CustomerForm(instance=row, initial={"contact_name": "李四"})
    assert (form["name"].value(), form["contact_name"].value(), form["seen"].value()) == (
        "某客户", "李四", 4)


def test_reference_needs_the_rows_that_are_offered():
    class EngagementSerializer(serializers.ModelSerializer):
        class Meta:
            model = Engagement
            fields = ["code", "customer"]

    class EngagementForm(RowForm):
        serializer_class = EngagementSerializer

    with pytest.raises(TypeError, match="customer"):
        EngagementForm()
    EngagementForm.offered = {"customer": lambda of: Customer.objects.none()}
    assert EngagementForm().fields["customer"].queryset.query.is_empty()


def test_input_that_is_no_column_is_declared_or_left_out():
    class SecretSerializer(CustomerSerializer):
        password = serializers.CharField()

        class Meta:
            model = Customer
            fields = ["name", "contact_name", "added", "seen", "password"]

    class SecretForm(RowForm):
        serializer_class = SecretSerializer

    with pytest.raises(TypeError, match="password"):
        SecretForm()


def test_action_is_a_method_of_its_endpoint():
    [action] = [found for found in TodoViewSet.get_extra_actions() if found.__name__ == "finish"]
    assert (dict(action.mapping), action.detail, action.url_path, action.__doc__) == (
        {"post": "finish"}, True, "finish", "Say that it is done.")
