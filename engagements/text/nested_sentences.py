"""Sentences kept as message id and values; a value may be such a sentence itself."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext


def nested(message: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A sentence as a value of another one."""
    return {"message": message, "values": dict(values)}


def sentence_of(message: str, values: Mapping[str, Any]) -> str:
    """The sentence in the active language.

    Raises KeyError, TypeError, ValueError where values and placeholders do not fit.
    """
    return gettext(message) % {name: _shown(value) for name, value in values.items()}


def _shown(value: Any) -> Any:
    if isinstance(value, Mapping) and set(value) == {"message", "values"}:
        return sentence_of(value["message"], value["values"])
    return value
