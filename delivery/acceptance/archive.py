"""A zip whose bytes follow from its entries alone, and reading one that may be hostile.

Entries are stored, not compressed: no entry can unfold into more than it weighs, and the archive
can be rebuilt byte for byte, so that not even a header can be changed unseen.
"""

import hashlib
import re
import shutil
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import BinaryIO

EPOCH = (1980, 1, 1, 0, 0, 0)
SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*")
MOST_ENTRIES = 20_000
SUMS = "SHA256SUMS"
WITHHELD = "WITHHELD"  # in the form of SHA256SUMS: raw files that are not in the bundle


class ArchiveError(Exception):
    """The archive is damaged or not one of ours; `name` is the entry, where known."""

    def __init__(self, message: str, name: str = ""):
        super().__init__(message)
        self.name = name


def write_archive(target: BinaryIO, entries: dict[str, Path]) -> None:
    """Write files under their names, in order of names, with SHA256SUMS over all of them."""
    sums = "".join(f"{digest_of(entries[name])}  {name}\n" for name in sorted(entries))
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted([*entries, SUMS]):
            if name == SUMS:
                archive.writestr(_info(name, len(sums.encode())), sums.encode())
            else:
                _copy(archive, name, entries[name])


def _info(name: str, size: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, EPOCH)
    info.create_system, info.external_attr, info.file_size = 3, 0o100644 << 16, size
    info.compress_type = zipfile.ZIP_STORED
    return info


def _copy(archive: zipfile.ZipFile, name: str, path: Path) -> None:
    with (path.open("rb") as source,
          archive.open(_info(name, path.stat().st_size), "w") as target):
        shutil.copyfileobj(source, target, 2**20)


def raw_name(name: str, sha256: str) -> str:
    """raw/<first digits of the checksum>-<file name in plain letters>."""
    return f"raw/{_plain(name, sha256)}"


def scan_name(name: str, sha256: str) -> str:
    """scans/<first digits of the checksum>-<file name in plain letters>."""
    return f"scans/{_plain(name, sha256)}"


def _plain(name: str, sha256: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", PurePosixPath(name.replace("\\", "/")).name)
    return f"{sha256[:16]}-{plain.strip('._-')[-80:] or 'file'}"


def digest_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def extract(archive_path: Path, folder: Path) -> dict[str, Path]:
    """Unpack into `folder`; name to path. Raises ArchiveError for anything out of the ordinary."""
    try:
        with zipfile.ZipFile(archive_path) as archive:
            infos = archive.infolist()
            _require_ordinary(infos, archive_path.stat().st_size)
            return {info.filename: _extracted(archive, info, folder) for info in infos}
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, RuntimeError,
            ValueError) as error:
        raise ArchiveError(str(error), _named_in(str(error))) from error


def _require_ordinary(infos: list[zipfile.ZipInfo], weight: int) -> None:
    """Only safe, unique names and stored entries that together weigh no more than the archive."""
    if len(infos) > MOST_ENTRIES:
        raise ArchiveError(f"more than {MOST_ENTRIES} entries")
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


def _extracted(archive: zipfile.ZipFile, info: zipfile.ZipInfo, folder: Path) -> Path:
    path = folder / info.filename
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with archive.open(info) as source, path.open("wb") as target:
            shutil.copyfileobj(source, target, 2**20)
    except (zipfile.BadZipFile, EOFError, RuntimeError, NotImplementedError) as error:
        raise ArchiveError(str(error), info.filename) from error
    return path


def _named_in(message: str) -> str:
    found = re.search(r"'([^']+)'", message)
    return found.group(1) if found else ""


def wrong_sums(files: dict[str, Path]) -> Iterable[tuple[str, str]]:
    """What SHA256SUMS and the files disagree about: (name, missing · extra · changed)."""
    if SUMS not in files:
        yield SUMS, "missing"
        return
    listed = {}
    for line in files[SUMS].read_text("utf-8", "replace").splitlines():
        digest, gap, name = line.partition("  ")
        if not gap or not re.fullmatch("[0-9a-f]{64}", digest) or name in listed:
            yield SUMS, "changed"
            continue
        listed[name] = digest
    for name in sorted(set(listed) - set(files)):
        yield name, "missing"
    for name in sorted(set(files) - set(listed) - {SUMS}):
        yield name, "extra"
    for name in sorted(set(listed) & set(files)):
        if digest_of(files[name]) != listed[name]:
            yield name, "changed"


def listed_sums(path: Path) -> dict[str, str]:
    """Name to SHA-256 of a list in the form of SHA256SUMS. ValueError for any other line."""
    found = {}
    for line in path.read_text("utf-8").splitlines():
        digest, gap, name = line.partition("  ")
        if not (gap and re.fullmatch("[0-9a-f]{64}", digest) and SAFE_NAME.fullmatch(name)):
            raise ValueError(f"{path.name}: {line[:80]}")
        found[name] = digest
    return found


def foreign_byte(archive_path: Path, files: dict[str, Path], folder: Path) -> str | None:
    """The entry at which the archive is not byte for byte what its entries make.

    None if it is; empty if the first such byte belongs to no entry.
    """
    again = folder / "again.zip"
    with again.open("wb") as target:
        write_archive(target, {n: p for n, p in files.items() if n != SUMS})
    place = _first_difference(archive_path, again)
    return None if place is None else _entry_at(again, place)


def _first_difference(one: Path, other: Path) -> int | None:
    with one.open("rb") as left, other.open("rb") as right:
        start = 0
        while True:
            ours, theirs = left.read(2**20), right.read(2**20)
            if ours != theirs:
                same = zip(ours, theirs, strict=False)
                return start + next((n for n, (a, b) in enumerate(same) if a != b),
                                    min(len(ours), len(theirs)))
            if not ours:
                return None
            start += len(ours)


def _entry_at(archive_path: Path, place: int) -> str:
    """The entry whose header, content or line of the directory holds this byte."""
    with zipfile.ZipFile(archive_path) as archive:
        infos, directory = archive.infolist(), archive.start_dir
    if place < directory:
        return max((info for info in infos if info.header_offset <= place),
                   key=lambda info: info.header_offset).filename
    for info in infos:  # APPNOTE.TXT 4.3.12: 46 bytes, then name, extra field and comment
        directory += 46 + len(info.filename.encode()) + len(info.extra) + len(info.comment)
        if place < directory:
            return info.filename
    return ""
