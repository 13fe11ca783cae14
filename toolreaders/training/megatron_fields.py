"""The fields of Megatron's iteration lines: ``iteration  5/ 5000 | … | lm loss: 1.0E+01 | …``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from toolreaders.training.line_prefixes import bytes_label_of

ITERATION = re.compile(rb"iteration[ \t=:]*(\d+)/\s*(\d+)\s*\|")
RANK_BYTES = 200
NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+|nan|inf|infinity)", re.IGNORECASE)
VALUE = re.compile(rb"(%b)(?:/%b)?(?:TFLOPS)?" % (NUMBER.pattern, NUMBER.pattern), re.IGNORECASE)
CONTINUED = re.compile(rb"\n+(?: ?[a-z][a-z ]*: [^|\n]{1,60}\|)+[ \t\r]*(?=\n|$)")
SPACE = re.compile(rb"[\s_]+")
SIGN = re.compile(rb"[:=]")  # between a field's name and its value
MOST_KEYS = 1024  # names of fields that are remembered; a log repeats a dozen
NOT_THE_LOSS = (b"scale", b"balancing", b"aux", b"zloss", b"mtp", b"eval", b"valid", b"indexer")
LOSS_KEYS = (b"lmloss", b"loss", b"reducedtrainloss", b"trainloss", b"totalloss")

TFLOPS = b"throughputpergpu(tflop/s/gpu)"
SAME = {b"tflops": TFLOPS, b"approxflopspergpu": TFLOPS}
"""Names that forks have for a field of Megatron-LM."""

Fields = dict[bytes, float]


def line_end(chunk: bytes, start: int, limit: int | None = None) -> int:
    """Where the line ends, or the limit before that: long lines hold many records."""
    limit = len(chunk) if limit is None else limit
    end = chunk.find(b"\n", start, limit)
    return limit if end < 0 else end


def key_of(field_text: bytes) -> bytes:
    """The name of a field in lower case and without spaces, as ``fields_of`` has it."""
    return _plain(SIGN.split(field_text, maxsplit=1)[0])


@lru_cache(MOST_KEYS)
def _plain(name: bytes) -> bytes:
    plain = SPACE.sub(b"", name).lower()
    return SAME.get(plain, plain)


def loss_key(keys: list[bytes] | Fields) -> bytes | None:
    """The name under which the language model's loss is printed, None where there is none."""
    for key in LOSS_KEYS:
        if key in keys:
            return key
    others = [key for key in keys if key.endswith(b"loss")]
    return next((key for key in others if not any(no in key for no in NOT_THE_LOSS)), None)


def records_in(chunk: bytes) -> Iterator[tuple[re.Match[bytes], str, bytes]]:
    """(match, label of the rank, text after the counter) of every iteration, also of glued ones."""
    matches = list(ITERATION.finditer(chunk))
    limits = [*(match.start() for match in matches[1:]), len(chunk)] if matches else []
    line_start = before = 0
    for match, limit in zip(matches, limits, strict=True):
        line_start = chunk.rfind(b"\n", before, match.start()) + 1 or line_start
        before = match.start()
        end = line_end(chunk, match.end(), limit)
        while end < limit and (found := CONTINUED.match(chunk, end)):  # a terminal wrapped it
            end = found.end()
        rank = bytes_label_of(chunk[line_start : min(match.start(), line_start + RANK_BYTES)])
        yield match, rank, chunk[match.end() : min(end, limit)]


def _pieces(part: bytes) -> list[bytes]:
    """Name and value of a field; Megatron-LM 1 prints no colon."""
    pieces = SIGN.split(part, maxsplit=1)
    return pieces if len(pieces) == 2 else part.strip().rsplit(b" ", maxsplit=1)


def fields_of(text: bytes) -> Fields:
    """Numbers of the fields that are closed by ``|``; broken keys and numbers are joined again.

    Of “this/mean of the last” the first number counts.
    """
    numbers: Fields = {}
    for part in text.split(b"|")[:-1]:
        if len(pieces := _pieces(part)) == 2:
            value = VALUE.fullmatch(SPACE.sub(b"", pieces[1]))
            if value:
                numbers[_plain(pieces[0])] = float(value[1])
    return numbers


def names_of(text: bytes) -> list[bytes]:
    """Names of all fields, also of those whose value is no number."""
    return [_plain(pieces[0]) for part in text.split(b"|") if len(pieces := _pieces(part)) == 2]


def milliseconds(fields: Fields) -> float:
    """Time of one iteration in ms, NaN where the line does not tell."""
    if b"elapsedtimeperiteration(s)" in fields:
        return 1000 * fields[b"elapsedtimeperiteration(s)"]
    for key in (b"elapsedtimeperiteration(ms)", b"elapsedtimeperiterationms"):
        if key in fields:
            return fields[key]
    return float("nan")
