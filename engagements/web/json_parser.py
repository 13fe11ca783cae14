"""The REST API's JSON parser, with the limits of `bundle_verifier.json_limits`, texts printable."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import JSONParser

from bundle_verifier.json_limits import JSONTooComplex, check_limits
from engagements.text.printable_text import refused_character, unprintable_in


class BoundedJSONParser(JSONParser):
    """DRF's JSON parser with the limits above: 400 instead of an exhausted stack.

    A text with characters that show nothing is refused under the name of its field: what a
    program sends is not changed behind its back.
    """

    def parse(self, stream, media_type=None, parser_context=None):
        try:
            value = super().parse(stream, media_type, parser_context)
            check_limits(value)
        except RecursionError as error:
            raise ParseError(_("The JSON is nested too deeply."), "too_complex") from error
        except JSONTooComplex as error:
            raise ParseError(str(error), "too_complex") from error
        refused = dict(_unprintable_fields(value))
        if refused:
            raise ValidationError(refused, code="unprintable")
        return value


def _unprintable_fields(value: Any) -> Iterator[tuple[str, str]]:
    """(field of the top level, sentence) for what holds an unprintable character."""
    entries = value.items() if isinstance(value, dict) else [("non_field_errors", value)]
    for name, entry in entries:
        if found := next(filter(None, map(refused_character, _texts([name, entry]))), ""):
            yield name if not unprintable_in(name) else "non_field_errors", found


def _texts(value: Any) -> Iterator[str]:
    """Every text in a parsed value, keys too; its depth has been checked."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for entry in value.values():
            yield from _texts(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(entry)
