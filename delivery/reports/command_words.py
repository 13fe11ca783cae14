"""Commands as documents print them: every word, and of a script within them what identifies it."""

import shlex
from hashlib import sha256

from django.utils.translation import gettext as _


def shown_command(argv: list[str]) -> str:
    """The command in the active language. The annex file has the text of each script."""
    return " ".join(map(_word, argv))


def _word(word: str) -> str:
    if not is_script(word):
        return shlex.quote(word)
    return _("<script of %(lines)d lines, SHA-256 %(digest)s…>") % {
        "lines": line_count(word), "digest": digest_of(word)[:12]}


def is_script(word: str) -> bool:
    """Whether a word of a command is a program of several lines."""
    return "\n" in word


def line_count(script: str) -> int:
    return script.count("\n") + 1


def digest_of(script: str) -> str:
    """SHA-256 of its text."""
    return sha256(script.encode()).hexdigest()
