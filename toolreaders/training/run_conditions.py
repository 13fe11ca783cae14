"""What a training log prints beside its losses: learning rate, loss scale, epoch, samples and
tokens by record, and the sizes that the run was started with."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import isnan, nan
from operator import itemgetter

from toolreaders.columns import is_ascending
from toolreaders.decoding import decode
from toolreaders.figures import NUMBER
from toolreaders.source import HEAD_BYTES, Source
from toolreaders.training.grad_norms import LOSS_SCALE

LEARNING_RATE, SCALE, EPOCH = "learning_rate", "loss_scale", "epoch"
SAMPLES, TOKENS, NORM = "consumed_samples", "consumed_tokens", "grad_norm"
SIGN = r"['\"]?(?: *[:=] *| +)['\"]?\[?"
FIELDS = {
    LEARNING_RATE: re.compile(
        rf"(?<![A-Za-z0-9_])(?:train/)?(?:learning[ _-]?rate|lr){SIGN}({NUMBER})", re.IGNORECASE),
    SCALE: LOSS_SCALE,
    EPOCH: re.compile(rf"(?<![A-Za-z0-9_])(?:train/)?epoch['\"]?: *['\"]?({NUMBER})"),
    SAMPLES: re.compile(
        rf"(?<![A-Za-z0-9_])(?:consumed[ _](?:train[ _])?samples|samples[ _]seen){SIGN}({NUMBER})"),
    TOKENS: re.compile(
        rf"(?<![A-Za-z0-9_])(?:train/)?(?:consumed[ _]tokens|num_(?:input_)?tokens(?:_seen)?"
        rf"|tokens[ _]seen){SIGN}({NUMBER})"),
}  # fmt: skip
"""By name what a record may print; a number each."""
BATCH, SEQUENCE, ACCUMULATION = "global_batch_size", "sequence_length", "accumulation_steps"
GIVEN = r"['\"]?(?: *\.{2,} *| *[:=] *)['\"]?(\d{1,12})\b"
SETTINGS = {
    BATCH: re.compile(
        r"(?<![A-Za-z0-9_])(?:global[ _]batch[ _]size|Total train batch size \([^)\n]{0,80}\)"
        rf"|train_batch_size){GIVEN}"),
    SEQUENCE: re.compile(
        rf"(?<![A-Za-z0-9_])(?:(?:max_)?seq(?:uence)?[ _-]?len(?:gth)?|cutoff_len){GIVEN}"),
    ACCUMULATION: re.compile(
        rf"(?<![A-Za-z0-9_])(?:Gradient Accumulation steps|gradient_accumulation_steps){GIVEN}"),
}  # fmt: skip
"""By name what a run prints at its start: Megatron's arguments, Trainer's summary, settings."""
LOOKED_AT = 20  # records that tell which fields the others have


@dataclass
class RunConditions:
    """``columns``: a number per record, NaN where it prints none. ``settings``: the first value of
    each size. ``resumed``: the steps with which the run went on from an earlier one."""

    columns: dict[str, array[float]] = field(default_factory=dict)
    settings: dict[str, int] = field(default_factory=dict)
    resumed: list[int] = field(default_factory=list)


def columns_named(names: Iterable[str]) -> dict[str, str]:
    """Which of these columns or tags of a table hold what a record may print, by its name here."""
    names = list(names)
    found = {name: next((column for column in names if pattern.fullmatch(f"{column}: 1")), None)
             for name, pattern in FIELDS.items()}
    return {name: column for name, column in found.items() if column is not None}


def settings_in(source: Source) -> dict[str, int]:
    """The sizes that the log's first 256 KiB name."""
    text, _lossy = decode(next(source.chunks(), b"")[:HEAD_BYTES])
    found = ((name, pattern.search(text)) for name, pattern in SETTINGS.items())
    return {name: int(match[1]) for name, match in found if match}


def columns_in(source: Source, lines: Sequence[int]) -> dict[str, array[float]]:
    """The fields that stand on the lines of the records, which are given in the records' order.

    Records that share their line have none.
    """
    places = range(len(lines))
    order = places if is_ascending(lines) else sorted(places, key=lines.__getitem__)
    found = {name: array("d", [nan]) * len(lines) for name in FIELDS}
    at, looked_at = 0, 0
    for number, pieces in groupby(source.lines(), key=itemgetter(0)):
        while at < len(order) and lines[order[at]] < number:
            at += 1
        if at == len(order) or not found:
            break
        is_shared = at + 1 < len(order) and lines[order[at + 1]] == number
        if lines[order[at]] != number or is_shared:
            continue
        text, looked_at = "\r".join(piece for _number, piece in pieces), looked_at + 1
        for name, column in found.items():
            if match := FIELDS[name].search(text):
                column[order[at]] = float(match[1])
        if looked_at == LOOKED_AT:
            found = _with_values(found)
    return _with_values(found)


def _with_values(columns: dict[str, array[float]]) -> dict[str, array[float]]:
    return {name: column for name, column in columns.items() if not all(map(isnan, column))}
