"""Overflow findings: Opdebug JSON of both layouts, msaccucmp's summary, msprobe overflow_check.

Status bits: DOMAIN 5.6 (older AI Core layout). A bit that is not in the table is shown as unknown,
never dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolreaders.accuracy.msprobe_tensors import is_nonfinite, tensors_of
from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning

STATUS_BITS = {
    0x008: ("negation of the smallest signed integer", "有符号整数最小负数取反溢出"),
    0x010: ("integer add, subtract, multiply or multiply-add", "整数加/减/乘/乘加溢出"),
    0x020: ("floating-point calculation", "浮点计算溢出"),
    0x080: ("negative input when converting float to unsigned", "浮点转无符号数的输入为负"),
    0x100: ("conversion of FP32 or int32 to FP16", "FP32 或 32 位有符号整数转 FP16 溢出"),
    0x400: ("CUBE accumulation", "CUBE 累加溢出"),
}
OLD_BLOCKS = {"dhaatomicadd": "DHA Atomic Add", "l2atomicadd": "L2 Atomic Add", "aicore": "AI Core"}
SUMMARY_RULE = re.compile(r"^=+\[(\d+)\]=+$")
SUMMARY_TASK = re.compile(
    r"^\s*\[(?P<block>[^\]]+)\]\[TaskId:(?P<task>\d+)\]\[StreamId:(?P<stream>\d+)\]"
    r"\[Status:(?P<status>[^\]]+)\]"
)
SUMMARY_OP = re.compile(r"^\[(?P<type>[^\]]+)\] (?P<name>\S+)\s*$")
SUMMARY_TENSOR = re.compile(r"\[Max: (?P<max>[^\]]+)\] \[Min: (?P<min>[^\]]+)\]")


def status_bits(status: int) -> list[dict[str, Any]]:
    """Every set bit of a status with its meaning (DOMAIN 5.6), unknown ones included."""
    found = []
    for position in range(status.bit_length()):
        bit = 1 << position
        if not status & bit:
            continue
        english, chinese = STATUS_BITS.get(bit, ("unknown bit", "未定义"))
        found.append({
            "bit": bit, "hex": f"0x{bit:08x}", "en": english, "zh": chinese,
            "known": bit in STATUS_BITS,
        })  # fmt: skip
    return found


def _plain(key: str) -> str:
    return re.sub(r"[\s_]+", "", key).lower()


def _status(value: Any) -> tuple[int, list[int]]:
    """Status as one number and as words: 32, "0x20" or version 1's list of 4 words."""
    words = value if isinstance(value, list) else [value]
    numbers = [int(str(word), 0) for word in words]
    if any(number < 0 for number in numbers):
        raise ReadError("damaged_file", "A status is negative.")
    return sum(number << (32 * place) for place, number in enumerate(numbers)), numbers


def _block(name: str, fields: dict[str, Any], *, bits_known: bool) -> dict[str, Any]:
    plain = {re.sub(r"\s+", "_", key.strip()).lower(): item for key, item in fields.items()}
    status, words = _status(plain.pop("status"))
    if "block_id" in plain and "block_idx" not in plain:
        plain["block_idx"] = plain.pop("block_id")
    bits = status_bits(status) if bits_known else []
    return {
        "block": name,
        "status": status,
        "status_words": words,
        "status_hex": hex(status),
        "bits": bits,
        "overflow": status != 0,
        **plain,
    }


@register
class OpdebugReader(Reader):
    """``Opdebug.Node_OpDebug.*.json``: old blocks or new {magic, version, acc_list}."""

    name = "opdebug"
    kind = "overflow"
    tool = "msaccucmp"

    def recognises(self, sample: Sample) -> int:
        found = sample.json
        if not isinstance(found, dict):
            return 0
        plain = {_plain(key) for key in found}
        return 95 if plain & set(OLD_BLOCKS) or {"magic", "acclist"} <= plain else 0

    def read(self, source: Source) -> Reading:
        found = {_plain(key): item for key, item in source.json.items()}
        new = "acclist" in found
        blocks = list(_new_blocks(found) if new else _old_blocks(found))
        hit = [block for block in blocks if block["overflow"]]
        values = {
            "form": "opdebug_new" if new else "opdebug",
            "blocks": blocks,
            "overflow": bool(hit),
            "overflow_blocks": [block["block"] for block in hit],
            "status": hit[0]["status"] if hit else 0,
            "bits": [bit for block in hit for bit in block["bits"]],
            "task_id": hit[0].get("task_id") if hit else None,
            "stream_id": hit[0].get("stream_id") if hit else None,
        }
        return self.reading(values, warnings=_bit_warnings(hit, new=new))


def _old_blocks(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for plain, name in OLD_BLOCKS.items():
        if plain in found:
            yield _block(name, found[plain], bits_known=True)


def _new_blocks(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The new layout's words are laid out per accelerator: only AIC's first word uses the bits."""
    entries = found["acclist"]
    for entry in entries if isinstance(entries, list) else [entries]:
        kind = str(entry["acc_type"])
        block = _block(kind, entry["data"], bits_known=kind in ("AIC", "AIV"))
        block["valid"] = entry.get("valid")
        yield block


def _bit_warnings(hit: list[dict[str, Any]], *, new: bool) -> Iterator[ReadingWarning]:
    for block in hit:
        unknown = [bit["hex"] for bit in block["bits"] if not bit["known"]]
        if unknown:
            message = f"{block['block']}: {', '.join(unknown)} is not in the table of status bits."
            yield ReadingWarning("unknown_status_bit", message)
        if not block["bits"]:
            message = f"The bits of {block['block']} status {block['status']} are not documented."
            yield ReadingWarning("status_not_decoded", message)
    if new and hit:
        message = "The meanings of the bits come from the older layout; check them for this chip."
        yield ReadingWarning("bits_of_older_layout", message)


@register
class OverflowSummaryReader(Reader):
    """``overflow_summary_*.txt`` of msaccucmp overflow."""

    name = "msaccucmp_overflow"
    kind = "overflow"
    tool = "msaccucmp"

    def recognises(self, sample: Sample) -> int:
        lines = [line for line in sample.lines[:5] if line.strip()]
        return 95 if lines and SUMMARY_RULE.match(lines[0].strip()) else 0

    def read(self, source: Source) -> Reading:
        ops: list[dict[str, Any]] = []
        for _number, line in source.lines():
            _summary_line(ops, line.rstrip())
        if not any("status" in op for op in ops):
            raise ReadError("damaged_file", "The summary names no task.")
        incomplete = [op["index"] for op in ops if "status" not in op]
        warnings = [
            ReadingWarning("truncated_record", f"Entry {index} is incomplete.")
            for index in incomplete
        ]
        if any(op["name"] is None for op in ops):
            message = "The operator's dump file was not found: only its task is known."
            warnings.append(ReadingWarning("operator_unknown", message))
        values = {
            "form": "overflow_summary",
            "ops": ops,
            "op_count": len(ops),
            "overflow": bool(ops),
            "first_op": ops[0]["name"],
        }
        return self.reading(values, warnings=warnings)


def _summary_line(ops: list[dict[str, Any]], line: str) -> None:
    if found := SUMMARY_RULE.match(line.strip()):
        ops.append({"index": int(found[1]), "name": None, "type": None, "nonfinite": False})
    elif not ops:
        return
    elif found := SUMMARY_TASK.match(line):
        status, words = _status(int(found["status"], 0) if found["status"].isalnum() else 0)
        known = found["block"] not in ("SDMA", "AICPU")
        ops[-1].update(
            block=found["block"],
            task_id=int(found["task"]),
            stream_id=int(found["stream"]),
            status=status,
            status_words=words,
            bits=status_bits(status) if known else [],
        )
    elif found := SUMMARY_OP.match(line):
        ops[-1].update(type=found["type"], name=found["name"])
    elif (found := SUMMARY_TENSOR.search(line)) and (
        {found["max"].lower(), found["min"].lower()} & {"inf", "-inf", "nan"}
    ):
        ops[-1]["nonfinite"] = True


@register
class AnomalyReader(Reader):
    """``anomaly_analyze_*.json`` of msprobe overflow_check (8.x nan_analyze): {rank_N: [op…]}.

    The tool writes no file when it finds nothing.
    """

    name = "msprobe_overflow_check"
    kind = "overflow"
    tool = "msprobe"

    def recognises(self, sample: Sample) -> int:
        found = sample.json
        if not isinstance(found, dict) or not found:
            return 0
        ranked = all(re.fullmatch(r"rank_?\d*", key) for key in found)
        return 95 if ranked and all(isinstance(item, list) for item in found.values()) else 0

    def read(self, source: Source) -> Reading:
        ranks = {rank: [_anomaly(op) for op in ops] for rank, ops in source.json.items()}
        named = [(rank, op) for rank, ops in ranks.items() for op in ops]
        values = {
            "form": "anomaly_analyze",
            "ranks": ranks,
            "op_count": len(named),
            "overflow": bool(named),
            "first_rank": named[0][0] if named else None,
            "first_op": named[0][1]["name"] if named else None,
        }
        return self.reading(values)


def _anomaly(op: dict[str, Any]) -> dict[str, Any]:
    info = op.get("data_info") or {}
    groups = {key: any(is_nonfinite(item) for item in tensors_of(value))
              for key, value in info.items()}  # fmt: skip
    return {
        "name": op["op_name"],
        "construct_info": op.get("construct_info"),
        "nonfinite_in": sorted(key for key, hit in groups.items() if hit),
    }
