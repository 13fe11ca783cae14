"""The options of a runtime, each declared once: form, API and checks follow from it."""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engagements.errors import InvalidInput
from engagements.text.number_parsing import whole_number
from workers.masking import is_secret_name, mask_text
from workers.models import RuntimePlace

PATH = re.compile(r"(~|~?(/[^/\0\n]+)+)/?")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
UMASK = re.compile(r"0?[0-7]{3}")
PROXY = re.compile(r"(https?|socks5h?)://[^\s/]+/?")
MOST_LINES, LONGEST = 40, 2000
OURS = ("DESK_JOB", "DESK_WORK")  # by these a job's processes and folder are found
ENGINE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
INSIDE_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?")
IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./:@-]{0,500}")
# Of `run`: by these a container starts once, is found again, and its end is its processes' end.
OURS_OF_RUN = ("--name", "-d", "--detach", "--rm", "--restart", "--pid", "--entrypoint", "-w",
               "--workdir", "-i", "--interactive", "-t", "--tty", "-it", "-ti", "--cidfile",
               "--network", "--net", "--user", "-u", "--shm-size")
CARDS_BY = {"": gettext_lazy("as devices, with the driver's folders"),
            "ascend": gettext_lazy("by Ascend Docker Runtime (ASCEND_VISIBLE_DEVICES)"),
            "none": gettext_lazy("not passed on by the desk")}
VENV, CONDA, MODULES = "venv", "conda", "modules"
MANAGERS = {
    "": gettext_lazy("none"), VENV: gettext_lazy("Python virtual environment (venv)"),
    CONDA: "conda", MODULES: gettext_lazy("environment modules")}


@dataclass(frozen=True)
class Option:
    """One option.

    Args:
        clean: the stored value of what was given, which is never empty; raises ValueError with
            a sentence.
        shown: the stored value as the form's text. rows: of its field; 1 is a line.
    """

    name: str
    label: Promise | str
    clean: Callable[[Any], Any]
    help_text: Promise | str = ""
    rows: int = 1
    choices: tuple[tuple[str, Any], ...] = ()
    shown: Callable[[Any], str] = str


def _lines(value: Any) -> list[str]:
    lines = value.splitlines() if isinstance(value, str) else [str(line) for line in value]
    lines = [line.strip() for line in lines if line.strip()]
    if len(lines) > MOST_LINES or any(len(line) > LONGEST for line in lines):
        raise ValueError(_("at most %(n)d lines of %(m)d characters are expected.")
                         % {"n": MOST_LINES, "m": LONGEST})
    return lines


def _text(value: Any) -> str:
    text = str(value).strip()
    if "\n" in text or "\0" in text or len(text) > LONGEST:
        raise ValueError(_("one line is expected."))
    return text


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise ValueError(_("a quotation mark is not closed.")) from None


def _path(value: Any) -> str:
    text = _text(value)
    if not PATH.fullmatch(text) or ".." in text.split("/"):
        raise ValueError(_("“%(path)s” is no absolute path; it begins with / or ~/ and holds no "
                           "“..”.") % {"path": text})
    return text


def _scripts(value: Any) -> list[str]:
    lines = _lines(value)
    for line in lines:
        words = _words(line)
        _path(words[0] if words else line)
    return lines


def _variables(value: Any) -> dict[str, str]:
    pairs = value.items() if isinstance(value, dict) else [
        line.partition("=")[::2] for line in _lines(value)]
    found = {str(name).strip().removeprefix("export ").strip(): _text(text)
             for name, text in pairs}
    for name, text in found.items():
        _variable(name, text)
    return found


def _variable(name: str, text: str) -> None:
    if not NAME.fullmatch(name):
        raise ValueError(_("“%(name)s” is no name of a variable; a line reads NAME=value.")
                         % {"name": name})
    if name in OURS:
        raise ValueError(_("“%(name)s” is set by the desk.") % {"name": name})
    if is_secret_name(name) or mask_text(f"{name}={text}") != f"{name}={text}":
        raise ValueError(_(
            "“%(name)s” looks like a secret. A runtime is shown and kept as evidence: set it in a "
            "set-up script on the node.") % {"name": name})


def _proxy(value: Any) -> str:
    text = _text(value)
    if not PROXY.fullmatch(text) or "@" in text:
        raise ValueError(_("a proxy reads http://host:port, without user and password: those "
                           "belong into a set-up script on the node."))
    return text


def _umask(value: Any) -> str:
    text = _text(value)
    if not UMASK.fullmatch(text):
        raise ValueError(_("a umask has three octal digits, such as 022."))
    return text


def _number(most: int) -> Callable[[Any], int]:
    def clean(value: Any) -> int:
        number = whole_number(str(value).strip())
        if number is None or number > most:
            raise ValueError(_("a whole number up to %(n)d is expected.") % {"n": most})
        return number

    return clean


def _one_of(choices: dict[str, Any]) -> Callable[[Any], str]:
    def clean(value: Any) -> str:
        if str(value) not in choices:
            raise ValueError(_("one of %(choices)s is expected.")
                             % {"choices": ", ".join(filter(None, choices))})
        return str(value)

    return clean


def _command(value: Any) -> str:
    text = _text(value)
    _words(text)
    return text


def _name(value: Any) -> str:
    text = _text(value)
    if not ENGINE_NAME.fullmatch(text):
        raise ValueError(_("“%(name)s” is no name; letters, digits and _ . - are expected.")
                         % {"name": text})
    return text


def _user(value: Any) -> str:
    text = _text(value)
    if not INSIDE_USER.fullmatch(text):
        raise ValueError(_("a user reads name, number, or number:number."))
    return text


def _image(value: Any) -> str:
    text = _text(value)
    if not IMAGE.fullmatch(text):
        raise ValueError(_("“%(name)s” is no image; registry/name@sha256:… or registry/name:tag is "
                           "expected.") % {"name": text})
    return text


def _entry(value: Any) -> str:
    return value if value == "image" else _path(value)


def _mounts(value: Any) -> list[str]:
    lines = _lines(value)
    for line in lines:
        source, target, *flags = [*line.split(":"), ""][:4]
        if not target.startswith("/") or flags[:1] not in (["ro"], ["rw"], [""]) or (
                line.count(":") > 2):
            raise ValueError(_("“%(line)s” is no mount; a line reads /on/the/node:/inside or "
                               "/on/the/node:/inside:ro.") % {"line": line})
        _path(source)
    return lines


def _run_options(value: Any) -> str:
    """Words for the engine's `run`, none of which breaks a promise of ours."""
    text = _text(value)
    for word in _words(text):
        name = word.partition("=")[0]
        if name in OURS_OF_RUN:
            raise ValueError(_("the desk itself sets “%(word)s”.") % {"word": word})
    return text


def _joined(lines: list[str]) -> str:
    return "\n".join(lines)


def _pairs(variables: dict[str, str]) -> str:
    return "\n".join(f"{name}={text}" for name, text in variables.items())


OPTIONS = (
    Option("scripts", gettext_lazy("Set-up scripts"), _scripts, gettext_lazy(
        "One per line, in order, each with its arguments; sourced by bash where there is one. "
        "One that is missing or fails ends the job. For example "
        "/usr/local/Ascend/ascend-toolkit/set_env.sh"), rows=4, shown=_joined),
    Option("manager", gettext_lazy("Environment"), _one_of(MANAGERS),
           choices=tuple(MANAGERS.items())),
    Option("environment", gettext_lazy("Which environment"), _text, gettext_lazy(
        "Folder of the venv; name or folder of the conda environment; names of the modules, "
        "separated by spaces.")),
    Option("manager_root", gettext_lazy("Where conda or the modules are"), _path, gettext_lazy(
        "Folder of the conda installation, or the modules' start file. Empty: the usual places.")),
    Option("variables", gettext_lazy("Variables"), _variables, gettext_lazy(
        "One NAME=value per line; ${NAME} stands for the present value, as in "
        "LD_LIBRARY_PATH=/opt/lib:${LD_LIBRARY_PATH}. What the kind of job sets comes after "
        "them."), rows=4, shown=_pairs),
    Option("folder", gettext_lazy("Working folder"), _path, gettext_lazy(
        "Empty: the job's own folder, from which files are collected; a command elsewhere finds "
        "it as ${DESK_WORK}.")),
    Option("umask", gettext_lazy("umask"), _umask),
    Option("nice", gettext_lazy("nice"), _number(19), gettext_lazy(
        "0 to 19: the higher, the more it gives way to others.")),
    Option("proxy", gettext_lazy("Proxy"), _proxy, "http://proxy:3128"),
    Option("no_proxy", gettext_lazy("Without proxy"), _text, gettext_lazy(
        "Separated by commas: localhost,127.0.0.1,.internal")),
    Option("wrapper", gettext_lazy("Wrapper command"), _command, gettext_lazy(
        "Stands before the command, as numactl -N 0 does.")),
)


USER = Option("user", gettext_lazy("User inside"), _user, gettext_lazy(
    "As the engine takes it: name or number, with a group after a colon. Empty: the image's own."))
DEVICES = Option("devices", gettext_lazy("Passing cards on"), _one_of(CARDS_BY), gettext_lazy(
    "Only those that the job has leased."), choices=tuple(CARDS_BY.items()))
NEW = (
    Option("image", gettext_lazy("Image"), _image, gettext_lazy(
        "By digest: registry/name@sha256:…; a name with a tag may mean another image tomorrow.")),
    DEVICES,
    Option("shm_gb", gettext_lazy("Shared memory (GB)"), _number(4096)),
    Option("network", gettext_lazy("Network"), _name, gettext_lazy(
        "Empty: host, which jobs on several nodes need.")),
    Option("mounts", gettext_lazy("Mounts"), _mounts, gettext_lazy(
        "One per line: folder on the node:folder inside, then :ro where it is only read. The "
        "job's own folder is always there, under the same name."), rows=4, shown=_joined),
    USER,
    Option("entry_point", gettext_lazy("Entry point"), _entry, gettext_lazy(
        "Empty: the command begins at once. “image”: the image's own begins and is given the "
        "command; or the path of another.")),
    Option("run_options", gettext_lazy("More options of the engine's run"), _run_options),
)
RUNNING = (
    Option("container", gettext_lazy("Container"), _name, gettext_lazy(
        "Its name on the node. It must run and see the node's scratch folder through a mount.")),
    DEVICES, USER,
)
OF_PLACE = {RuntimePlace.HOST: (), RuntimePlace.CONTAINER: NEW, RuntimePlace.RUNNING: RUNNING}
REQUIRED = {RuntimePlace.CONTAINER: "image", RuntimePlace.RUNNING: "container"}


def for_place(place: str) -> tuple[Option, ...]:
    """The options of a place, in the form's order."""
    return (*OF_PLACE[RuntimePlace(place)], *OPTIONS)


def cleaned(place: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options that are set, checked.

    Raises InvalidInput naming the option that cannot be used.
    """
    known = {option.name: option for option in for_place(place)}
    if unknown := sorted(set(options) - set(known)):
        raise InvalidInput(_("Unknown options of the runtime: %(names)s.")
                           % {"names": ", ".join(map(str, unknown))})
    found = {name: _cleaned(option, options[name]) for name, option in known.items()
             if options.get(name) not in (None, "", [], {})}
    if (needed := REQUIRED.get(RuntimePlace(place))) and needed not in found:
        raise InvalidInput(_("“%(option)s” is missing.") % {"option": known[needed].label},
                           parameters={needed: [_("This is needed.")]})
    _require_environment(found)
    return {name: value for name, value in found.items() if value not in ("", 0, [], {})}


def _cleaned(option: Option, value: Any) -> Any:
    try:
        return option.clean(value)
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{option.label}: {error}",
                           parameters={option.name: [str(error)]}) from error


def _require_environment(found: dict[str, Any]) -> None:
    manager, environment = found.get("manager", ""), found.get("environment", "")
    if bool(manager) != bool(environment):
        raise InvalidInput(_("Name both the kind of environment and which one, or neither."))
    if manager == VENV:
        found["environment"] = _cleaned(next(
            option for option in OPTIONS if option.name == "manager_root"), environment)
    if "manager_root" in found and manager not in (CONDA, MODULES):
        raise InvalidInput(_("“%(option)s” is for conda and modules only.")
                           % {"option": gettext_lazy("Where conda or the modules are")})


def shown(place: str, options: dict[str, Any]) -> list[tuple[str, str]]:
    """Label and text of the options that are set, for a page."""
    return [(str(option.label), _text_of(option, options[option.name]))
            for option in for_place(place) if option.name in options]


def _text_of(option: Option, value: Any) -> str:
    return str(dict(option.choices)[value]) if option.choices else option.shown(value)
