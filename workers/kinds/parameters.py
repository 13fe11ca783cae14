"""The typed parameters of a job kind: what is allowed, as form value, JSON and JSON Schema."""

import math
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from bundle_verifier.json_limits import MAX_INTEGER
from engagements.errors import InvalidInput
from toolreaders.masking import MASK, mask_value, mask_words
from workers.kinds.references import PREFIX, Reference, reference_of

UNSAFE_IN_PATH = re.compile(r"[\x00-\x1f\x7f:\ud800-\udfff]")
CARDS_OF_A_NODE = 8  # of the usual server, where nothing else is said
MOST_WORDS, LONGEST_WORD, LONGEST_SCRIPT = 200, 4000, 90_000  # a word of Linux ends at 128 kB
# To where a value stands, with what printf makes of the end of a text.
REFERENCE_OF_SHELL = re.compile(r"\$(?:\w+|\{[^}\n]*\}|\([^)\n]*\))(?:\\\w+)*")
OPTION = re.compile(r"-(?![\d.])")
SAFE_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_./:@+~-]*$")


@dataclass(frozen=True)
class Parameter:
    """One typed parameter.

    Args:
        type: text, name (of a branch, an image, an address), path, integer, number, choice,
            flag, artifact (id of a stored file), words (of a command line) or script (its lines).
        label, help: lazy translations.
        minimum, maximum: inclusive bounds of integer and number.
        choices: what the tool takes; `names` says in words what those mean that do not say so.
        takes: kinds whose files it is for: their jobs offer to hand them over.
        is_always_shown: the form does not fold it where it is empty.
        must_confirm: a flag that must be set, for what cannot be undone or needs an approval.
    """

    name: str
    label: Any
    type: str = "text"
    default: Any = None
    is_required: bool = True
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    names: Mapping[str, Any] = field(default_factory=dict)
    unit: str = ""
    help: Any = ""
    takes: tuple[str, ...] = ()
    must_confirm: bool = False
    is_always_shown: bool = False

    def clean(self, value: Any) -> Any:
        """The value in its type. Raises InvalidInput naming the parameter."""
        if self.must_confirm and not self._clean_flag(value):
            raise InvalidInput(_("“%(label)s” must be confirmed.") % {"label": self.label})
        if value in (None, "", []):
            value = self.default
        if value in (None, ""):
            if self.is_required and self.type != "flag":
                raise InvalidInput(_("“%(label)s” is missing.") % {"label": self.label})
            return False if self.type == "flag" else None
        cleaned = getattr(self, f"_clean_{self.type}")(value)
        if self.type in ("text", "words", "script"):
            self._refuse_secret(cleaned)
        return cleaned

    def _refuse_secret(self, value: str | list[str]) -> None:
        """What is given stands in log, audit log, API, backups and evidence; the stored script has
        to run as it is shown, so that nothing in it may be masked."""
        is_list = isinstance(value, list)
        given = REFERENCE_OF_SHELL.sub(MASK, "\n".join(value) if is_list else value)
        lines = mask_words(given.split("\n")) if is_list else (
            str(mask_value(self.name, given)).split("\n"))
        at = next((n for n, (shown, was) in enumerate(zip(lines, given.split("\n"), strict=False))
                   if shown != was), None)
        if at is not None:
            line = " ".join(lines[max(at - is_list, 0):at + 1])
            raise InvalidInput(_(
                "“%(label)s” holds what looks like a password or key: “%(line)s”. It would be kept "
                "and shown. Set a variable in a set-up script on the node, or read a file there, "
                "and write $NAME or $(cat FILE) here.") % {"label": self.label,
                                                           "line": line.strip()[:200]})

    def shown(self, value: Any) -> str:
        """The value for people: of a choice its name, with the tool's own word behind it."""
        if isinstance(value, bool):
            return _("yes") if value else _("no")
        if isinstance(value, list):
            return shlex.join(value)
        name = str(self.names.get(value, value))
        return name if name == str(value) else f"{name} ({value})"

    def _reject(self, why: str):
        raise InvalidInput(f"{self.label}: {why}")

    def _clean_text(self, value) -> str:
        text = str(value)
        if "\0" in text or "\n" in text or len(text) > 500:
            self._reject(_("one line of at most 500 characters is expected."))
        if self.type == "text" and OPTION.match(text):
            self._reject(_("a value that begins with “-” would be read as an option."))
        return text

    def _clean_path(self, value) -> str:
        text = self._clean_text(value)
        if text.startswith(PREFIX):
            if (reference := reference_of(text)) is None:
                self._reject(_("this names no file: desk:file/…, desk:job/…, desk:work/… or "
                               "desk:node/… and a number are known."))
            return str(reference)
        if UNSAFE_IN_PATH.search(text) or text.startswith("-") or ".." in text.split("/"):
            self._reject(_("a path is expected that does not begin with “-” and holds neither "
                           "“..” nor a colon."))
        return text

    def _clean_name(self, value) -> str:
        text = self._clean_text(value)
        if not SAFE_NAME.match(text):
            self._reject(_("a name of letters, digits and _ . / : @ + ~ - is expected."))
        return text

    def _number(self, value, kind):
        try:
            number = kind(value)
        except (TypeError, ValueError, OverflowError):
            self._reject(_("a number is expected."))
        if abs(number) > MAX_INTEGER if isinstance(number, int) else not math.isfinite(number):
            self._reject(_("a number is expected."))
        low, high = self.minimum, self.maximum
        if (low is not None and number < low) or (high is not None and number > high):
            self._reject(_("a value from %(low)s to %(high)s is expected.")
                         % {"low": low if low is not None else "−∞",
                            "high": high if high is not None else "∞"})
        return number

    def _clean_integer(self, value) -> int:
        return self._number(value, int)

    def _clean_number(self, value) -> float:
        return self._number(value, float)

    def _clean_artifact(self, value) -> int:
        return self._number(value, int)

    def _clean_words(self, value) -> list[str]:
        try:
            words = as_words(value)
        except ValueError:
            self._reject(_("a quote is opened and not closed."))
        if len(words) > MOST_WORDS or any(len(word) > LONGEST_WORD for word in words):
            self._reject(_("at most %(words)d words of at most %(length)d characters are "
                           "expected.") % {"words": MOST_WORDS, "length": LONGEST_WORD})
        if any("\0" in word for word in words):
            self._reject(_("a word holds a NUL character."))
        return words

    def _clean_script(self, value) -> str:
        text = str(value).replace("\r\n", "\n")
        if "\0" in text or len(text.encode("utf-8", "replace")) > LONGEST_SCRIPT:
            self._reject(_("a text of at most %(n)d bytes is expected.") % {"n": LONGEST_SCRIPT})
        return text

    def _clean_flag(self, value) -> bool:
        return value in (True, "true", "True", "on", "1", 1)

    def _clean_choice(self, value) -> str:
        if str(value) not in self.choices:
            self._reject(_("one of %(choices)s is expected.")
                         % {"choices": ", ".join(map(self.shown, self.choices))})
        return str(value)

    def schema(self) -> dict:
        """The parameter as JSON Schema."""
        types = {"integer": "integer", "artifact": "integer", "number": "number",
                 "flag": "boolean", "words": ["array", "string"]}
        entry: dict[str, Any] = {"type": types.get(self.type, "string"), "title": str(self.label)}
        optional = {"description": str(self.help), "default": self.default,
                    "minimum": self.minimum, "maximum": self.maximum,
                    "enum": list(self.choices), "x-unit": self.unit,
                    "x-names": {value: str(name) for value, name in self.names.items()},
                    "const": True if self.must_confirm else None}
        if self.type == "words":  # a text is split as a shell would
            entry["items"] = {"type": "string"}
        entry.update({k: v for k, v in optional.items() if v not in (None, "", [], {})})
        return entry

    def example(self) -> Any:
        """A value of the type, for the catalogue's example command."""
        if self.default is not None or not self.is_required:
            return self.default
        samples = {"path": f"~/{self.name}", "integer": self.minimum or 1, "artifact": 1,
                   "number": self.minimum or 1, "choice": (self.choices or ("",))[0],
                   "flag": self.must_confirm, "words": [self.name]}
        return samples.get(self.type, self.name)


def as_words(value: Any) -> list[str]:
    """The words of a command line from a list, or from a text, which is split as a shell would.

    Raises ValueError where a quote of the text is not closed.
    """
    if isinstance(value, (list, tuple)):
        return [str(word) for word in value]
    return shlex.split(str(value or ""))


def references_in(parameters: Iterable[Parameter], values: Mapping[str, Any]
                  ) -> dict[str, Reference]:
    """The references of a job's values by slot: the parameter's name, for words with a number."""
    found = {slot: reference_of(text) for slot, text in _texts(parameters, values)}
    return {slot: reference for slot, reference in found.items() if reference}


def with_paths(parameters: Iterable[Parameter], values: Mapping[str, Any],
               paths: Mapping[str, str]) -> dict[str, Any]:
    """The values with paths of the node in place of references, by slot."""
    placed = dict(values)
    for parameter in parameters:
        name, value = parameter.name, values.get(parameter.name)
        if parameter.type == "words" and isinstance(value, list):
            placed[name] = [paths.get(f"{name}-{n}", word) for n, word in enumerate(value, 1)]
        elif name in paths:
            placed[name] = paths[name]
    return placed


def _texts(parameters: Iterable[Parameter], values: Mapping[str, Any]):
    for parameter in parameters:
        value = values.get(parameter.name)
        if parameter.type == "path":
            yield parameter.name, value
        elif parameter.type == "words" and isinstance(value, list):
            for number, word in enumerate(value, 1):
                yield f"{parameter.name}-{number}", word
