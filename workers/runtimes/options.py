"""The options of a runtime, each declared once: form, API and checks follow from it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engagements.errors import InvalidInput
from workers.models import RuntimePlace
from workers.runtimes import option_values as values

CARDS_BY = {"": gettext_lazy("as devices, with the driver's folders"),
            "ascend": gettext_lazy("by Ascend Docker Runtime (ASCEND_VISIBLE_DEVICES)"),
            "none": gettext_lazy("not passed on by the desk")}
VENV, CONDA, MODULES = "venv", "conda", "modules"
# ASCEND_GLOBAL_LOG_LEVEL and ASCEND_SLOG_PRINT_TO_STDOUT (CANN 8.x, environment variables).
LOG_LEVELS = {"": gettext_lazy("as the node has it (error)"), "0": "debug", "1": "info",
              "2": "warning", "3": "error", "4": gettext_lazy("no log")}
LOG_TO = {"": gettext_lazy("as the node has it (files)"), "0": gettext_lazy("files (plog)"),
          "1": gettext_lazy("the command's output; no files")}
COLLECT, NODES_PLOG = "collect", "node"
PLOG = {"": gettext_lazy("in the job's folder unless the node names another, collected when it "
                         "fails"),
        COLLECT: gettext_lazy("in the job's folder, collected when it fails"),
        NODES_PLOG: gettext_lazy("where the node writes them")}
# CANN's log where neither node nor runtime says anything else: errors, into files of the job.
LOG_DEFAULTS = {"ASCEND_GLOBAL_LOG_LEVEL": "3", "ASCEND_SLOG_PRINT_TO_STDOUT": "0",
                "ASCEND_PROCESS_LOG_PATH": "$DESK_WORK/plog"}
LOG_VARIABLES = {"log_level": "ASCEND_GLOBAL_LOG_LEVEL", "log_to": "ASCEND_SLOG_PRINT_TO_STDOUT"}
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


def _joined(lines: list[str]) -> str:
    return "\n".join(lines)


def _pairs(variables: dict[str, str]) -> str:
    return "\n".join(f"{name}={text}" for name, text in variables.items())


OPTIONS = (
    Option("scripts", gettext_lazy("Set-up scripts"), values.scripts, gettext_lazy(
        "One per line, in order, each with its arguments; sourced by bash where there is one. "
        "One that is missing or fails ends the job. For example "
        "/usr/local/Ascend/ascend-toolkit/set_env.sh"), rows=4, shown=_joined),
    Option("manager", gettext_lazy("Environment"), values.one_of(MANAGERS),
           choices=tuple(MANAGERS.items())),
    Option("environment", gettext_lazy("Which environment"), values.one_line, gettext_lazy(
        "Folder of the venv; name or folder of the conda environment; names of the modules, "
        "separated by spaces.")),
    Option("manager_root", gettext_lazy("Where conda or the modules are"), values.path,
           gettext_lazy("Folder of the conda installation, or the modules' start file. Empty: the "
                        "usual places.")),
    Option("variables", gettext_lazy("Variables"), values.variables, gettext_lazy(
        "One NAME=value per line; ${NAME} stands for the present value, as in "
        "LD_LIBRARY_PATH=/opt/lib:${LD_LIBRARY_PATH}. What the kind of job sets comes after "
        "them."), rows=4, shown=_pairs),
    Option("libraries", gettext_lazy("Folders of libraries"), values.paths, gettext_lazy(
        "One per line, searched before the others (LD_LIBRARY_PATH)."), rows=2, shown=_joined),
    Option("log_level", gettext_lazy("CANN: log level"), values.one_of(LOG_LEVELS),
           choices=tuple(LOG_LEVELS.items())),
    Option("log_to", gettext_lazy("CANN: log goes to"), values.one_of(LOG_TO),
           choices=tuple(LOG_TO.items())),
    Option("plog", gettext_lazy("CANN: log files"), values.one_of(PLOG),
           choices=tuple(PLOG.items())),
    Option("folder", gettext_lazy("Working folder"), values.path, gettext_lazy(
        "Empty: the job's own folder, from which files are collected; a command elsewhere finds "
        "it as ${DESK_WORK}.")),
    Option("umask", gettext_lazy("umask"), values.umask),
    Option("nice", gettext_lazy("nice"), values.number(19), gettext_lazy(
        "0 to 19: the higher, the more it gives way to others.")),
    Option("proxy", gettext_lazy("Proxy"), values.proxy, "http://proxy:3128"),
    Option("no_proxy", gettext_lazy("Without proxy"), values.one_line, gettext_lazy(
        "Separated by commas: localhost,127.0.0.1,.internal")),
    Option("wrapper", gettext_lazy("Wrapper command"), values.command, gettext_lazy(
        "Placed before the command, for example numactl -N 0.")),
)


USER = Option("user", gettext_lazy("User inside"), values.user, gettext_lazy(
    "As the engine takes it: name or number, with a group after a colon. Empty: the image's own."))
DEVICES = Option("devices", gettext_lazy("Passing cards on"), values.one_of(CARDS_BY), gettext_lazy(
    "Only those that the job has leased."), choices=tuple(CARDS_BY.items()))
NEW = (
    Option("image", gettext_lazy("Image"), values.image, gettext_lazy(
        "By digest: registry/name@sha256:…; a name with a tag may mean another image tomorrow.")),
    DEVICES,
    Option("shm_gb", gettext_lazy("Shared memory (GB)"), values.number(4096)),
    Option("network", gettext_lazy("Network"), values.name, gettext_lazy(
        "Empty: host, which jobs on several nodes need.")),
    Option("mounts", gettext_lazy("Mounts"), values.mounts, gettext_lazy(
        "One per line: folder on the node:folder inside, then :ro where it is only read. The "
        "job's own folder is always there, under the same name."), rows=4, shown=_joined),
    USER,
    Option("entry_point", gettext_lazy("Entry point"), values.entry_point, gettext_lazy(
        "Empty: the command begins at once. “image”: the image's own begins and is given the "
        "command; or the path of another.")),
    Option("run_options", gettext_lazy("More options of the engine's run"), values.run_options),
)
RUNNING = (
    Option("container", gettext_lazy("Container"), values.name, gettext_lazy(
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
