"""The text of `command.sh`, which a job's wrapper runs: the one place where argv is wrapped.

A kind gives argv and variables, a job on several nodes gives files and further variables, the
runtime says in what they run. Whoever starts the wrapper – the desk's own queue or a cluster's
scheduler – starts this text.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from workers.models import Node, RuntimePlace
from workers.remote.scripts import quote
from workers.runtimes import activation, containers
from workers.runtimes.chosen import Chosen

CARDS = "ASCEND_RT_VISIBLE_DEVICES"


@dataclass(frozen=True)
class Launch:
    """What a job starts.

    Args:
        variables: of the command, literally but for a leading ~/.
        cards: leased ones, as the node counts them; none where a cluster's scheduler names them.
        files: laid into the work folder beforehand, by name.
        paths: variables that name a file of the work folder, wherever that is.
    """

    argv: list[str]
    variables: Mapping[str, str] = field(default_factory=dict)
    cards: list[int] = field(default_factory=list)
    files: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)


def text(launch: Launch, runtime: Chosen, node: Node) -> str:
    """Shell text, to be run in the job's work folder on the node by the wrapper."""
    laid = [f"printf '%s' {shlex.quote(content)} > {shlex.quote(name)}"
            for name, content in launch.files.items()]
    inner = _inner(launch, runtime)
    started = _in_bash(inner, runtime) \
        if runtime.place == RuntimePlace.HOST or node.makes_containers \
        else [containers.text(inner, runtime, node, launch.cards)]
    return "\n".join([*laid, *started]) + "\n"


def _inner(launch: Launch, runtime: Chosen) -> str:
    """What is run where the command runs: its environment, then the command in its place."""
    variables = dict(launch.variables)
    if launch.cards and runtime.place == RuntimePlace.HOST:
        variables[CARDS] = ",".join(map(str, launch.cards))
    return "\n".join([
        'export DESK_WORK="$PWD"', *activation.lines(runtime.options),
        *(f"export {name}={quote(value)}" for name, value in sorted(variables.items())),
        *(f'export {name}="$DESK_WORK"/{quote(file)}' for name, file in launch.paths.items()),
        activation.command(runtime.options, launch.argv)])


def _in_bash(inner: str, runtime: Chosen) -> list[str]:
    """The text itself, where no script is sourced that may be written for bash."""
    if not activation.needs_functions(runtime.options):
        return [inner]
    return ["shell=sh; command -v bash > /dev/null 2>&1 && shell=bash",
            f'exec "$shell" -c {shlex.quote(inner)}']
