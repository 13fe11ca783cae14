"""Scripts that look for further logs of a job, and fetch parts of them."""

import shlex
from collections.abc import Sequence

from workers.remote.scripts import Place, part_of_script


def list_script(place: Place, globs: Sequence[str]) -> str:
    """Script that prints the files that the patterns name, rotated ones as well."""
    tests = " -o ".join(f"-path {shlex.quote(f'./{glob}{ending}')}"
                        for glob in globs for ending in ("", ".*", "-*"))
    return (place.text() + part_of_script("folder.sh") + part_of_script("logs.sh")
            + f"list_logs \\( {tests} \\)\n")


def parts_script(place: Place, parts: Sequence[tuple[str, int, int, int]]) -> str:
    """Script that prints parts of files, each behind a line with its length.

    Args:
        parts: name, inode, offset, and how many bytes at most.
    """
    calls = "".join(f"part {shlex.quote('./' + name)} {inode} {offset} {limit}\n"
                    for name, inode, offset, limit in parts)
    return (place.text() + part_of_script("logs.sh") + 'cd "$job/work" 2>/dev/null || exit 0\n'
            + "echo desk parts\n" + calls)
