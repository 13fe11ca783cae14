"""Whether two nodes see the same files: by what is mounted, then by the files themselves.

Mounts say where on the other node the same path would lie; that both nodes show the same inode,
size and time for every file is what proves it.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath

from workers.artifacts import node_folders
from workers.artifacts.node_folders import Mounts, Tree
from workers.nodes import ssh

# File systems whose source names the same storage on every machine.
NETWORK = ("nfs", "nfs4", "lustre", "ceph", "fuse.ceph", "gpfs", "beegfs", "glusterfs",
           "fuse.glusterfs", "cifs", "smb3", "fuse.juicefs", "fuse.sshfs", "dpc", "fuse.dpc")


@dataclass(frozen=True)
class Mount:
    """One mount: which folder of which storage lies where."""

    root: str
    point: str
    type: str
    source: str


def path_on(target: ssh.Access, here: Mounts, files: Tree) -> str:
    """Where the other node sees the same files; empty where it does not.

    Raises what `ssh.run` raises.
    """
    try:
        there = node_folders.mounts(target, "/", ["/"])
    except node_folders.Refused:
        return ""
    path = candidate(here, there)
    return path if path and _shows(target, path, files) else ""


def candidate(here: Mounts, there: Mounts) -> str:
    """The path that would be the same storage on the other node; empty where none would."""
    if here.boot_id and here.boot_id == there.boot_id:
        return here.real
    mine = mount_of(here.real, mounts_in(here.lines))
    if mine is None or mine.type not in NETWORK:
        return ""
    inside = PurePosixPath(here.real).relative_to(mine.point)
    wanted = PurePosixPath(mine.root) / inside
    for mount in mounts_in(there.lines):
        if (mount.type, mount.source) == (mine.type, mine.source) and (
                wanted.is_relative_to(mount.root)):
            return str(PurePosixPath(mount.point) / wanted.relative_to(mount.root))
    return ""


def mounts_in(lines: list[str]) -> list[Mount]:
    """The lines of /proc/self/mountinfo (proc(5)): fields 4 and 5, and those behind ` - `."""
    found = []
    for line in lines:
        front, dash, back = line.partition(" - ")
        words, more = front.split(), back.split()
        if dash and len(words) > 4 and len(more) > 1:
            found.append(Mount(_plain(words[3]), _plain(words[4]), more[0], _plain(more[1])))
    return found


def mount_of(path: str, mounts: list[Mount]) -> Mount | None:
    """The mount on which a path lies: the last of those with the longest point."""
    held = [mount for mount in mounts if PurePosixPath(path).is_relative_to(mount.point)]
    return max(reversed(held), key=lambda mount: len(mount.point), default=None)


def _plain(text: str) -> str:
    """Blanks and backslashes stand as octal numbers in mountinfo."""
    for code, sign in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, sign)
    return text


def _shows(target: ssh.Access, path: str, files: Tree) -> bool:
    try:
        seen = node_folders.tree(target, path, ["/"])
    except node_folders.Refused:
        return False
    return [file.identity for file in seen.files] == [file.identity for file in files.files]
