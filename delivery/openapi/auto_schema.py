"""How an endpoint is described: what holds for all of them, so that none has to declare it."""

import re
from typing import Any

from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

from delivery.openapi.problem_answers import idempotency_key, if_match, problem_answers
from engagements.web.engagement_codes import CODE_OR_NUMBER, NAMED_IN_BODY, names_engagement
from engagements.web.list_filters import DEPRECATED
from engagements.web.preconditions import is_conditional

TIME_OF_DAY = r"^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$"
JSON, FORM_WITH_FILES = "application/json", "multipart/form-data"


class DeskAutoSchema(AutoSchema):
    """drf-spectacular's, with what holds for every endpoint of ours."""

    def get_operation(self, path, path_regex, path_prefix, method, registry) -> dict | None:
        """The operation with its refusals, which no endpoint has to declare."""
        operation = super().get_operation(path, path_regex, path_prefix, method, registry)
        if operation is not None:
            described = operation["responses"]
            has_versions = is_conditional(self.view, method)
            for status, answer in problem_answers(
                    operation, method, registry, is_conditional=has_versions).items():
                described.setdefault(status, answer)
            if has_versions:
                operation.setdefault("parameters", []).append(if_match(registry))
            if method == "POST" and {} not in operation.get("security", [{}]):
                operation.setdefault("parameters", []).append(idempotency_key(registry))
            for parameter in operation.get("parameters", ()):
                if newer := DEPRECATED.get(parameter.get("name")):
                    parameter |= {"deprecated": True, "description": f"Use `{newer}`."}
        return operation

    def map_parsers(self) -> list[str]:
        """Forms where a file comes with the request, else JSON. A form cannot hold lists of
        objects; the parsers take it wherever its fields are enough."""
        wanted = FORM_WITH_FILES if _has_file(self.get_request_serializer()) else JSON
        found = super().map_parsers()
        return [wanted] if wanted in found else found

    def get_filter_backends(self) -> list:
        """Writes answer with what they wrote: nobody filters that."""
        return super().get_filter_backends() if self.method == "GET" else []

    def _get_paginator(self):
        return super()._get_paginator() if self.method == "GET" else None

    def _get_filter_parameters(self) -> list[dict]:
        return [{**each, "allowEmptyValue": True} for each in super()._get_filter_parameters()]

    def _get_pagination_parameters(self) -> list[dict]:
        """Pages and filters that are named without a value count as left out."""
        return [{**each, "allowEmptyValue": True}
                for each in super()._get_pagination_parameters()]

    def _map_serializer_field(self, field, direction, bypass_extensions=False):
        if isinstance(field, serializers.ChoiceField) and field.read_only:
            field.allow_blank = field.allow_blank or _may_be_blank(field)
        if direction == "request" and names_engagement(field):
            named = CODE_OR_NUMBER if field.allow_null else NAMED_IN_BODY
            return {**named, **({"nullable": True} if field.allow_null else {})}
        schema = super()._map_serializer_field(field, direction, bypass_extensions)
        if direction == "response" and _has_code_beside(field):
            schema = {**schema, "deprecated": True, "description": "Use `engagement_code`."}
        if isinstance(field, serializers.DecimalField) and "pattern" in (schema or {}):
            schema["pattern"] = _decimal_pattern(field)
        if isinstance(field, serializers.TimeField):
            schema = {**schema, "pattern": TIME_OF_DAY}
            del schema["format"]  # of a time with a zone
        if direction == "request" and schema:
            _tell_what_may_not_be_empty(field, schema)
        return schema

    def _map_basic_serializer(self, serializer, direction):
        """What only the firm's people are told, or who asks for it, is no required property of an
        answer."""
        schema = super()._map_basic_serializer(serializer, direction)
        meta = getattr(serializer, "Meta", None)
        hidden = {*getattr(meta, "for_the_firm", ()), *getattr(meta, "on_demand", ())}
        if left := sorted(set(schema.get("required", ())) - hidden):
            schema["required"] = left
        return schema

    def _get_request_for_media_type(self, serializer, direction="request"):
        schema, is_required = super()._get_request_for_media_type(serializer, direction)
        if isinstance(serializer, serializers.ListSerializer):
            _tell_what_may_not_be_empty(serializer, schema)
            if serializer.max_length:
                schema["maxItems"] = serializer.max_length
        return schema, is_required

    def _insert_field_validators(self, field, schema) -> None:
        """A pattern may allow the empty text as well, so that both alternatives fit."""
        super()._insert_field_validators(field, schema)
        if {"type": "string", "maxLength": 0} in schema.get("oneOf", ()):
            schema["anyOf"] = schema.pop("oneOf")


def _has_file(serializer: Any) -> bool:
    if isinstance(serializer, type) and issubclass(serializer, serializers.Serializer):
        serializer = serializer()
    return isinstance(serializer, serializers.Serializer) and any(
        isinstance(field, serializers.FileField) and not field.read_only
        for field in serializer.fields.values())


def _tell_what_may_not_be_empty(field: serializers.Field, schema: dict) -> None:
    if getattr(field, "allow_empty", True) is False and schema.get("type") == "array":
        schema["minItems"] = max(1, schema.get("minItems", 0))
    if isinstance(field, serializers.FileField) and not field.allow_empty_file:
        schema["minLength"] = 1


def _has_code_beside(field: serializers.Field) -> bool:
    return (isinstance(field, serializers.PrimaryKeyRelatedField)
            and field.field_name == "engagement"
            and "engagement_code" in getattr(field.parent, "fields", ()))


def _may_be_blank(field: serializers.Field) -> bool:
    """Whether the column behind a field may hold the empty text."""
    table = getattr(getattr(field.parent, "Meta", None), "model", None)
    columns = {column.name: column for column in table._meta.fields} if table else {}
    return getattr(columns.get(field.source), "blank", False)


def _decimal_pattern(field: serializers.DecimalField) -> str:
    """As the library's, but with one digit at least, a sign only where it may be negative, and no
    more than a largest value of 1, 10, 100 … either way."""
    places, most = field.decimal_places, field.max_value
    has_power = most is not None and re.fullmatch("10*", str(most))
    digits = len(str(most)) - 1 if has_power else field.max_whole_digits
    sign = "-?" if field.min_value is None or field.min_value < 0 else ""
    whole = rf"\d{{1,{digits}}}" if digits else "0"
    numbers = [rf"{whole}(?:\.\d{{0,{places}}})?", rf"\.\d{{1,{places}}}"]
    if has_power:
        numbers.append(rf"{most}(?:\.0{{0,{places}}})?")
    return rf"^{sign}(?:{'|'.join(numbers)})$"
