"""The scripts that run on a node: plain POSIX sh with coreutils or busybox."""

import shlex
from pathlib import Path

_HERE = Path(__file__).parent
_END = "DESK_END_OF_FILE_7f3a"


def quote(argument: str) -> str:
    """One shell word; a leading ~/ becomes the login's home folder."""
    if argument == "~":
        return '"$HOME"'
    if argument.startswith("~/"):
        return '"$HOME"/' + (shlex.quote(argument[2:]) if argument[2:] else "")
    return shlex.quote(argument)


def command_text(argv: list[str], environment: dict[str, str], set_env: str = "") -> str:
    """The text of `command.sh`: environment script, variables, then exec of the argument list."""
    lines = []
    if set_env:
        lines.append(f"[ -f {quote(set_env)} ] && . {quote(set_env)}")
    lines += [f"export {name}={quote(value)}" for name, value in sorted(environment.items())]
    lines.append("exec " + " ".join(quote(argument) for argument in argv))
    return "\n".join(lines) + "\n"


def start_script(scratch: str, directory: str, command: str) -> str:
    """Script that prepares the job's directory and starts it, at most once ever."""
    return _with_place("start.sh", scratch, directory, files={
        "command.sh": command, "wrapper.sh": (_HERE / "wrapper.sh").read_text()})


def poll_script(scratch: str, directory: str, offset: int, limit: int) -> str:
    """Script that prints the job's state in one line, then up to `limit` bytes of log."""
    return f"offset={int(offset)}\nlimit={int(limit)}\n" + _with_place(
        "poll.sh", scratch, directory)


def cancel_script(scratch: str, directory: str, signal: str) -> str:
    """Script that signals the job's whole session and says whether anything is left."""
    return f"signal={shlex.quote(signal)}\n" + _with_place("cancel.sh", scratch, directory)


def list_script(scratch: str, directory: str) -> str:
    """Script that prints `sha256sum` lines of all files of the work folder and of the log."""
    return _with_place("list.sh", scratch, directory)


def remove_script(scratch: str, directory: str) -> str:
    """Script that removes the job's directory."""
    return _with_place("remove.sh", scratch, directory)


def _with_place(name: str, scratch: str, directory: str, files: dict[str, str] | None = None
                ) -> str:
    place = f"scratch={quote(scratch)}\ndirectory={quote(directory)}\n"
    place += (_HERE / "place.sh").read_text()
    body = (_HERE / name).read_text()
    for file_name, text in (files or {}).items():
        body = body.replace(f"@@{file_name}@@", f"<<'{_END}'\n{text}{_END}")
    return place + body
