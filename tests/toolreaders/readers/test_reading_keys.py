"""The types of the values: the document made of them is current, and genuine files agree."""

import types
import typing
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.toolreaders.readers.written_formats import TEXTS
from toolreaders import ReadError, load_readers, read_file
from toolreaders.reading_keys import as_markdown, values_types

ROOT = Path(__file__).parents[3]
OPEN = {"node_report"}  # every script of a job kind has keys of its own


def faults(value, wanted, place: str = "values") -> list[str]:
    """Where a value is of another type than the wanted one."""
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    parts: list[tuple] = []
    if origin in (typing.Union, types.UnionType):
        return min((faults(value, one, place) for one in arguments), key=len)
    if typing.is_typeddict(wanted) and isinstance(value, dict):
        return faults_of_keys(value, wanted, place)
    if origin is list and isinstance(value, list):
        parts = [(own, arguments[0], f"{place}[]") for own in value]
    elif origin is dict and isinstance(value, dict):
        parts = [(own, arguments[1], f"{place}{{}}") for own in value.values()]
    elif not is_one(value, wanted, origin, arguments):
        return [f"{place}: {value!r:.60}"]
    return [fault for part in parts for fault in faults(*part)]


def is_one(value, wanted, origin, arguments) -> bool:
    if origin is typing.Literal:
        return value in arguments
    if wanted is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return wanted is typing.Any or (origin is None and type(value) is wanted)


def faults_of_keys(value: dict, wanted, place: str) -> list[str]:
    hints = typing.get_type_hints(wanted)
    found = [f"{place}.{key} is missing" for key in wanted.__required_keys__ - value.keys()]
    found += [f"{place}.{key} is not declared" for key in value.keys() - hints]
    return found + [fault for key in value.keys() & hints
                    for fault in faults(value[key], hints[key], f"{place}.{key}")]


def test_document_is_current():
    assert (ROOT / "docs" / "reading-keys.md").read_text() == as_markdown(), (
        "run: python manage.py regenerate")


def test_every_kind_has_a_type():
    assert {reader.kind for reader in load_readers()} <= values_types().keys()
    assert [kind for kind, values in values_types().items() if not values.__annotations__] == []


@pytest.fixture
def files(tmp_path) -> list[Path]:
    """Genuine files, and one in its tool's form of every reader without."""
    for name, content in TEXTS.items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return [*tmp_path.iterdir(), *sorted((ROOT / "tests" / "samples").rglob("*"))]


@pytest.mark.slow
def test_files_of_every_reader_hold_what_the_types_say(files):
    read, strange = set(), {}
    for path in files:
        try:
            reading = read_file(path)
        except ReadError:
            continue
        read.add(reading.reader)
        if reading.kind not in OPEN and (
                found := faults(reading.values, values_types()[reading.kind])):
            strange.setdefault(reading.reader, {})[path.name] = found[:5]
    assert strange == {}
    assert read == {reader.name for reader in load_readers()}


@pytest.mark.parametrize(("value", "found"), [
    ({"loss": None}, []), ({"loss": 1}, ["values.loss: 1"]),
    ({"tags": ["a"]}, []), ({"tags": [1]}, ["values.tags[]: 1"]),
    ({"lines": {"a": True}}, ["values.lines{}: True"]),
    ({"train_loss": "nan"}, []), ({"new": 1}, ["values.new is not declared"])])
def test_another_type_is_found(value, found):
    assert faults(value, values_types()["training_log"]) == found


def test_command_lists_keys_or_wants_files(capsys):
    call_command("read", "--list-keys")
    assert "## training_log" in capsys.readouterr().out
    with pytest.raises(CommandError, match="file"):
        call_command("read")
