"""Brings files from a node: packed while they are small, resumed where they are large.

Every file is compared with the SHA-256 that the node computed for it.
"""

import hashlib
import io
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath
from typing import BinaryIO

from engagements.text.file_names import shown_file_name
from workers.artifacts import content_store
from workers.models import Artifact, Node
from workers.nodes import ssh
from workers.remote import scripts

PACKED_BYTES, PACKED_FILES = 32 * 2**20, 500  # of one archive
LARGE = 4 * 2**20
ARCHIVE_BYTES, MEMBER_BYTES = 64 * 2**10, 16 * 2**10  # head and end; a member's head and padding
ATTEMPTS = 5
SPECIAL = (b"link", b"hardlink", b"pipe", b"device", b"socket")  # in the words of `remote/list.sh`
GONE = "No such file or directory"
_SINGLE = re.compile(r"^desk sha256 (\S+)$", re.MULTILINE)
_PLAIN = re.compile(r"^([0-9a-f]{64}) [ *]\./(.*)$", re.MULTILINE)


class FileChanged(Exception):
    """The file on the node is not the one it announced."""


@dataclass(frozen=True)
class RemoteFile:
    """A plain file of a job's work folder; `name` may hold surrogates for bytes not UTF-8.

    A folder that the node's user cannot look into stands for the files in it. `special` says what
    is no plain file: a link, pipe, device or socket, or a hard link.
    """

    name: str
    size: int
    is_closed_folder: bool = False
    special: str = ""

    @property
    def shown_name(self) -> str:
        """The name as text that any database stores and nobody takes for another one."""
        return shown_file_name(
            self.name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))


@dataclass
class Arrived:
    """A file that was fetched: its bytes, their SHA-256, and the one the node computed."""

    file: RemoteFile
    stream: BinaryIO
    digest: str
    node_digest: str = ""


@dataclass(frozen=True)
class Unread:
    """What the node does not let its user read: whose it is, its mode, and the node's words."""

    file: RemoteFile
    owner: str
    mode: str
    why: str


Listing = dict[str, "list[RemoteFile] | None"]


def list_files(node: Node, places: list[scripts.Place]) -> Listing:
    """Plain files below each job's work folder, by directory; None where the folder is gone.

    Files are in the order of their names; symbolic links are not followed. Raises
    AnswerIncomplete if the answer makes no sense.
    """
    answer = ssh.run(node, scripts.list_script(places), 600)
    found = read_listing(answer.stdout)
    if any(place.directory not in found for place in places):
        raise ssh.AnswerIncomplete(answer)
    return found


def read_listing(answer: bytes, position: int = 0) -> Listing:
    """The listing that stands in an answer from a position on, as `list_files` returns it.

    Raises AnswerIncomplete if it is not whole.
    """
    head, mark, entries = answer[position:].partition(b"desk entries\n")
    end = 0 if entries.startswith(b"\0") else entries.find(b"\0\0")
    if not mark or end < 0:
        raise ssh.AnswerIncomplete(answer)
    found: dict[str, list[RemoteFile] | None] = {}
    for line in head.decode(errors="replace").splitlines():
        if line.startswith(("desk files ", "desk absent ")):
            found[line.split()[2]] = [] if line.startswith("desk files ") else None
    for entry in filter(None, entries[:end].split(b"\0")):
        directory, file = _file(entry)
        found[directory].append(file)
    return {directory: files and sorted(files, key=lambda file: file.name)
            for directory, files in found.items()}


def _file(entry: bytes) -> tuple[str, RemoteFile]:
    """The directory and the file of `size directory/work/name`, or of `closed` and a folder."""
    size, _space, path = entry.partition(b" ")
    directory, _work, name = path.partition(b"/work/")
    name = name.decode("utf-8", "surrogateescape")
    if size in SPECIAL:
        return directory.decode(), RemoteFile(name, 0, special=size.decode())
    if size == b"closed":
        return directory.decode(), RemoteFile(name.rstrip("/") or ".", 0, is_closed_folder=True)
    return directory.decode(), RemoteFile(name, int(size))


def digests(node: Node, place: scripts.Place, files: list[RemoteFile]) -> dict[str, str]:
    """SHA-256 by name as the node computes it; empty where it has no tool for it."""
    names = [file.name for file in files]
    answer = ssh.run(node, scripts.digest_script(place, names), 3600).stdout
    return read_digests(names, answer.decode("utf-8", "surrogateescape"))


def read_digests(names: list[str], answer: str) -> dict[str, str]:
    """The checksums in the answer to `scripts.digest_script`, by name; empty if there is none."""
    odd = [name for name in names if not scripts.fits_on_a_line(name)]
    single = [digest if len(digest) == 64 else "" for digest in _SINGLE.findall(answer)]
    if len(single) < len(odd):
        raise ssh.AnswerIncomplete(answer.encode("utf-8", "surrogateescape"))
    plain = {name: digest for digest, name in _PLAIN.findall(answer)}
    return {**{name: plain.get(name, "") for name in names}, **dict(zip(odd, single, strict=False))}


def fetch(node: Node, place: scripts.Place, files: list[RemoteFile]
          ) -> Iterator[list[Arrived | Unread]]:
    """The files in groups as they arrive: many small ones together, large ones alone.

    One that cannot be read on the node keeps none of the others from being fetched.

    The node computes its checksums meanwhile, and small files are fetched while those before them
    are dealt with. Raises FileChanged naming a file that does not arrive as announced, Unreachable,
    ScriptFailed.
    """
    if closed := [file for file in files if file.is_closed_folder]:
        files = [file for file in files if not file.is_closed_folder]
        yield unreadable(node, place, closed)
    small = list(_batches([file for file in files if file.size < LARGE]))
    large = [file for file in files if file.size >= LARGE]
    with ThreadPoolExecutor(1, "digests") as pool:
        expected = [pool.submit(digests, node, place, group)
                    for group in (*small, *([file] for file in large))]
        arriving = chain(_packs(node, place, small),
                         ([_single(node, place, file)] for file in large))
        try:
            for group, digest in zip(arriving, expected, strict=True):
                yield _checked(group, digest.result())
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _packs(node: Node, place: scripts.Place, groups: list[list[RemoteFile]]
           ) -> Iterator[list[Arrived | Unread]]:
    """Small files, always one archive ahead."""
    with ThreadPoolExecutor(1, "packs") as pool:
        following = None
        for group in groups:
            arriving, following = following, pool.submit(_packed, node, place, group)
            if arriving:
                yield arriving.result()
        if following:
            yield following.result()


def _batches(files: list[RemoteFile]) -> Iterator[list[RemoteFile]]:
    batch: list[RemoteFile] = []
    size = 0
    for file in files:
        if batch and (len(batch) >= PACKED_FILES or size + file.size > PACKED_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file.size
    if batch:
        yield batch


def _packed(node: Node, place: scripts.Place, files: list[RemoteFile]) -> list[Arrived | Unread]:
    try:
        return _archived(node, place, files)
    except ssh.ScriptFailed:
        unread = unreadable(node, place, files)
        if not unread:  # it is tar that fails
            return [_single(node, place, file) for file in files]
        known = {entry.file for entry in unread}
        left = [file for file in files if file not in known]
        return [*unread, *(_packed(node, place, left) if left else [])]


def unreadable(node: Node, place: scripts.Place, files: list[RemoteFile]) -> list[Unread]:
    """Those that cannot be read. Raises FileChanged for one that is gone, or open by now."""
    names = [file.name for file in files]
    answer = ssh.run(node, scripts.unread_script(place, names), 3600)
    *parts, end = answer.stdout.partition(b"desk unread\n")[2].removesuffix(b"\0").split(b"\0")
    if end != b"end":
        raise ssh.AnswerIncomplete(answer)
    texts = [part.decode("utf-8", "surrogateescape") for part in parts]
    found = {name: (*facts.split(" ", 1), why)
             for facts, why, name in zip(*[iter(texts)] * 3, strict=True)}
    for file in files:
        if found.get(file.name, ("", "", ""))[2] == GONE or (
                file.is_closed_folder and file.name not in found):
            raise FileChanged(file.shown_name)
    return [Unread(file, owner.strip(":"), mode, why) for file in files if file.name in found
            for mode, owner, why in [found[file.name]]]


def _archived(node: Node, place: scripts.Place, files: list[RemoteFile]) -> list[Arrived]:
    with tempfile.SpooledTemporaryFile(max_size=2 * PACKED_BYTES) as archive:
        ssh.download(node, scripts.pack_script(place, [f.name for f in files]),
                     _within(archive, files))
        archive.seek(0)
        with tarfile.open(fileobj=archive, encoding="utf-8", errors="surrogateescape") as packed:
            members = {str(PurePosixPath(m.name)): m for m in packed if m.isreg()}
            return [_unpacked(packed, members, file) for file in files]


def _within(archive: BinaryIO, files: list[RemoteFile]) -> Callable[[bytes], None]:
    """Takes no more than an archive of these files can have."""
    most = ARCHIVE_BYTES + sum(file.size + MEMBER_BYTES for file in files)

    def sink(chunk: bytes) -> None:
        if archive.tell() + len(chunk) > most:
            raise FileChanged(files[0].shown_name)
        archive.write(chunk)

    return sink


def _unpacked(packed: tarfile.TarFile, members: dict[str, tarfile.TarInfo], file: RemoteFile
              ) -> Arrived:
    member = members.get(str(PurePosixPath(file.name)))
    if member is None or member.size != file.size:
        raise FileChanged(file.shown_name)
    data = packed.extractfile(member).read()
    return Arrived(file, io.BytesIO(data), hashlib.sha256(data).hexdigest())


def _checked(group: list[Arrived | Unread], expected: dict[str, str]) -> list[Arrived | Unread]:
    """The same files, with what the node says of them. Raises FileChanged where that differs."""
    for entry in group:
        if isinstance(entry, Unread):
            continue
        entry.node_digest = expected.get(entry.file.name, "")
        if entry.node_digest not in ("", entry.digest):
            raise FileChanged(entry.file.shown_name)
    return group


def _single(node: Node, place: scripts.Place, file: RemoteFile) -> Arrived | Unread:
    """A large file; after a cut connection the rest is fetched from where it ended."""
    target = content_store.temporary_file(Artifact._meta.get_field("file").storage)
    digest = hashlib.sha256()
    for attempt in range(1, ATTEMPTS + 1):
        try:
            ssh.download(node, scripts.read_script(place, file.name, target.tell()),
                         _at_most(file, target, digest))
            break
        except ssh.Unreachable:
            if attempt == ATTEMPTS:
                raise
        except ssh.ScriptFailed:
            if unread := unreadable(node, place, [file]):
                return unread[0]
            raise
    if target.tell() != file.size:
        raise FileChanged(file.shown_name)
    target.seek(0)
    return Arrived(file, target, digest.hexdigest())


def _at_most(file: RemoteFile, target: BinaryIO, digest) -> Callable[[bytes], None]:
    def sink(chunk: bytes) -> None:
        if target.tell() + len(chunk) > file.size:
            raise FileChanged(file.shown_name)
        target.write(chunk)
        digest.update(chunk)

    return sink
