"""An engagement is named by its code in filters and bodies; its number is still read."""

from typing import Any

import django_filters
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.forms import ModelChoiceField
from django.utils.translation import gettext_lazy
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engagements.models import Engagement
from engagements.web.visible_field import VisibleField

CODE_OR_NUMBER = {
    "oneOf": [{"type": "string", "maxLength": 24}, {"type": "integer"}],
    "description": "Code of the engagement. Its number (`id`) is deprecated."}
NAMED_IN_BODY = {**CODE_OR_NUMBER, "oneOf": [  # an empty filter is none
    {"type": "string", "minLength": 1, "maxLength": 24}, {"type": "integer"}]}
UNKNOWN = "does_not_exist"
NO_ENGAGEMENT = gettext_lazy("There is no engagement “%(name)s”.")


def named(rows: Any, name: Any) -> Engagement | None:
    """The engagement of these rows with the code, or, where there is none, with the number."""
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        return None
    text = str(name)
    found = rows.filter(code=text).first()
    if found is None and text.isascii() and text.isdigit() and len(text) < 19:
        found = rows.filter(pk=int(text)).first()
    return found


def unknown(name: Any) -> str:
    return NO_ENGAGEMENT % {"name": name}


class _Choice(ModelChoiceField):
    def to_python(self, value):
        if value in self.empty_values:
            return None
        found = named(self.queryset, value)
        if found is None:
            raise ValidationError(NO_ENGAGEMENT, UNKNOWN, {"name": value})
        return found


@extend_schema_field(CODE_OR_NUMBER)
class EngagementFilter(django_filters.ModelChoiceFilter):
    """Among those that the asking person may see."""

    field_class = _Choice

    def __init__(self, field_name: str) -> None:
        super().__init__(field_name=field_name, queryset=lambda request: (
            Engagement.objects.visible_to(request.user) if request else Engagement.objects.none()))


class EngagementField(serializers.PrimaryKeyRelatedField):
    def to_internal_value(self, data):
        found = named(self.get_queryset(), data)
        if found is None:
            raise serializers.ValidationError(unknown(data), UNKNOWN)
        return found


class VisibleEngagementField(EngagementField, VisibleField):
    """Among those that the request's user may see."""


TAKING_CODES = {serializers.PrimaryKeyRelatedField: EngagementField,
                VisibleField: VisibleEngagementField}


def take_codes(serializer: serializers.BaseSerializer) -> None:
    """Let the serializer of a request, and those within it, read codes of engagements."""
    if isinstance(serializer, (serializers.ListSerializer, serializers.ListField)):
        take_codes(serializer.child)
    elif isinstance(serializer, serializers.Serializer):
        for name, field in list(serializer.fields.items()):
            if names_engagement(field):
                serializer.fields[name] = TAKING_CODES[type(field)](**field._kwargs)
            else:
                take_codes(field)


def names_engagement(field: serializers.Field) -> bool:
    """Whether a field of a request holds the number of an engagement."""
    return (type(field) in TAKING_CODES and field.queryset is not None
            and field.queryset.model is Engagement)


class EngagementCode(serializers.CharField):
    """The code beside the number that answers have in `engagement`; for a page one query."""

    def __init__(self, **kwargs) -> None:
        super().__init__(**{"source": "*", "read_only": True, **kwargs})

    def to_representation(self, value):
        is_seen_elsewhere = getattr(self.parent, "is_seen_elsewhere", False)
        if "engagement" in value._state.fields_cache and not is_seen_elsewhere:
            return value.engagement and value.engagement.code
        codes = self.context.setdefault("codes_of_engagements", {None: None})
        if value.engagement_id not in codes:
            rows = getattr(self.root, "instance", None)
            rows = rows if isinstance(rows, (list, QuerySet)) else ()
            wanted = {value.engagement_id, *(getattr(row, "engagement_id", None) for row in rows)}
            found = Engagement.objects.filter(pk__in=wanted)
            if is_seen_elsewhere:
                codes.update(dict.fromkeys(wanted))
                found = found.visible_to(self.context["request"].user)
            codes.update(found.values_list("pk", "code"))
        return codes[value.engagement_id]


class NamesEngagement(serializers.ModelSerializer):
    """Of rows with an engagement: answers name it by its code, `engagement_code`, too."""

    is_seen_elsewhere = False  # by people who do not see the engagement, to whom its code is null

    def get_fields(self):
        fields = super().get_fields()
        if not fields["engagement"].write_only:
            column = self.Meta.model._meta.get_field("engagement")
            fields["engagement_code"] = EngagementCode(
                allow_null=column.null or self.is_seen_elsewhere)
        return fields
