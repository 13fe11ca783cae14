"""The text of `command.sh`, which a job's wrapper runs: the one place where argv is wrapped.

A kind gives argv and variables, a job on several nodes gives files and further variables, the
runtime says in what they run. Whoever starts the wrapper – the desk's own queue or a cluster's
scheduler – starts this text.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from workers.remote.scripts import quote
from workers.runtimes import activation
from workers.runtimes.chosen import Chosen


@dataclass(frozen=True)
class Launch:
    """What a job starts.

    Args:
        variables: of the command, literally but for a leading ~/.
        files: laid into the work folder beforehand, by name.
    """

    argv: list[str]
    variables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


def text(launch: Launch, runtime: Chosen) -> str:
    """Shell text, to be run in the job's work folder by the wrapper."""
    laid = [f"printf '%s' {shlex.quote(content)} > {shlex.quote(name)}"
            for name, content in launch.files.items()]
    inner = "\n".join([
        'export DESK_WORK="$PWD"', *activation.lines(runtime.options),
        *(f"export {name}={quote(value)}" for name, value in sorted(launch.variables.items())),
        activation.command(runtime.options, launch.argv)])
    return "\n".join([*laid, *_in_bash(inner, runtime)]) + "\n"


def _in_bash(inner: str, runtime: Chosen) -> list[str]:
    """The text itself, where no script is sourced that may be written for bash."""
    if not activation.needs_functions(runtime.options):
        return [inner]
    return ["shell=sh; command -v bash > /dev/null 2>&1 && shell=bash",
            f'exec "$shell" -c {shlex.quote(inner)}']
