"""``read_file``: what kind of tool output a file is, what it holds, and what else is in it."""

from __future__ import annotations

from pathlib import Path

from toolreaders.base import Reading, open_source, reading_by, recognise, several_outputs
from toolreaders.parts import parts_of


def read_file(path: str | Path) -> Reading:
    """Recognise and read one file.

    Raises ReadError with codes not_found, is_directory, not_a_file, empty_file, unknown_format,
    too_large, partly_searched, several_outputs, damaged_gzip, damaged_xz, damaged_json,
    damaged_file or those of the reader itself.
    """
    source = open_source(path)
    reader = recognise(source)
    if source.prefixes.names and reader.kind != "training_log":
        raise several_outputs(source.prefixes.names)
    reading = reading_by(reader, source)
    reading.parts = parts_of(source, reader)
    reading.warnings += [part.warning() for part in reading.parts]
    return reading
