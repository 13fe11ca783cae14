"""Stored files under the name of their SHA-256, each once, shared by all backups of a folder."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

CHUNK = 2**20


class BlobFolder:
    """`<folder>/files/ab/abcd…`; a file appears under its name only when it is whole."""

    def __init__(self, folder: Path):
        self.root = folder / "files"
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)

    def path(self, digest: str) -> Path:
        return self.root / digest[:2] / digest

    def holds(self, digest: str, size: int) -> bool:
        path = self.path(digest)
        return bool(digest) and path.is_file() and path.stat().st_size == size

    def add(self, stream: BinaryIO) -> tuple[str, int]:
        """Copy a stream; its SHA-256 and size in bytes. The bytes are on the disk afterwards."""
        draft = self.root / f".{os.getpid()}.part"
        with draft.open("wb") as copy:
            digest, size = copied(stream, copy)
            os.fsync(copy.fileno())
        place = self.path(digest)
        place.parent.mkdir(exist_ok=True, mode=0o700)
        draft.replace(place)
        return digest, size

    def damaged(self, digests: Iterable[str]) -> Iterator[str]:
        """Those that are missing or whose bytes have another hash."""
        for digest in digests:
            path = self.path(digest)
            if not path.is_file() or file_hash(path) != digest:
                yield digest

    def remove_all_but(self, wanted: set[str]) -> int:
        """Remove the files of no backup; how many."""
        found = [path for path in self.root.glob("??/*") if path.name not in wanted]
        for path in found:
            path.unlink()
        return len(found)


def copied(source: BinaryIO, target: BinaryIO) -> tuple[str, int]:
    """Copy a stream; SHA-256 and size."""
    digest, size = hashlib.sha256(), 0
    while block := source.read(CHUNK):
        digest.update(block)
        size += len(block)
        target.write(block)
    return digest.hexdigest(), size


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
