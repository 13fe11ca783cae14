"""The reader registry: what kind of tool output a file is, and which reader reads it."""

from __future__ import annotations

import csv
import importlib
import logging
import math
import os
import pkgutil
import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, TypeVar

from toolreaders.sample import Sample, digests, is_longer_than_head, later_samples
from toolreaders.source import ReadError, ReadingWarning, Source

__all__ = [
    "ReadError",
    "Reader",
    "Reading",
    "ReadingWarning",
    "Sample",
    "Source",
    "json_safe",
    "load_readers",
    "open_source",
    "reading_by",
    "recognise",
    "register",
]

FORMATS = (
    "accuracy", "conversion", "environment", "evaluation", "performance", "serving", "training",
)  # fmt: skip
"""Packages of readers, a module or class per format."""
PLUGINS = "delivery_desk.readers"
"""Group of the entry points of packages that bring readers; see docs/extending.md of the desk."""
WITHOUT = "TOOLREADERS_WITHOUT"
"""Variable that names packages, between commas, whose readers are left out."""
DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    csv.Error,
    EOFError,
    LookupError,
    RecursionError,
    StopIteration,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What reading damaged content raises; callers see ReadError ``damaged_file`` instead."""

MACHINE_KINDS = {"npu_smi", "nvidia_smi", "hccn_tool", "host_probe", "torch_check", "version_info"}
"""The state of a machine, of which manuals show examples in plain text too."""
STATE_KINDS = MACHINE_KINDS | {"training_arguments", "compatibility_table", "tool_log"}
"""What scripts print before their work: in one file with results, the results are what it is."""
GUESS = 50
"""Up to this confidence a reader may be wrong about a sample."""


@dataclass(frozen=True)
class Part:
    """Lines that another reader than the file's knows. ``values`` is None where it cannot read
    them; ``error`` says why."""

    kind: str
    reader: str
    first_line: int
    last_line: int
    values: dict[str, Any] | None
    error: dict[str, str] | None = None

    def warning(self) -> ReadingWarning:
        """What a person must know of it."""
        where = f"Lines {self.first_line} to {self.last_line}"
        if self.error:
            message = f"{where} look like {self.kind} but are not read: {self.error['message']}"
            return ReadingWarning("part_not_read", message, self.first_line)
        message = f"{where} hold something else, {self.kind}: it stands in “parts”."
        return ReadingWarning("other_part", message, self.first_line)


@dataclass
class Reading:
    """What a file holds. ``values`` is JSON-safe: NaN and Inf are the strings "nan", "inf"."""

    kind: str
    tool: str | None
    tool_version: str | None
    values: dict[str, Any]
    warnings: list[ReadingWarning] = field(default_factory=list)
    reader: str = ""
    reader_version: str = ""
    parts: list[Part] = field(default_factory=list)
    """What else the file holds."""
    content_sha256: str = ""
    """Of what a packed file holds, where the caller computed it (`packing.content_sha256`)."""


class Reader:
    """One format. Subclasses set the four names and implement the two methods.

    ``most_confidence`` is the highest answer of ``recognises``; a slow reader with a low one is
    not asked where another reader is surer.
    """

    name: str = ""
    kind: str = ""
    version: str = "1"
    tool: str | None = None
    most_confidence: int = 100
    in_documents: bool = False
    """Whether a README is its format: comparison tables stand in them."""

    def recognises(self, sample: Sample) -> int:
        """Confidence 0..100 that the content is this format; the highest reader wins."""
        raise NotImplementedError

    def read(self, source: Source) -> Reading:
        """Read the whole file; raise ReadError when it is damaged or holds no value."""
        raise NotImplementedError

    def reading(
        self,
        values: dict[str, Any],
        *,
        warnings: Iterable[ReadingWarning] = (),
        tool: str | None = None,
        tool_version: str | None = None,
    ) -> Reading:
        """A Reading of this reader's kind, with its name and version filled in."""
        return Reading(
            kind=self.kind,
            tool=tool or self.tool,
            tool_version=tool_version,
            values=values,
            warnings=list(warnings),
            reader=self.name,
            reader_version=self.version,
        )


READERS: dict[str, Reader] = {}
R = TypeVar("R", bound=type[Reader])


def register(reader_class: R) -> R:
    """Class decorator: make a reader known. Two readers of one name are a programming error."""
    reader = reader_class()
    known = READERS.get(reader.name)
    if known is not None and type(known).__qualname__ != reader_class.__qualname__:
        raise ValueError(f"Two readers are named {reader.name!r}")
    READERS[reader.name] = reader
    return reader_class


def import_formats() -> None:
    """Import every module of the packages of formats."""
    for name in FORMATS:
        package = importlib.import_module(f"toolreaders.{name}")
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)


@cache
def load_readers() -> tuple[Reader, ...]:
    """All registered readers by name, those of installed packages too; loaded once."""
    import_formats()
    refused = os.environ.get(WITHOUT, "").split(",")
    for entry in sorted(entry_points(group=PLUGINS), key=lambda entry: entry.name):
        if entry.dist.name not in refused:
            _load_plugin(entry)
    return tuple(READERS[name] for name in sorted(READERS))


def _load_plugin(entry: EntryPoint) -> None:
    """Import a module of another package; one that fails leaves no reader behind."""
    before = dict(READERS)
    try:
        entry.load()
    except (Exception, SystemExit):
        READERS.clear()
        READERS.update(before)
        logging.getLogger(__name__).exception("readers of %s", entry.value)


def reading_by(reader: Reader, source: Source) -> Reading:
    """What a reader reads from a file; ReadError also where its content breaks the reader."""
    try:
        reading = reader.read(source)
    except DAMAGE as error:
        raise source.refusal or damaged(reader, error) from error
    reading.values = json_safe(reading.values)
    reading.warnings = with_warnings_of(source, reading.warnings)
    return reading


def several_outputs(found: list[bytes]) -> ReadError:
    """The error for a file in which containers or tasks print line by line."""
    names = ", ".join(prefix.decode("utf-8", "replace").rstrip("|: ") for prefix in found[:4])
    message = f"Outputs of {len(found)} containers or tasks are mixed ({names}): give one each."
    return ReadError("several_outputs", message)


TAR_AT, TAR_MAGIC = 257, b"ustar"
OPEN_ENDS = {"truncated_record", "run_not_finished", "epoch_unfinished"}


def with_warnings_of(source: Source, warnings: list[ReadingWarning]) -> list[ReadingWarning]:
    """The reader's warnings and what opening and decoding the file had to say.

    An unfinished last line is told where the reader has not left it out itself.
    """
    if not any(warning.code in OPEN_ENDS for warning in warnings):
        source.warn_of_its_end()
    known = {(warning.code, warning.line) for warning in warnings}
    return warnings + [w for w in source.warnings if (w.code, w.line) not in known]


def damaged(reader: Reader, error: BaseException) -> ReadError:
    """The error for content that was recognised but breaks its reader."""
    message = f"The file looks like {reader.name} but cannot be read: {error!r}."
    return ReadError("damaged_file", message)


def open_source(path: str | Path) -> Source:
    """The file at ``path``, checked to be a readable, non-empty regular file."""
    path = Path(path)
    if path.is_dir():
        raise ReadError("is_directory", "This is a directory; give the files in it.")
    if not path.exists():
        raise ReadError("not_found", "There is no such file.")
    if not path.is_file():
        raise ReadError("not_a_file", "This is not a regular file.")
    source = Source(path)
    try:
        head = source.head
    except OSError as error:
        raise ReadError("not_readable", f"The file cannot be opened: {error}.") from error
    if not head.strip(b"\x00 \t\r\n\xef\xbb\xbf\xff\xfe"):
        raise ReadError("empty_file", "The file holds no content.")
    if head[TAR_AT:].startswith(TAR_MAGIC):  # whose bytes are not those of the file in it
        raise ReadError("unknown_format", "This is a tar archive; give the files in it.")
    return source


def recognise(source: Source, kind: str | None = None) -> Reader:
    """The most confident reader (of one kind if given); ReadError unknown_format if there is none.

    The first 256 KiB usually tell. Where they hold nothing known, a guess, or only the state of
    the machine that a script prints before its work, the middle and the end are looked at too;
    where none of them tells, the whole file.
    """
    head = Sample(source, source.head)
    found = _best([head], kind)
    if not found.is_sure and not head.is_binary and is_longer_than_head(source):
        found = _searched(source, found, kind)
    if found.reader is None:
        raise several_outputs(source.prefixes.names) if source.prefixes.names else _unknown(source)
    return found.reader


@dataclass(frozen=True)
class Match:
    """The reader that knows a sample best, if any does."""

    reader: Reader | None = None
    confidence: int = 0

    def __bool__(self) -> bool:
        return self.reader is not None

    @property
    def is_result(self) -> bool:
        return self.reader is not None and self.reader.kind not in STATE_KINDS

    @property
    def rank(self) -> tuple[bool, int]:
        """Readers of results come before those of what stands before results."""
        return self.is_result, self.confidence

    @property
    def is_sure(self) -> bool:
        return self.rank > (True, GUESS)


def _searched(source: Source, found: Match, kind: str | None) -> Match:
    """What middle and end tell beside the head's ``found``, or else the whole file."""
    later = later_samples(source)
    if found.is_result and any(confidence_in(found.reader, sample) for sample in later):
        return found
    found = max(found, _best(later, kind), key=lambda match: match.rank)
    return found or next(filter(None, (_best([one], kind) for one in digests(source))), found)


def _best(samples: Iterable[Sample], kind: str | None) -> Match:
    best = Match()
    for sample in samples:
        for reader in sorted(load_readers(), key=lambda reader: -reader.most_confidence):
            most = Match(reader, reader.most_confidence)
            if kind not in (None, reader.kind) or most.rank <= best.rank:
                continue
            if (found := confidence_in(reader, sample)) and not _is_quoted(sample, reader):
                best = max(best, Match(reader, found), key=lambda match: match.rank)
    return best


def _is_quoted(sample: Sample, reader: Reader) -> bool:
    """Whether what the reader knows would only be quoted here, by a program or by an explanation.

    Comparison tables stand in documents; a log of results may hold sentences that a model wrote.
    """
    if reader.in_documents:
        return sample.is_program
    is_explained = reader.kind in MACHINE_KINDS and sample.is_explanation
    return is_explained or sample.is_program or sample.is_document


def confidence_in(reader: Reader, sample: Sample) -> int:
    """What the reader answers, 0 where the sample breaks it."""
    try:
        return reader.recognises(sample)
    except DAMAGE:
        return 0


def _unknown(source: Source) -> ReadError:
    if source.refusal:
        return source.refusal
    if Sample(source, source.head).is_broken_json:
        message = "The file starts like JSON but is not complete or not valid."
        return ReadError("damaged_json", message)
    message = "No reader knows this content; give the file as the tool wrote it."
    return ReadError("unknown_format", message)


def json_safe(value: Any) -> Any:
    """``value`` with what strict JSON can hold: non-finite floats become "nan", "inf", "-inf"."""
    if isinstance(value, dict):
        return {str(key): json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [json_safe(item) for item in value]
    if hasattr(value, "item") and not isinstance(value, str | bytes):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
