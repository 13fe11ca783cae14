"""What lies in folders of a node, below those that are allowed; see `remote/folder.sh`."""

import contextlib
import queue
import stat
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from workers.artifacts.transfer import read_digests
from workers.models import Node, NodeLogin
from workers.nodes import ssh
from workers.remote import folders as scripts

MOST_ENTRIES = 2000  # of one folder that are shown
SLOW, LONGEST = 3600, 7 * 24 * 3600  # seconds of one look, of one transfer
WAITING = 16  # pieces read ahead of what the other side takes
KINDS = {stat.S_IFDIR: "folder", stat.S_IFREG: "file", stat.S_IFLNK: "link"}
REASONS = {
    "missing": gettext_noop("“%(path)s” is not on the node %(node)s."),
    "outside": gettext_noop("“%(path)s” lies in none of the folders of the node %(node)s that may "
                            "be browsed, or a link leads out of them."),
    "unreadable": gettext_noop(
        "The user that logs in to the node %(node)s may not read “%(path)s”."),
}


class Refused(Exception):
    """The node or its settings do not allow it. `reason` is a word of REASONS."""

    def __init__(self, reason: str, path: str, node: str) -> None:
        super().__init__(reason)
        self.reason, self.values = reason, {"path": path, "node": node}

    @property
    def message(self) -> str:
        """The sentence's message id."""
        return REASONS.get(self.reason, REASONS["unreadable"])

    @property
    def sentence(self) -> str:
        return _(self.message) % self.values


@dataclass(frozen=True)
class Entry:
    """A file or folder. `kind` is folder, file, link or other."""

    name: str
    kind: str
    size: int
    modified_at: datetime
    inode: int

    @property
    def identity(self) -> tuple:
        """Equal on two nodes only where both see the same file."""
        return self.name, self.size, self.modified_at, self.inode


@dataclass(frozen=True)
class Folder:
    """A folder's path without links, and what it holds, folders first."""

    path: str
    entries: list[Entry]
    is_cut: bool = False


@dataclass(frozen=True)
class Tree:
    """All plain files below a folder, by name; how many links were left out."""

    files: list[Entry]
    links: int = 0

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


@dataclass(frozen=True)
class Mounts:
    """A path without links, the node's boot id, and its mounts as lines of mountinfo."""

    real: str
    boot_id: str
    lines: list[str]


def access_to(node: Node, engagement_id: int | None) -> ssh.Access:
    """The log-in of the engagement at the node, or the node's own."""
    login = NodeLogin.objects.in_use().filter(node=node, engagement=engagement_id).first()
    if login is None:
        return node
    login.node = node
    return login


def browse(access: ssh.Access, path: str, roots: Iterable[str]) -> Folder:
    """What a folder holds. Raises Refused, and what `ssh.run` raises."""
    head, rest = _asked(access, scripts.entries_script(path, roots), b"desk entries ", path)
    found = sorted(_entries(rest), key=lambda entry: (entry.kind != "folder", entry.name))
    return Folder(head, found[:MOST_ENTRIES], len(found) > MOST_ENTRIES)


def tree(access: ssh.Access, path: str, roots: Iterable[str]) -> Tree:
    """All plain files below a folder, or the one file. Raises Refused, and what `ssh.run` does."""
    head, rest = _asked(access, scripts.tree_script(path, roots), b"desk tree ", path)
    return Tree(sorted(_entries(rest), key=lambda entry: entry.name), int(head))


def mounts(access: ssh.Access, path: str, roots: Iterable[str]) -> Mounts:
    """Where the path lies, for `shared_storage`. Raises Refused, and what `ssh.run` raises."""
    real, rest = _asked(access, scripts.mounts_script(path, roots), b"desk real ", path)
    lines = rest.decode("utf-8", "surrogateescape").splitlines()
    if "desk end" not in lines:
        raise ssh.AnswerIncomplete(rest)
    boot = next((line.split() for line in lines if line.startswith("desk boot")), [])
    return Mounts(real, boot[2] if len(boot) > 2 else "",
                  lines[lines.index("desk mounts") + 1:lines.index("desk end")])


def digests(access: ssh.Access, path: str, roots: Iterable[str], names: list[str]
            ) -> dict[str, str]:
    """SHA-256 by name, computed on the node. Raises what `ssh.run` raises."""
    answer = ssh.run(access, scripts.digests_script(path, roots, names), SLOW)
    return read_digests(names, answer.stdout.decode("utf-8", "surrogateescape"))


def read_file(access: ssh.Access, path: str, roots: Iterable[str], name: str, offset: int
              ) -> Iterator[bytes]:
    """The bytes of a file below a folder, from an offset on. Raises as `ssh.download`."""
    return pieces(access, scripts.send_script(path, roots, name, offset))


def archive(access: ssh.Access, path: str, roots: Iterable[str]) -> Iterator[bytes]:
    """A folder, or one file, as a tar archive. Raises Refused at once, later as `ssh.download`."""
    roots = list(roots)
    mounts(access, path, roots)
    return pieces(access, scripts.archive_script(path, roots))


def pieces(access: ssh.Access, script: str) -> Iterator[bytes]:
    """What a script writes after "$data_mark", no faster than it is taken.

    Raises as `ssh.download`; a thread of its own fetches until nobody takes it any more.
    """
    waiting: queue.Queue = queue.Queue(WAITING)
    stop = threading.Event()

    def put(piece) -> None:
        while not stop.is_set():
            try:
                return waiting.put(piece, timeout=0.5)
            except queue.Full:
                continue
        raise ssh.Unreachable("nobody takes the file any more")

    def fetch() -> None:
        try:
            ssh.download(access, script, put, LONGEST)
            put(None)
        except Exception as error:
            with contextlib.suppress(ssh.Unreachable):
                put(error)

    threading.Thread(target=fetch, name="folder", daemon=True).start()
    try:
        while (piece := waiting.get()) is not None:
            if isinstance(piece, Exception):
                raise piece
            yield piece
    finally:
        stop.set()


def entries_after(answer: bytes, mark: bytes) -> list[Entry]:
    """The entries that stand behind a line of ours. Raises AnswerIncomplete."""
    at = answer.find(mark)
    if at < 0:
        raise ssh.AnswerIncomplete(answer)
    return _entries(answer[at + len(mark):])


def _asked(access: ssh.Access, script: str, mark: bytes, path: str) -> tuple[str, bytes]:
    """The rest of the marked line, and what follows it."""
    answer = ssh.run(access, script, SLOW)
    at = answer.stdout.find(mark)
    if at < 0:
        refused = answer.stdout.partition(b"desk refused ")[2].split()[:1]
        if not refused:
            raise ssh.AnswerIncomplete(answer)
        node = getattr(access, "node", access)
        raise Refused(refused[0].decode(errors="replace"), path, node.name)
    head, _newline, rest = answer.stdout[at + len(mark):].partition(b"\n")
    return head.decode("utf-8", "surrogateescape"), rest


def _entries(data: bytes) -> list[Entry]:
    """The entries before the NUL that stands for the end. Raises AnswerIncomplete without
    it."""
    end = 0 if data.startswith(b"\0") else data.find(b"\0\0")
    if end < 0:
        raise ssh.AnswerIncomplete(data)
    return [_entry(part) for part in data[:end].split(b"\0") if part]


def _entry(part: bytes) -> Entry:
    facts, _space, name = part.partition(b" ")
    mode, size, modified, inode = facts.decode().split("-")
    return Entry(name.removeprefix(b"./").decode("utf-8", "surrogateescape"),
                 KINDS.get(stat.S_IFMT(int(mode, 16)), "other"), int(size),
                 datetime.fromtimestamp(int(modified), UTC), int(inode))
