"""Bytes in the local store: whole, once, at rest before they have their names."""

import hashlib
import io
import os

import pytest
from django.core.files.storage import FileSystemStorage

from workers.artifacts import content_store, durable_files

FILES = [f"file {number}".encode() for number in range(durable_files.TOGETHER + 8)]


@pytest.fixture
def storage(tmp_path):
    return FileSystemStorage(tmp_path / "store")


@pytest.fixture(params=["together", "one by one"])
def way(request, monkeypatch):
    """Both ways to bring files to rest; the second is that of busy disks and other systems."""
    if request.param == "one by one":
        monkeypatch.setattr(durable_files, "_syncfs", lambda: None)
    monkeypatch.setattr(durable_files, "_unwritten_mb", lambda: 0)


def keep(storage, files):
    return content_store.keep_all(storage, [(io.BytesIO(data), "") for data in files])


def in_store(storage) -> list[str]:
    return sorted(os.path.join(folder, name)[len(storage.location) + 1:]
                  for folder, _folders, names in os.walk(storage.location) for name in names)


def test_many_files_are_kept_under_the_names_of_their_content(storage, way):
    stored = keep(storage, [*FILES, FILES[0]])
    assert [(digest, size) for _name, digest, size in stored] == [
        (hashlib.sha256(data).hexdigest(), len(data)) for data in [*FILES, FILES[0]]]
    assert in_store(storage) == sorted({name for name, _digest, _size in stored})
    assert [storage.open(name).read() for name, _digest, _size in stored[:-1]] == FILES
    assert keep(storage, FILES) == stored[:-1]


@pytest.mark.parametrize("count", [1, 3, len(FILES)])
def test_bytes_are_at_rest_before_their_names_and_names_before_the_end(
        storage, way, monkeypatch, count):
    settled, settle = [], durable_files.settle

    def watched(paths, disk):
        settled.append((set(paths), in_store(storage)))
        settle(paths, disk)

    monkeypatch.setattr(durable_files, "settle", watched)
    stored = keep(storage, FILES[:count])
    names = sorted(name for name, _digest, _size in stored)
    first, last = settled[0], settled[-1]
    assert len(first[0]) == count
    assert all(name.startswith("incoming/part-") for name in first[1])
    assert last == ({os.path.dirname(storage.path(name)) for name in names}, names)


def test_disk_that_cannot_promise_keeps_no_name(storage, way, monkeypatch):
    def broken(paths, disk):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(durable_files, "settle", broken)
    with pytest.raises(OSError, match="Input/output error"):
        keep(storage, FILES)
    assert in_store(storage) == []


def test_cut_short_file_of_an_earlier_crash_is_replaced(storage, way):
    [(name, _digest, _size)] = keep(storage, [b"whole"])
    with open(storage.path(name), "wb") as stream:
        stream.write(b"who")
    keep(storage, [b"whole"])
    assert storage.open(name).read() == b"whole"


def test_error_of_the_disk_is_an_error_here(tmp_path):
    call = durable_files._syncfs()
    if call is None:
        pytest.skip("this system has no syncfs that tells errors")
    with pytest.raises(OSError, match="Bad file descriptor"):
        call(-1)


def test_what_others_have_to_write_is_not_waited_for(storage, monkeypatch):
    calls = []
    monkeypatch.setattr(durable_files, "_syncfs", lambda: calls.append)
    monkeypatch.setattr(durable_files, "_unwritten_mb", lambda: durable_files.FOREIGN_MB)
    keep(storage, FILES)
    assert calls == []
    monkeypatch.setattr(durable_files, "_unwritten_mb", lambda: durable_files.FOREIGN_MB - 1)
    keep(storage, [data + b"!" for data in FILES])
    assert len(calls) == 2
