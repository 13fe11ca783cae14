"""Options of a cluster, as data: each kind of cluster declares its own, in the form's order."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engagements.errors import InvalidInput
from toolreaders.number_parsing import whole_number

NAME = re.compile(r"[A-Za-z0-9_.,:@+-]{0,120}")
FOLDER = re.compile(r"(/[A-Za-z0-9_./-]{0,200})?")


@dataclass(frozen=True)
class Option:
    """One option; numbers have a greatest value, texts have none.

    Args:
        pattern: that the text has to match.
        check: of a text that is not empty; raises ValueError with a sentence.
        rows: of its field; 1 is a line. shown: the stored value on a page.
    """

    name: str
    label: Promise | str
    help_text: Promise | str = ""
    initial: str | int = ""
    most: int | None = None
    pattern: re.Pattern[str] = NAME
    check: Callable[[str], object] | None = None
    rows: int = 1
    is_required: bool = False
    shown: Callable[[str], str] = str


NODES = Option("nodes", gettext_lazy("Nodes per job"), gettext_lazy(
    "Each gives the job's number of cards. Under Slurm the command starts on the first one, under "
    "Volcano and ModelArts on each, with NNODES, NODE_RANK, MASTER_ADDR and MASTER_PORT."),
    initial=1, most=4096)
MINUTES = Option("minutes", gettext_lazy("Time limit (minutes)"), gettext_lazy(
    "0: the job's own time limit, and five minutes more."), initial=0, most=527_040)


def cleaned(declared: Collection[Option], options: dict) -> dict:
    """The options that are set, checked.

    Raises InvalidInput naming the option that cannot be used or is missing.
    """
    known = {option.name: option for option in declared}
    if unknown := sorted(set(options) - set(known)):
        raise InvalidInput(_("Unknown options of the scheduler: %(names)s.")
                           % {"names": ", ".join(map(str, unknown))})
    found = {name: _value(known[name], value) for name, value in options.items()}
    for option in declared:
        if option.is_required and not found.get(option.name):
            raise InvalidInput(_("“%(option)s” is missing.") % {"option": option.label})
    return {name: value for name, value in found.items() if value}


def _value(option: Option, value: object) -> str | int:
    text = str(value if value is not None else "").strip()
    if option.most is not None:
        number = whole_number(text or "0")
        if number is None or number > option.most:
            _refuse(option, text)
        return number
    if not option.pattern.fullmatch(text):
        _refuse(option, text)
    if text and option.check:
        try:
            option.check(text)
        except ValueError as error:
            raise InvalidInput(f"{option.label}: {error}") from error
    return text


def _refuse(option: Option, text: str) -> None:
    raise InvalidInput(_("“%(value)s” cannot be used as “%(option)s”.")
                       % {"value": text, "option": option.label})
