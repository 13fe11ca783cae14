"""Scripts that look at folders of a node, and those that take inputs of jobs in."""

import shlex
from collections.abc import Iterable

from workers.remote.scripts import Place, digest_lines, part_of_script, quote


def _looking(path: str, roots: Iterable[str]) -> str:
    words = " ".join(quote(root) for root in roots)
    return f"path={quote(path)}\n{part_of_script('folder.sh')}find_real {words}\n"


def entries_script(path: str, roots: Iterable[str]) -> str:
    """Script that prints what a folder holds, if it lies in one of the roots."""
    return _looking(path, roots) + "entries\n"


def tree_script(path: str, roots: Iterable[str]) -> str:
    """Script that prints all plain files below a folder, or the one file, with their facts."""
    return _looking(path, roots) + "tree\n"


def mounts_script(path: str, roots: Iterable[str]) -> str:
    """Script that prints the path without links, and what is mounted on the node."""
    return _looking(path, roots) + "mounts\n"


def digests_script(path: str, roots: Iterable[str], names: list[str]) -> str:
    """Script that prints SHA-256 of files below a folder, as `scripts.digest_script` does."""
    return _looking(path, roots) + "enter\n" + digest_lines(names)


def send_script(path: str, roots: Iterable[str], name: str, offset: int) -> str:
    """Script that writes a file below a folder to standard output, from an offset on."""
    file = shlex.quote(f"./{name}")
    return (_looking(path, roots) + "enter\n"
            f'echo "$data_mark" && exec tail -c +{offset + 1} -- {file}\n')


def archive_script(path: str, roots: Iterable[str]) -> str:
    """Script that writes a folder, or one file, as a tar archive to standard output."""
    return (_looking(path, roots) + 'echo "$data_mark" && cd "${real%/*}/" '
            '&& exec tar -cf - -- "./${real##*/}"\n')


def _keeping(place: Place, name: str) -> str:
    return f"{place.text()}name={shlex.quote(name)}\n{part_of_script('receive.sh')}"


def ask_script(place: Place, name: str) -> str:
    """Script that says whether the input of that content is on the node, or how much of it."""
    return _keeping(place, name) + "ask\n"


def receive_script(place: Place, name: str, offset: int) -> str:
    """Script that appends its standard input to what has arrived, if so much has."""
    return _keeping(place, name) + f"receive {int(offset)}\n"


def finish_script(place: Place, name: str, only: str) -> str:
    """Script that compares checksums, given as its standard input, and keeps the input.

    Args:
        only: the file's name; empty where a tar archive of several has arrived.
    """
    return _keeping(place, name) + f"finish {shlex.quote(only)}\n"


def forget_script(scratch: str, days: int) -> str:
    """Script that removes kept inputs that no job has asked for in so many days."""
    return f"{Place(scratch, '').text()}{part_of_script('forget.sh')}forget {int(days)}\n"


def place_script(place: Place, name: str, slot: str, shown: str, is_folder: bool) -> str:
    """Script that puts a kept input into the job's folder."""
    kind = "folder" if is_folder else "file"
    return _keeping(place, name) + f"place {shlex.quote(slot)} {shlex.quote(shown)} {kind}\n"


def link_script(place: Place, slot: str, shown: str, path: str) -> str:
    """Script that links the job's input to where it lies."""
    return (_keeping(place, "none")
            + f"link_to {shlex.quote(slot)} {shlex.quote(shown)} {quote(path)}\n")
