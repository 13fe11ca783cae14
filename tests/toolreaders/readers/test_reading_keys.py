"""The table of reading keys: current, and true of every genuine file at hand."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from toolreaders import ReadError, load_readers, read_file
from workers.reading_keys import as_markdown, keys_of, table

ROOT = Path(__file__).parents[3]
READERS = {reader.name: reader for reader in load_readers()}


def test_document_is_current():
    assert (ROOT / "docs" / "reading-keys.md").read_text() == as_markdown(), (
        "run: python manage.py regenerate")


def test_every_reader_has_keys():
    assert [name for name, reader in READERS.items() if not keys_of(reader)] == []
    assert sum(len(readers) for _kind, readers in table()) == len(READERS)


def test_keys_of_genuine_files_are_in_the_table():
    read, strange = set(), {}
    samples = ROOT / "tests" / "samples"
    for path in sorted(samples.rglob("*")):
        if samples / "kinds" in path.parents:  # left by stand-ins; reports of scripts are open
            continue
        try:
            reading = read_file(path)
        except ReadError:
            continue
        read.add(reading.reader)
        if left := set(reading.values) - keys_of(READERS[reading.reader]):
            strange.setdefault(reading.reader, set()).update(left)
    assert strange == {}
    assert len(read) > 60


def test_command_lists_keys_or_wants_files(capsys):
    call_command("read", "--list-keys")
    assert "## training_log" in capsys.readouterr().out
    with pytest.raises(CommandError, match="file"):
        call_command("read")
