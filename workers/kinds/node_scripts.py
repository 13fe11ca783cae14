"""Commands that run a script of ours on the node, and commands followed by one."""

from functools import cache
from pathlib import Path

# Shell text: the tool on the path, or below an installation of CANN: releases put it elsewhere
# (DOMAIN R-ENV-11), and `set_env.sh` adds only a part of the folders to the path.
FIND_TOOL = r"""
find_tool() { # file, then folders below an installation
    name=$1; command -v "$name" && return
    for root in "$ASCEND_TOOLKIT_HOME" "$ASCEND_HOME_PATH" /usr/local/Ascend/ascend-toolkit/latest \
        /usr/local/Ascend/cann /usr/local/Ascend/tfplugin/latest \
        "$HOME/Ascend/ascend-toolkit/latest" "$HOME/Ascend/cann" "$HOME/Ascend/tfplugin/latest"
    do
        for folder; do [ -f "$root/$folder/$name" ] && echo "$root/$folder/$name" && return; done
    done
    echo "desk: $name is neither on the path nor below an installation of CANN" >&2; return 127
}
"""
_FOLDER = Path(__file__).parent / "scripts"
# "$0" is the script; the words up to "--" are its own, the rest is the command that runs first.
_THEN = ('script=$0; a=$1; b=$2; shift 3; "$@"; status=$?; '
         'python3 -c "$script" "$a" "$b" || [ $status -ne 0 ] || status=1; exit $status')


@cache
def script(name: str) -> str:
    """The text of a script in `scripts/`: plain Python 3.8, standard library only."""
    return (_FOLDER / f"{name}.py").read_text(encoding="utf-8")


def run_script(name: str, *arguments: str, python: str = "python3") -> list[str]:
    """Argument list that runs the script with these arguments."""
    return [python, "-c", script(name), *arguments]


def on_device(command: list[str], python: str = "python3") -> list[str]:
    """The command under a watch: the end of its log names the cards that its processes used."""
    return run_script("device_use", *command, python=python)


def then_manifest(command: list[str], what: str, title: str) -> list[str]:
    """The command, then the checksums of the files of `what`; the command's status is kept.

    Args:
        what: folder, or the beginning of file names.
        title: name of the report among the job's files.
    """
    return ["sh", "-c", _THEN, script("manifest"), what, title, "--", *command]
