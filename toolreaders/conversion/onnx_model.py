"""ONNX models: opset, inputs and operators, from the protobuf of ``ModelProto``.

Field numbers of onnx/onnx.proto: ir_version 1, producer_name 2, producer_version 3, graph 7,
opset_import 8 {domain 1, version 2}; graph: node 1 {op_type 4, domain 7}, input 11 {name 1}.
Weights are passed over. Graphs inside of attributes (bodies of If and Loop) are not entered.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any, BinaryIO

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
IR_VERSION, PRODUCER, PRODUCER_VERSION, GRAPH, OPSETS = 1, 2, 3, 7, 8
NODE, INPUT = 1, 11
NAME, OP_TYPE, DOMAIN = 1, 4, 7
DEFAULT_DOMAIN = ("", "ai.onnx")
MOST_TEXT = 4096
MOST_INPUTS, MOST_TYPES = 200, 500


@register
class OnnxReader(Reader):
    """A model file; only its head and its counts are read."""

    name = "onnx_model"
    kind = "onnx_model"
    tool = "onnx"

    def recognises(self, sample: Sample) -> int:
        head = sample.data[:2]
        if head[:1] != b"\x08" or not 3 <= (head[1] if len(head) > 1 else 0) <= 20:
            return 0
        numbers = [number for number, _k, _v in _fields(BytesIO(sample.data[:64]), 64, lax=True)]
        return 90 if {PRODUCER, GRAPH, OPSETS} & set(numbers) else 0

    def read(self, source: Source) -> Reading:
        values: dict[str, Any] = {"ir_version": None, "opsets": {}, "nodes": 0, "inputs": [],
                                  "operators": {}}
        with source.path.open("rb") as stream:
            for number, _kind, value in _fields(stream, source.path.stat().st_size):
                _take(values, number, value, stream)
        if not values["opsets"]:
            raise ReadError("damaged_file", "The model names no opset: it is cut off.")
        own = (v for domain, v in values["opsets"].items() if domain in DEFAULT_DOMAIN)
        values["opset"] = next(own, None)
        producer = values.pop("producer", None)
        version = values.pop("producer_version", None)
        return self.reading({**values, "producer": producer}, tool=producer, tool_version=version)


def _take(values: dict[str, Any], number: int, value: Any, stream: BinaryIO) -> None:
    if number == IR_VERSION and isinstance(value, int):
        values["ir_version"] = value
    elif number in (PRODUCER, PRODUCER_VERSION):
        name = "producer" if number == PRODUCER else "producer_version"
        values[name] = stream.read(min(value, MOST_TEXT)).decode("utf-8", "replace")
    elif number == OPSETS:
        found = {n: v if kind == VARINT else stream.read(min(v, MOST_TEXT)).decode(errors="replace")
                 for n, kind, v in _fields(stream, value)}  # fmt: skip
        values["opsets"][str(found.get(1, ""))] = int(found.get(2, 0))
    elif number == GRAPH:
        for part, _kind, size in _fields(stream, value):
            values["nodes"] += part == NODE
            if part == INPUT and len(values["inputs"]) < MOST_INPUTS:
                values["inputs"].append(_texts(stream, size, NAME)[0])
            elif part == NODE:
                _count(values["operators"], *_texts(stream, size, OP_TYPE, DOMAIN))


def _count(operators: dict[str, int], kind: str, domain: str) -> None:
    """One more node of the type; that of another domain than ONNX's own is named with it."""
    name = kind if domain in DEFAULT_DOMAIN else f"{domain}::{kind}"
    if name in operators or len(operators) < MOST_TYPES:
        operators[name] = operators.get(name, 0) + 1


def _texts(stream: BinaryIO, size: int, *numbers: int) -> list[str]:
    """The texts of these fields of a message, "" for one that is not there."""
    found = dict.fromkeys(numbers, "")
    for number, kind, value in _fields(stream, size):
        if number in found and kind == BYTES:
            found[number] = stream.read(min(value, MOST_TEXT)).decode("utf-8", "replace")
    return list(found.values())


def _fields(stream: BinaryIO, size: int, *, lax: bool = False) -> Iterator[tuple[int, int, int]]:
    """(number, wire type, value or length) of each field of a message of `size` bytes.

    For bytes the stream stands at their beginning; what the caller leaves unread is passed over.
    Raises EOFError where the message is cut, unless `lax`.
    """
    end = stream.tell() + size
    while stream.tell() < end:
        try:
            key = _varint(stream)
            kind = key & 7
            value = _varint(stream) if kind in (VARINT, BYTES) else 0
        except EOFError:
            if lax:
                return
            raise
        start = stream.tell()
        length = {VARINT: 0, FIXED64: 8, BYTES: value, FIXED32: 4}.get(kind)
        if length is None or (start + length > end and not lax):
            raise EOFError("a field leaves its message")
        yield key >> 3, kind, value
        stream.seek(start + length)


def _varint(stream: BinaryIO) -> int:
    value = shift = 0
    while shift < 70:
        byte = stream.read(1)
        if not byte:
            raise EOFError("the file is cut off")
        value |= (byte[0] & 127) << shift
        if byte[0] < 128:
            return value
        shift += 7
    raise EOFError("a number is too long")
