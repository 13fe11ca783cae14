"""Overflow readings as one table: which operator, which status bits (DOMAIN 5.6)."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from toolreaders.accuracy.overflow import STATUS_BITS
from workers.models import StoredReading


@dataclass(frozen=True)
class Bit:
    """A set bit of a status; unknown ones are shown, never dropped."""

    decimal: int
    hexadecimal: str
    text: str
    is_known: bool


@dataclass(frozen=True)
class Finding:
    """One block, operator or rank that the tool names."""

    place: str
    name: str
    status: int | None
    bits: list[Bit]
    has_overflow: bool
    facts: list[tuple[str, str]] = field(default_factory=list)


def findings(reading: StoredReading) -> list[Finding]:
    """What an overflow reading names, in the file's order."""
    values = reading.values
    readers = {"opdebug": _blocks, "opdebug_new": _blocks, "overflow_summary": _summary,
               "anomaly_analyze": _anomalies}
    read = readers.get(values.get("form"))
    return list(read(values)) if read else []


def bit_table() -> list[Bit]:
    """The documented bits."""
    return [Bit(bit, f"0x{bit:08X}", _localized(en, zh), True)
            for bit, (en, zh) in sorted(STATUS_BITS.items())]


def _localized(en: str, zh: str) -> str:
    return zh if (get_language() or "").startswith("zh") else en


def _bits(entries: list[dict]) -> list[Bit]:
    return [Bit(entry["bit"], f"0x{entry['bit']:08X}",
                _localized(entry["en"], entry["zh"]) if entry["known"] else _("unknown bit"),
                entry["known"]) for entry in entries]


def _blocks(values: dict) -> Iterator[Finding]:
    for block in values.get("blocks", []):
        yield Finding(block["block"], "", block.get("status"), _bits(block.get("bits", [])),
                      bool(block.get("overflow")), _facts(block))


def _facts(entry: dict) -> list[tuple[str, str]]:
    labels = {
        "model_id": _("Model number"), "stream_id": _("Stream"),
        "task_id": _("Task number"),
        "task_type": _("Task type"), "context_id": _("Context"), "thread_id": _("Thread"),
        "pc_start": _("Program counter"), "para_base": _("Parameter address"),
        "kernel_code": _("Kernel code"), "block_idx": _("Block"),
    }
    return [(label, str(entry[name])) for name, label in labels.items()
            if entry.get(name) not in (None, "")]


def _summary(values: dict) -> Iterator[Finding]:
    for op in values.get("ops", []):
        yield Finding(op.get("block") or "", " ".join(filter(None, [op.get("type"),
                                                                   op.get("name")])),
                      op.get("status"), _bits(op.get("bits", [])), True, _facts(op))


def _anomalies(values: dict) -> Iterator[Finding]:
    for rank, ops in values.get("ranks", {}).items():
        for op in ops:
            where = ", ".join(op.get("nonfinite_in") or [])
            yield Finding(rank, op["name"], None, [], True,
                          [(_("Not finite in"), where)] if where else [])
