"""How an endpoint is described: what holds for all of them, so that none has to declare it."""

from typing import Any

from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

from delivery.openapi.problem_answers import problem_answers

JSON, FORM_WITH_FILES = "application/json", "multipart/form-data"


class DeskAutoSchema(AutoSchema):
    """drf-spectacular's, with what holds for every endpoint of ours."""

    def get_operation(self, path, path_regex, path_prefix, method, registry) -> dict | None:
        """The operation with its refusals, which no endpoint has to declare."""
        operation = super().get_operation(path, path_regex, path_prefix, method, registry)
        if operation is not None:
            described = operation["responses"]
            for status, answer in problem_answers(operation, method, registry).items():
                described.setdefault(status, answer)
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

    def _map_serializer_field(self, field, direction, bypass_extensions=False):
        if isinstance(field, serializers.ChoiceField) and field.read_only:
            field.allow_blank = field.allow_blank or _may_be_blank(field)
        schema = super()._map_serializer_field(field, direction, bypass_extensions)
        if isinstance(field, serializers.DecimalField) and "pattern" in (schema or {}):
            schema["pattern"] = _decimal_pattern(field)
        if direction == "request" and schema:
            _tell_what_may_not_be_empty(field, schema)
        return schema

    def _map_basic_serializer(self, serializer, direction):
        """What only the firm's people are told is no required property of an answer."""
        schema = super()._map_basic_serializer(serializer, direction)
        hidden = getattr(getattr(serializer, "Meta", None), "for_the_firm", ())
        if left := sorted(set(schema.get("required", ())) - set(hidden)):
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


def _may_be_blank(field: serializers.Field) -> bool:
    """Whether the column behind a field may hold the empty text."""
    table = getattr(getattr(field.parent, "Meta", None), "model", None)
    columns = {column.name: column for column in table._meta.fields} if table else {}
    return getattr(columns.get(field.source), "blank", False)


def _decimal_pattern(field: serializers.DecimalField) -> str:
    """As the library's, but with one digit at least, and a sign only where it may be negative."""
    sign = "-?" if field.min_value is None or field.min_value < 0 else ""
    whole = rf"\d{{1,{field.max_whole_digits}}}" if field.max_whole_digits else "0?"
    places = field.decimal_places
    return rf"^{sign}(?:{whole}(?:\.\d{{0,{places}}})?|\.\d{{1,{places}}})$"
