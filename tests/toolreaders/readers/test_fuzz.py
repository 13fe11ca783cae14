"""Every reader on damaged content: it reads what is sound or says what is wrong, nothing else.

Each reader meets cut, spliced and overwritten copies of a genuine file of its format, and all of
them text made of the words that formats consist of. The examples are the same in every run.
"""

import gzip
import json
import math
import re
import time
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.toolreaders.readers.written_formats import TEXTS
from toolreaders import ReadError, Reading, load_readers, read_file
from toolreaders.base import DAMAGE, Sample, confidence_in, open_source, recognise
from toolreaders.decoding import looks_binary

SAMPLES = Path(__file__).parents[2] / "samples"
LARGEST = 256 * 1024
MOST_SECONDS = 10.0  # of the processor, for one small file
NUMBER = re.compile(rb"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+")
LONG_NUMBER = re.compile(rb"\d+\.\d{2,}")
EXAMPLES = 5
QUICK = settings(max_examples=EXAMPLES, derandomize=True, database=None, deadline=None,
                 suppress_health_check=list(HealthCheck))
WORDS = (
    "iteration 1/ 2 | lm loss: nan |", "{'loss': ", '"loss": 1e999,', "step 1, loss inf", "|", ",",
    "\n", "\r", "\t", " ", "nan", "-1", "1e400", "9" * 400, "{", "}", "[", "]", '"', "'", "\0",
    "npu-smi 1 Version: 1", "| 0 910B3 | OK | 1 2 3 / 4 |", "NPU Name,Bench Name,Result",
    "Epoch: [0][1/2] Loss 1 (1)", "损失", "\ufeff", "PK\x03\x04", "Version=1", "E10001: ",
    "Step,Computing,Free,Stage", "link status: UP", "[rank0]:", "\x1b[31m", "..", "=", ": ")


@cache
def genuine() -> dict[str, bytes]:
    """A small file of each reader: its smallest sample, or one written in its tool's form."""
    found = {name: text.encode() if isinstance(text, str) else text for name, text in TEXTS.items()}
    wanted = {reader.name: reader for reader in load_readers() if reader.name not in found}
    files = [path for path in SAMPLES.rglob("*") if path.is_file()]
    for path in sorted(files, key=lambda path: (path.stat().st_size, path)):
        if path.stat().st_size < LARGEST:
            try:
                head = Sample(source := open_source(path), source.head)
                if not any(confidence_in(reader, head) for reader in wanted.values()):
                    continue
                reader = recognise(source)
                if reader.name in wanted and reader.read(source):
                    found[reader.name] = content(path)
                    del wanted[reader.name]
            except ReadError:
                continue
    return found


def content(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data)[:LARGEST] if data[:2] == b"\x1f\x8b" else data


@st.composite
def damaged(draw, data: bytes) -> bytes:
    """The content with one to three places cut out, doubled, overwritten or cut off."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, max(len(data) - 1, 0)))
        end = min(start + draw(st.integers(1, 4000)), len(data))
        part = draw(st.sampled_from([b"", data[start:end] * 2, b"\0\xff\x80", b"nan", b"\n", b",,,",
                                     draw(st.binary(max_size=40))]))
        data = data[:start] if draw(st.booleans()) else data[:start] + part + data[end:]
    return data


def is_unexplained(path: Path) -> bool:
    """Whether the file is refused without a reason, or its reading is no JSON; others raise."""
    try:
        reading = read_file(path)
    except ReadError as error:
        return not (error.code and error.message)
    json.dumps(reading.values, allow_nan=False)
    return not isinstance(reading, Reading)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(genuine()))
def test_a_damaged_file_of_each_format(name, tmp_path):
    data, path = genuine()[name], tmp_path / "file"

    @QUICK
    @given(damaged(data))
    def survives(found):
        path.write_bytes(found)
        started = time.process_time()
        assert not is_unexplained(path)
        assert time.process_time() - started < MOST_SECONDS

    survives()


def figures(value: object) -> set[float]:
    """All fractional numbers of a reading, without their signs."""
    if isinstance(value, dict):
        return set().union(*map(figures, value.values()))
    if isinstance(value, list):
        return set().union(*map(figures, value))
    return {abs(value)} if isinstance(value, float) and math.isfinite(value) else set()


def printed(data: bytes) -> set[float]:
    """The numbers that stand in a text."""
    return {float(number) for number in NUMBER.findall(data)}


@st.composite
def half_numbers(draw, data: bytes) -> bytes:
    """The content cut off within a number, or with a hole or a strange character in its middle."""
    number = draw(st.sampled_from([found.span() for found in LONG_NUMBER.finditer(data)]))
    at = draw(st.integers(number[0] + 1, number[1] - 1))
    inside = draw(st.sampled_from([b"", b"\0\0\0", b"?", b"x", b"\xff"]))
    return data[:at] + inside + (data[at + 1 :] if inside else b"")


TEXT_FORMATS = [name for name, data in sorted(genuine().items())
                if not looks_binary(data) and LONG_NUMBER.search(data)]


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXT_FORMATS)
def test_half_a_number_is_never_silently_a_figure(name, tmp_path):
    """What is left of a damaged number is not read, or a warning says what is wrong."""
    data, path = genuine()[name], tmp_path / "file"
    path.write_bytes(data)
    whole = read_file(path)
    usual = {(warning.code, warning.line) for warning in whole.warnings}
    known = printed(data) | figures(whole.values)

    @QUICK
    @given(half_numbers(data))
    def tells(found):
        path.write_bytes(found)
        try:
            reading = read_file(path)
        except ReadError:
            return
        invented = figures(reading.values) & (printed(found) - known)
        warnings = {(warning.code, warning.line) for warning in reading.warnings}
        assert not invented or warnings - usual, (invented, found[-200:])

    tells()


@pytest.mark.parametrize("name", TEXT_FORMATS)
def test_a_hole_in_a_file_is_told_with_its_line(name, tmp_path):
    data, path = genuine()[name], tmp_path / "file"
    lines = data.split(b"\n")
    at = max(range(len(lines)), key=lambda number: len(lines[number]))
    path.write_bytes(b"\n".join([*lines[:at], lines[at] + b"\0\0\0", *lines[at + 1 :]]))
    try:
        reading = read_file(path)
    except ReadError:
        return
    assert ("nul_bytes", at + 1) in {(found.code, found.line) for found in reading.warnings}


@settings(QUICK, max_examples=40)
@given(st.lists(st.sampled_from(WORDS), max_size=60).map("".join))
def test_words_of_many_formats(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "words"
    path.write_text(text)
    assert not is_unexplained(path)


@pytest.mark.parametrize("reader", load_readers(), ids=lambda reader: reader.name)
def test_each_reader_refuses_what_is_not_its_own(reader, tmp_path):
    """Asked by mistake, a reader raises what `read_file` turns into an error."""
    path = tmp_path / "file"
    for text in ("{}\n", "[1, 2]\n", "a,b\n1,2\n", "|a|b|\n|-|-|\n|1|2|\n", "\x01\x02\x03\n"):
        path.write_text(text)
        source = open_source(path)
        assert 0 <= reader.recognises(Sample(source, source.head)) <= 100
        try:
            json.dumps(reader.read(source).values)
        except (ReadError, *DAMAGE):
            continue


def test_every_reader_has_a_file():
    assert set(genuine()) == {reader.name for reader in load_readers()}
