"""Sentences kept as message id and values; a value may be such a sentence itself.

A message that counts something has its singular declared with `ngettext_noop`, and which of its
values is the number: what is kept stays an id and values.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext, ngettext

# By message id, the plural: its singular and the name of the value that counts.
_counted: dict[str, tuple[str, str]] = {}
# By the plural of a noun with its number: the singular and the name of the value.
_nouns: dict[str, tuple[str, str]] = {}


def ngettext_noop(singular: str, plural: str, number: str) -> str:
    """Declare the singular of a message, which is the plural; call it while modules are loaded,
    since what is kept is also read by processes that never said it.

    Args:
        number: the name of the value that decides between the two.
    """
    _counted[plural] = (singular, number)
    return plural


def declare_noun(plural: str, singular: str, number: str) -> None:
    """Declare a noun that stands beside the number a sentence follows (“in 1 file”).

    `ngettext` follows one number; English, the language of the messages, has forms for the others
    too, and a noun without a verb of its own follows by itself.
    """
    _nouns[plural] = (singular, number)


def nested(message: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A sentence as a value of another one."""
    return {"message": message, "values": dict(values)}


def sentence_of(message: str, values: Mapping[str, Any]) -> str:
    """The sentence in the active language.

    Raises KeyError, TypeError, ValueError where values and placeholders do not fit.
    """
    return _translated(message, values) % {name: _shown(value) for name, value in values.items()}


def _translated(message: str, values: Mapping[str, Any]) -> str:
    if message not in _counted:
        return _with_single_nouns(gettext(message), values)
    singular, number = _counted[message]
    return _with_single_nouns(ngettext(singular, message, values[number]), values)


def _with_single_nouns(text: str, values: Mapping[str, Any]) -> str:
    for plural, (singular, number) in _nouns.items():
        if values.get(number) == 1:
            text = text.replace(plural, singular)
    return text


def _shown(value: Any) -> Any:
    if isinstance(value, Mapping) and set(value) == {"message", "values"}:
        return sentence_of(value["message"], value["values"])
    return value
