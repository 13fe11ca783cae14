"""TensorBoard event files, read without TensorFlow.

Records of TFRecord framing (length, masked CRC-32C of the length, data, CRC of the data) hold
Event messages: wall_time 1, step 2, summary 5 → value 1 → tag 1, simple_value 2, tensor 8.
"""

from __future__ import annotations

import re
import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import nan

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.columns import Column, at_indices
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.training.grad_norms import GradientNorms
from toolreaders.training.hf_records import real_losses
from toolreaders.training.run_conditions import columns_named
from toolreaders.training.run_selection import select
from toolreaders.training.series import LossSeries, TrainingLogReader, assemble

LOSS_TAGS = ("train/loss", "loss", "loss/train", "train_loss", "lm loss", "train/lm_loss")
LOSS_TAGS += ("train/total_loss", "total_loss", "train/loss_step", "train_loss_step")
LOSS_TAGS += ("epoch_loss", "lm-loss-training/lm loss", "training/loss", "losses/total_loss")
GRAD_NORMS = ("train/grad_norm", "grad-norm", "grad_norm")
LOSS_SCALE = "loss-scale"
OTHER = re.compile(r"\b(?:val|valid|validation|eval|test)|vs samples|scale", re.IGNORECASE)
MAX_RECORD = 256 * 1024**2
MAX_CHECKED_RECORD = 4096
MAX_CHECKED_BYTES = 32 * 1024**2
Message = list[tuple[int, int, int | bytes]]


def _crc_table() -> list[int]:
    table = []
    for value in range(256):
        for _bit in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)  # noqa: PLW2901
        table.append(value)
    return table


CRC_TABLE = _crc_table()


def masked_crc(data: bytes) -> int:
    """CRC-32C, rotated and offset as TFRecord stores it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def is_event_file(data: bytes) -> bool:
    """True if ``data`` starts with a record whose length has the right checksum."""
    if len(data) < 12:
        return False
    length, crc = struct.unpack("<QI", data[:12])
    return 0 < length < MAX_RECORD and masked_crc(data[:8]) == crc


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7


def _fields(data: bytes) -> Message:
    """(number, wire type, value) of a protobuf message."""
    fields: Message = []
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = _varint(data, at)
            fields.append((key >> 3, wire, value))
            continue
        if wire == 2:
            size, at = _varint(data, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise ValueError(f"wire type {wire}")
        fields.append((key >> 3, wire, data[at : at + size]))
        at += size
    return fields


@dataclass
class Events:
    """Scalars by tag in file order; ``cut`` if the last record is incomplete."""

    scalars: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    records: int = 0
    cut: bool = False
    damaged: bool = False


def read_events(data: bytes) -> Events:
    """All scalars of an event file; stops at the first record with a wrong checksum.

    Checksums of data are compared for records of up to 4 KiB (scalars) in the first 32 MiB.
    """
    events, at = Events(), 0
    while at < len(data):
        if at + 12 > len(data):
            events.cut = True
            break
        length, crc = struct.unpack_from("<QI", data, at)
        if masked_crc(data[at : at + 8]) != crc:
            events.damaged = True
            break
        if at + 16 + length > len(data):
            events.cut = True
            break
        record = data[at + 12 : at + 12 + length]
        (crc,) = struct.unpack_from("<I", data, at + 12 + length)
        if at < MAX_CHECKED_BYTES and length <= MAX_CHECKED_RECORD and masked_crc(record) != crc:
            events.damaged = True
            break
        _event(record, events)
        events.records += 1
        at += 16 + length
    return events


def _event(data: bytes, events: Events) -> None:
    step, summary = 0, b""
    for number, _wire, value in _fields(data):
        if number == 2 and isinstance(value, int):
            step = value - (1 << 64) if value >= 1 << 63 else value
        elif number == 5 and isinstance(value, bytes):
            summary = value
    for tag, scalar in _scalars(summary):
        events.scalars.setdefault(tag, []).append((step, scalar))


def _scalars(summary: bytes) -> Iterator[tuple[str, float]]:
    for number, _wire, value in _fields(summary):
        if number != 1 or not isinstance(value, bytes):
            continue
        tag, scalar = "", None
        for inner, wire, content in _fields(value):
            if inner == 1 and isinstance(content, bytes):
                tag = content.decode("utf-8", "replace")
            elif inner == 2 and wire == 5 and isinstance(content, bytes):
                scalar = struct.unpack("<f", content)[0]
            elif inner == 8 and isinstance(content, bytes):
                scalar = _tensor(content)
        if scalar is not None:
            yield tag, scalar


def _tensor(data: bytes) -> float | None:
    """Scalar tensors of TF2: float (type 1) or double (type 2), in content or in the list."""
    fields = _fields(data)
    kind = next((value for number, _w, value in fields if number == 1), None)
    form = {1: "<f", 2: "<d"}.get(kind if isinstance(kind, int) else 0)
    for number, _wire, value in fields:
        if not form or number not in (4, 5, 6) or not isinstance(value, bytes):
            continue
        if len(value) == struct.calcsize(form):
            return struct.unpack(form, value)[0]
    return None


def loss_tag(tags: list[str]) -> str | None:
    """The tag of the training loss."""
    lowered = {tag.lower(): tag for tag in reversed(tags)}
    for name in LOSS_TAGS:
        if name in lowered:
            return lowered[name]
    return next((tag for tag in tags if "loss" in tag.lower() and not OTHER.search(tag)), None)


def _events_of(source: Source) -> tuple[Events, list[ReadingWarning]]:
    events = read_events(source.data)
    warnings = []
    if events.cut:
        message = f"The last of {events.records + 1} records is cut off."
        warnings.append(ReadingWarning("truncated_record", message))
    if events.damaged:
        message = f"After {events.records} records the file is damaged; the rest is not read."
        warnings.append(ReadingWarning("damaged_records", message))
    return events, warnings


@register
class TensorBoardReader(TrainingLogReader):
    """Event file with a training loss."""

    name = "tensorboard_events"
    tool = "TensorBoard"

    def recognises(self, sample: Sample) -> int:
        return 90 if is_event_file(sample.data) else 0

    def series(self, source: Source) -> LossSeries:
        events, warnings = _events_of(source)
        tag = loss_tag(list(events.scalars))
        if tag is None:
            names = ", ".join(list(events.scalars)[:8]) or "none"
            message = f"The event file holds no training loss; its scalars: {names}."
            raise ReadError("no_loss_points", message)
        steps = array("q", (step for step, _value in events.scalars[tag]))
        losses = array("d", (value for _step, value in events.scalars[tag]))
        by_trainer = tag == "train/loss" and "train/epoch" in events.scalars
        norms = _norms(events, steps)
        beside = {name: Column(map(dict(events.scalars[found]).get, steps))
                  for name, found in columns_named(events.scalars).items()}
        if by_trainer:
            losses, hidden = real_losses(losses, norms, steps)
            warnings += hidden
        chosen = select(steps, losses)
        steps, losses = at_indices(steps, chosen.selected), at_indices(losses, chosen.selected)
        return assemble(
            steps,
            losses,
            meaning="window_mean" if by_trainer else "point",
            step_base=0 if steps[0] == 0 else 1,
            warnings=chosen.warnings + warnings,
            unprovable=chosen.unprovable,
            runs=chosen.runs,
            norms=norms and norms.keep(chosen.selected),
            columns={name: column.keep(chosen.selected) for name, column in beside.items()},
            tool="transformers Trainer" if by_trainer else self.tool,
            extras={"tag": tag, "tags": sorted(events.scalars)},
        )


def _norms(events: Events, steps: array[int]) -> GradientNorms | None:
    """The gradient norms of these steps; a loss scale below that of the step before explains one
    that is not finite."""
    found: dict[int, float] = {}
    for tag in GRAD_NORMS:
        found = found or dict(events.scalars.get(tag, []))
    scales = dict(events.scalars.get(LOSS_SCALE, []))

    def explain() -> set[int]:
        own = [scales.get(step, nan) for step in steps]
        return {place for place, (before, after) in enumerate(pairwise(own), 1) if after < before}

    return GradientNorms.of(Column(map(found.get, steps)), explain)


@register
class TensorBoardEvaluationReader(Reader):
    """Event file that holds evaluation scalars only (HF Trainer writes a second file for them)."""

    name = "tensorboard_evaluation"
    kind = "evaluation"
    tool = "TensorBoard"

    def recognises(self, sample: Sample) -> int:
        if not is_event_file(sample.data):
            return 0
        tags = list(read_events(sample.data).scalars)
        return 92 if tags and loss_tag(tags) is None and any(map(OTHER.search, tags)) else 0

    def read(self, source: Source) -> Reading:
        events, warnings = _events_of(source)
        metrics = {tag: rows[-1][1] for tag, rows in events.scalars.items()}
        steps = {step for rows in events.scalars.values() for step, _value in rows}
        values = {"metrics": metrics, "step": max(steps)}
        return self.reading(values, warnings=warnings)
