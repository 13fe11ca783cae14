"""A job's command for people: a script among its words is named in the line and shown below it."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

LONGEST_WORD = 400  # characters; what is longer is a script


@dataclass(frozen=True)
class Word:
    """A word of the command; `script_name` is empty where it is no script."""

    text: str
    script_name: str = ""


def of_command(command: list[str]) -> list[Word]:
    """All words in their order; several scripts are numbered."""
    scripts = [at for at, text in enumerate(command) if len(text) > LONGEST_WORD]
    return [Word(text, _script_name(scripts, at)) for at, text in enumerate(command)]


def _script_name(scripts: list[int], at: int) -> str:
    if at not in scripts:
        return ""
    if len(scripts) == 1:
        return _("Script")
    return _("Script %(n)d") % {"n": scripts.index(at) + 1}
