"""Bodies of the API's requests: a field that a serializer does not know is refused, not ignored."""

from collections.abc import Mapping
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from engagements.text.text_joining import listed
from engagements.web.engagement_codes import take_codes

UNKNOWN = "unknown_field"
FORM_TOKEN = "csrfmiddlewaretoken"  # of a form that a browser sends


class NoBody(serializers.Serializer):
    """Of a request that takes no fields."""


def checked_body(serializer: serializers.BaseSerializer) -> serializers.BaseSerializer:
    """The serializer of a request whose data holds no unknown field, at any depth; engagements
    are named by code.

    What is read only is left aside: a row may be sent back as it was read.

    Raises:
        ValidationError: by field, with those that there are.
    """
    if faults := _faults(serializer, serializer.initial_data):
        raise ValidationError(faults)
    take_codes(serializer)
    return serializer


def _faults(field: serializers.Field, data: Any) -> dict[str, Any] | list[Any] | None:
    """Sentences by unknown field, nested as the data is; what has another shape is left to DRF."""
    if isinstance(field, (serializers.ListSerializer, serializers.ListField)):
        if not isinstance(data, list):
            return None
        found = [_faults(field.child, entry) or {} for entry in data]
        return found if any(found) else None
    if not (isinstance(field, serializers.Serializer) and isinstance(data, Mapping)):
        return None
    if isinstance(data, QueryDict):  # `lines[0].name` stands for a nested one
        return _unknown(field, {name.partition("[")[0].partition(".")[0] for name in data})
    nested = {name: found for name, below in field.fields.items() if not below.read_only
              and (found := _faults(below, data.get(name)))}
    return {**_unknown(field, set(data)), **nested}


def _unknown(serializer: serializers.Serializer, names: set[str]) -> dict[str, Any]:
    known = [name for name, field in serializer.fields.items() if not field.read_only]
    return {name: [ErrorDetail(_(
        "There is no field “%(name)s”; available: %(known)s.") % {
            "name": name, "known": listed(known) or "–"}, UNKNOWN)]
        for name in sorted(names - set(serializer.fields) - {FORM_TOKEN})}
