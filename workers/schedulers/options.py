"""The options of a cluster: how jobs are handed to its scheduler."""

import re
import shlex
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engagements.errors import InvalidInput
from engagements.text.number_parsing import whole_number

NAME = re.compile(r"[A-Za-z0-9_.,:@+-]{0,120}")
FOLDER = re.compile(r"(/[A-Za-z0-9_./-]{0,200})?")
# Of `sbatch`: each would break a promise of ours, such as one job by one name, run once.
OURS = ("--job-name", "-J", "--array", "-a", "--requeue", "--wrap", "--parsable", "--output", "-o",
        "--error", "-e", "--input", "-i", "--chdir", "-D", "--wait", "-W", "--test-only", "--gres",
        "--time", "-t", "--nodes", "-N")


@dataclass(frozen=True)
class Option:
    """One option; numbers have a greatest value, texts have none."""

    name: str
    label: Promise
    help_text: Promise | str = ""
    initial: str | int = ""
    most: int | None = None


OPTIONS = (
    Option("partition", gettext_lazy("Partition")),
    Option("account", gettext_lazy("Account")),
    Option("qos", gettext_lazy("Quality of service")),
    Option("gres", gettext_lazy("Name of the cards as a resource"),
           gettext_lazy("As the cluster calls them: npu, or npu:910b."), initial="npu"),
    Option("nodes", gettext_lazy("Nodes per job"), gettext_lazy(
        "Each gives the job's number of cards; the command starts on the first one."),
        initial=1, most=4096),
    Option("minutes", gettext_lazy("Time limit (minutes)"), gettext_lazy(
        "0: the job's own time limit, and five minutes more."), initial=0, most=527_040),
    Option("words", gettext_lazy("More words for sbatch"), gettext_lazy(
        "As in a shell, for example --exclusive --constraint=910b")),
    Option("programs", gettext_lazy("Folder of the scheduler's commands"), gettext_lazy(
        "Where log-in shells without a terminal do not find them; for example "
        "/opt/slurm/bin")),
)


def cleaned(options: dict) -> dict:
    """The options that are set, checked.

    Raises InvalidInput naming the option that cannot be used.
    """
    known = {option.name: option for option in OPTIONS}
    if unknown := sorted(set(options) - set(known)):
        raise InvalidInput(_("Unknown options of the scheduler: %(names)s.")
                           % {"names": ", ".join(map(str, unknown))})
    found = {name: _value(known[name], value) for name, value in options.items()}
    return {name: value for name, value in found.items() if value}


def _value(option: Option, value: object) -> str | int:
    text = str(value if value is not None else "").strip()
    if option.most is not None:
        number = whole_number(text or "0")
        if number is None or number > option.most:
            _refuse(option, text)
        return number
    if option.name == "words":
        _words(option, text)
    elif not (FOLDER if option.name == "programs" else NAME).fullmatch(text):
        _refuse(option, text)
    return text


def _words(option: Option, text: str) -> None:
    try:
        words = shlex.split(text)
    except ValueError:
        _refuse(option, text)
    for word in words:
        name = word.partition("=")[0]
        short = name[:2] if not name.startswith("--") else name
        if not word.startswith("-") or name in OURS or short in OURS:
            raise InvalidInput(_("The desk itself sets “%(word)s” of sbatch, or it is no option; "
                                 "values follow an equals sign.") % {"word": word})


def _refuse(option: Option, text: str) -> None:
    raise InvalidInput(_("“%(value)s” cannot be used as “%(option)s”.")
                       % {"value": text, "option": option.label})
