"""What is brought to a node: a list of files with checksums, and their bytes from any offset."""

import hashlib
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from workers.artifacts import node_folders
from workers.models import Artifact, Job
from workers.nodes import ssh
from workers.remote.scripts import fits_on_a_line

CHUNK = 256 * 1024
BLOCK = tarfile.BLOCKSIZE
MOST_FILES = 20_000  # of one input


class SourceAway(Exception):
    """The node where an input lies does not answer."""


@contextmanager
def source_answers() -> Iterator[None]:
    """What goes wrong on the node where an input lies becomes SourceAway."""
    try:
        yield
    except ssh.ScriptFailed:
        raise
    except ssh.NodeError as error:
        raise SourceAway(str(error)) from error


class OddName(Exception):
    """A file whose name holds a line break or backslash: checksum lists cannot hold it."""


@dataclass(frozen=True)
class InputFile:
    """A file of an input: its name below the folder, its size, its SHA-256."""

    name: str
    size: int
    sha256: str


class Source(Protocol):
    """Where an input comes from."""

    def files(self) -> Sequence[InputFile]:
        """In the order of their names. Raises OddName, SourceAway."""

    def read(self, file: InputFile, offset: int) -> Iterator[bytes]:
        """The bytes of one of these files from an offset on. Raises SourceAway."""


class StoredSource:
    """Files of the store.

    Args:
        named: artifacts and their names within the input.
    """

    def __init__(self, named: list[tuple[str, Artifact]]) -> None:
        self.named = dict(sorted(named, key=lambda pair: pair[0]))

    def files(self) -> list[InputFile]:
        return [InputFile(_line(name), artifact.size, artifact.sha256)
                for name, artifact in self.named.items()]

    def read(self, file: InputFile, offset: int) -> Iterator[bytes]:
        with self.named[file.name].file.open("rb") as stream:
            stream.seek(offset)
            while piece := stream.read(CHUNK):
                yield piece


class NodeSource:
    """Files below a folder of a node, or one file there.

    Args:
        found: as `node_folders.tree` listed them.
    """

    def __init__(self, access: ssh.Access, path: str, roots: Sequence[str],
                 found: node_folders.Tree) -> None:
        self.access, self.path, self.roots, self.found = access, path, roots, found

    def files(self) -> list[InputFile]:
        names = [_line(entry.name) for entry in self.found.files]
        with source_answers():
            known = node_folders.digests(self.access, self.path, self.roots, names)
        return [InputFile(entry.name, entry.size, known[entry.name])
                for entry in self.found.files]

    def read(self, file: InputFile, offset: int) -> Iterator[bytes]:
        with source_answers():
            yield from node_folders.read_file(
                self.access, self.path, self.roots, file.name, offset)


def _line(name: str) -> str:
    if not fits_on_a_line(name):
        raise OddName(name)
    return name


def stored_files(job: Job, path: str) -> list[tuple[str, Artifact]]:
    """Stored files of a job below a folder of it, by their names there; of a file the empty one."""
    found = [(artifact.name.removeprefix(path).removeprefix("/") if path else artifact.name,
              artifact)
             for artifact in job.artifacts.order_by("name")
             if not path or artifact.name == path or artifact.name.startswith(f"{path}/")]
    return found[:MOST_FILES]


def checksums(files: Sequence[InputFile]) -> bytes:
    """The list as `sha256sum -c` takes it."""
    return "".join(f"{file.sha256}  ./{file.name}\n" for file in files).encode(
        "utf-8", "surrogateescape")


def digest_of(files: Sequence[InputFile]) -> str:
    """SHA-256 of that list: the same for the same names and bytes."""
    return hashlib.sha256(checksums(files)).hexdigest()


def stream_size(files: Sequence[InputFile], is_packed: bool) -> int:
    """How many bytes `stream` gives."""
    if not is_packed:
        return sum(file.size for file in files)
    return 2 * BLOCK + sum(len(_header(file)) + _padded(file.size) for file in files)


def stream(source: Source, files: Sequence[InputFile], is_packed: bool, offset: int
           ) -> Iterator[bytes]:
    """The bytes of one file, or of a tar archive of all, from an offset on; always the same."""
    for file in files:
        header = _header(file) if is_packed else b""
        padding = bytes(_padded(file.size) - file.size) if is_packed else b""
        if offset < len(header):
            yield header[offset:]
            offset = 0
        else:
            offset -= len(header)
        if offset < file.size:
            yield from _exactly(source, file, offset)
            offset = 0
        else:
            offset -= file.size
        yield padding[offset:]
        offset = max(0, offset - len(padding))
    if is_packed:
        yield bytes(2 * BLOCK)[offset:]


def _exactly(source: Source, file: InputFile, offset: int) -> Iterator[bytes]:
    """As many bytes as were announced: a file that grows meanwhile fails by its checksum only."""
    left = file.size - offset
    for piece in source.read(file, offset):
        yield piece[:left]
        left -= len(piece[:left])
        if not left:
            return
    if left:
        yield bytes(left)  # it became shorter: the checksum will say so


def _header(file: InputFile) -> bytes:
    member = tarfile.TarInfo(file.name)
    member.size, member.mode = file.size, 0o444
    return member.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")


def _padded(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


