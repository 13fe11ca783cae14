"""The archive is compared with what its entries make without reading their contents again."""

import io
import zipfile
from pathlib import Path

import pytest

from bundle_verifier.archive import extract, write_archive
from bundle_verifier.archive_comparison import first_altered_entry

NAMES = ("PRACTICE", "raw/a.log", "raw/b.log", "verdicts.json")


@pytest.fixture
def archive_path(tmp_path) -> Path:
    path = tmp_path / "archive.zip"
    for n, name in enumerate(NAMES):
        (tmp_path / f"{n}").write_bytes(name.encode() * (n + 1) * 50)
    with path.open("wb") as stream:
        write_archive(stream, {name: tmp_path / f"{n}" for n, name in enumerate(NAMES)},
                      sign=lambda _sums: b"signature")
    return path


def altered(path: Path) -> str | None:
    folder = path.with_name("unpacked")
    return first_altered_entry(path, extract(path, folder))


def test_what_the_entries_make_is_not_altered(archive_path):
    assert altered(archive_path) is None


def test_entries_too_large_for_32_bits_have_longer_headers(archive_path, monkeypatch, tmp_path):
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    long = tmp_path / "long.zip"
    with long.open("wb") as stream:
        write_archive(stream, {n: tmp_path / f"{k}" for k, n in enumerate(NAMES)})
    assert long.read_bytes() != archive_path.read_bytes()
    assert altered(long) is None


def test_contents_are_read_once_only(archive_path, monkeypatch):
    files = extract(archive_path, archive_path.with_name("unpacked"))
    for name in NAMES:
        files[name].path.unlink()
    assert first_altered_entry(archive_path, files) is None


@pytest.mark.slow
def test_each_byte_outside_of_the_contents_counts(archive_path):
    good = archive_path.read_bytes()
    with zipfile.ZipFile(archive_path) as archive:
        infos, directory = archive.infolist(), archive.start_dir
    contents = {place for info in infos for start in [info.header_offset + 30 + len(info.filename)]
                for place in range(start, start + info.file_size)}
    unseen = []
    for place in sorted(set(range(len(good))) - contents):
        archive_path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1:])
        try:
            found = altered(archive_path)
        except Exception:  # cannot be unpacked: seen as well
            continue
        if found is None:
            unseen.append((place, place >= directory))
    assert not unseen


@pytest.mark.parametrize("gap_before", [0, 1, 2])
def test_bytes_between_entries_that_the_directory_steps_over(archive_path, gap_before, tmp_path):
    """The directory is right about every entry; still there is more than they make."""
    good = archive_path.read_bytes()
    with zipfile.ZipFile(archive_path) as archive:
        place = archive.infolist()[gap_before].header_offset
        infos, directory = archive.infolist(), archive.start_dir
    shifted = bytearray(good[:place] + b"hidden" + good[place:directory])
    out = io.BytesIO(shifted)
    with zipfile.ZipFile(out, "a") as archive:
        archive.start_dir = len(shifted)
        for info in infos:
            info.header_offset += 6 * (info.header_offset >= place)
            archive.filelist.append(info)
            archive.NameToInfo[info.filename] = info
        archive.comment = b""  # so that a directory is written
    changed = tmp_path / "changed.zip"
    changed.write_bytes(out.getvalue())
    assert altered(changed) == infos[gap_before].filename


def test_an_entry_whose_content_stands_elsewhere(archive_path, tmp_path):
    """Two lines of the directory name one place: what is unpacked is not what stands in order."""
    with zipfile.ZipFile(archive_path) as archive:
        infos = {info.filename: info for info in archive.infolist()}
    files = extract(archive_path, tmp_path / "unpacked")
    moved = files["raw/b.log"]
    files["raw/b.log"] = type(moved)(moved.path, moved.sha256, moved.size, moved.crc,
                                     infos["raw/a.log"].header_offset)
    assert first_altered_entry(archive_path, files) == "raw/b.log"
