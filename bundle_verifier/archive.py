"""Deterministic zip archives: written reproducibly, read without trusting them.

Entries are stored, not compressed: no entry can unfold into more than it weighs, and the archive
can be rebuilt byte for byte, so that not even a header can be changed unseen.
"""

import hashlib
import re
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from bundle_verifier.zip_directory import damaged_entry

EPOCH = (1980, 1, 1, 0, 0, 0)
BLOCK = 2**20
SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*")
MAX_ENTRIES = 20_000
CHECKSUMS = "SHA256SUMS"
SIGNATURE = "SHA256SUMS.p7s"  # detached CMS over CHECKSUMS, which cannot list it


class ArchiveError(Exception):
    """The archive is damaged or not one of ours; `name` is the entry, where known."""

    def __init__(self, message: str, name: str = ""):
        super().__init__(message)
        self.name = name


def write_archive(target: BinaryIO, entries: dict[str, Path], known: dict[str, str] | None = None,
                  sign: Callable[[bytes], bytes] | None = None) -> zipfile.ZipFile:
    """Write files under their names, in order of names, with SHA256SUMS over all of them.

    Args:
        known: SHA-256 that entries must have, by name; of others it is computed beforehand.
        sign: makes the detached signature of SHA256SUMS; without it the archive has none.

    Returns the closed archive, which knows where its entries begin. Each file is read once more
    while it is copied: ArchiveError names one whose bytes are not those of its checksum.
    """
    digests = {name: (known or {}).get(name) or sha256_of(entries[name]) for name in entries}
    made = {CHECKSUMS: checksum_list(digests)}
    if sign:
        made[SIGNATURE] = sign(made[CHECKSUMS])
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted([*entries, *made]):
            if name in made:
                archive.writestr(entry_info(name, len(made[name])), made[name])
            elif _add_file(archive, name, entries[name]) != digests[name]:
                raise ArchiveError("the checksum differs", name)
    return archive


def checksum_list(digests: dict[str, str]) -> bytes:
    """SHA256SUMS over files of these checksums, by name."""
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests)).encode()


def entry_info(name: str, size: int) -> zipfile.ZipInfo:
    """What the archive says of an entry: nothing but its name and size."""
    info = zipfile.ZipInfo(name, EPOCH)
    info.create_system, info.external_attr, info.file_size = 3, 0o100644 << 16, size
    info.compress_type = zipfile.ZIP_STORED
    return info


def _add_file(archive: zipfile.ZipFile, name: str, path: Path) -> str:
    with (path.open("rb") as source,
          archive.open(entry_info(name, path.stat().st_size), "w") as target):
        return _copy_blocks(source, target)


def _copy_blocks(source: IO[bytes], target: IO[bytes]) -> str:
    """Copy all bytes in blocks; their SHA-256."""
    digest = hashlib.sha256()
    while block := source.read(BLOCK):
        digest.update(block)
        target.write(block)
    return digest.hexdigest()


def sha256_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass(frozen=True)
class ExtractedFile:
    """An unpacked entry, and where its header stands in the archive."""

    path: Path
    sha256: str
    size: int
    crc: int
    header_offset: int


def extract(archive_path: Path, folder: Path) -> dict[str, ExtractedFile]:
    """Unpack into `folder`, by name. Raises ArchiveError for anything out of the ordinary."""
    try:
        with zipfile.ZipFile(archive_path) as archive:
            infos = archive.infolist()
            _require_ordinary(infos, archive_path.stat().st_size)
            return {info.filename: _extracted(archive, info, folder) for info in infos}
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, RuntimeError,
            ValueError) as error:
        raise ArchiveError(str(error), _named_in(str(error)) or _damaged_in(archive_path)
                           ) from error


def _damaged_in(archive_path: Path) -> str:
    try:
        return damaged_entry(archive_path)
    except OSError:
        return ""


def _require_ordinary(infos: list[zipfile.ZipInfo], weight: int) -> None:
    """Require safe, unique names and stored entries no larger in sum than the archive."""
    if len(infos) > MAX_ENTRIES:
        raise ArchiveError(f"more than {MAX_ENTRIES} entries")
    seen: set[str] = set()
    for info in infos:
        name = info.filename
        if not SAFE_NAME.fullmatch(name) or ".." in name.split("/"):
            raise ArchiveError("unsafe name", name)
        if name.lower() in seen:
            raise ArchiveError("the name stands twice", name)
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise ArchiveError("the entry is compressed", name)
        seen.add(name.lower())
    if sum(info.file_size for info in infos) > weight:
        raise ArchiveError("the entries claim more bytes than the archive has")


def _extracted(archive: zipfile.ZipFile, info: zipfile.ZipInfo, folder: Path) -> ExtractedFile:
    path = folder / info.filename
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with archive.open(info) as source, path.open("wb") as target:
            digest = _copy_blocks(source, target)
        return ExtractedFile(path, digest, info.file_size, info.CRC, info.header_offset)
    except (zipfile.BadZipFile, EOFError, RuntimeError, NotImplementedError) as error:
        raise ArchiveError(str(error), info.filename) from error


def _named_in(message: str) -> str:
    found = re.search(r"'([^']+)'", message)
    return found.group(1) if found else ""


def checksum_problems(files: dict[str, ExtractedFile]) -> Iterable[tuple[str, str]]:
    """Differences between SHA256SUMS and the files: (name, missing | extra | changed).

    Every file is listed but the list itself and its signature.
    """
    if CHECKSUMS not in files:
        yield CHECKSUMS, "missing"
        return
    listed = {}
    for line in files[CHECKSUMS].path.read_text("utf-8", "replace").splitlines():
        digest, gap, name = line.partition("  ")
        if (not gap or not re.fullmatch("[0-9a-f]{64}", digest)
                or name in (*listed, CHECKSUMS, SIGNATURE)):
            yield CHECKSUMS, "changed"
            continue
        listed[name] = digest
    for name in sorted(set(listed) - set(files)):
        yield name, "missing"
    for name in sorted(set(files) - set(listed) - {CHECKSUMS, SIGNATURE}):
        yield name, "extra"
    for name in sorted(set(listed) & set(files)):
        if files[name].sha256 != listed[name]:
            yield name, "changed"


def read_checksum_list(path: Path) -> dict[str, str]:
    """Name to SHA-256 of a list in the form of SHA256SUMS. ValueError for any other line."""
    found = {}
    for line in path.read_text("utf-8").splitlines():
        digest, gap, name = line.partition("  ")
        if not (gap and re.fullmatch("[0-9a-f]{64}", digest) and SAFE_NAME.fullmatch(name)):
            raise ValueError(f"{path.name}: {line[:80]}")
        found[name] = digest
    return found
