"""Tables of throughput over cards, as READMEs of ModelZoo, FlagPerf and MindSpeed-MM print them.

FPS of ModelZoo and p_core of FlagPerf are of the whole job, tokens/p/s are per card. Efficiency of
n cards against k is T_n / (n/k · T_k); above 100 % the configurations differ (DOMAIN, FORMATS).
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.tables import Table, framed_tables
from toolreaders.training.series import to_float

THROUGHPUT = (
    r"^p_core$",
    r"^fps\b",
    r"samples[ _]per[ _]second|samples?/s",
    r"tokens?/p/s|tokens?/s",
    r"throughput|吞吐|性能",
)
CARD = r"(?:p|cards?|gpus?|npus?|devices?|chips?|卡)(?![a-z])"
PER_CARD = re.compile(rf"/{CARD}|per[ _-]{CARD}|[单每]卡", re.IGNORECASE)
A_TIME = re.compile(
    r"latency|\btime\b|时间|耗时|时延|延迟|(?<![a-z/])(?:ms|us|s|sec|seconds)(?:/|\)|）|$)",
    re.IGNORECASE)
"""Names of columns where less is better; “性能” may be either."""
CARDS = re.compile(r"(?<![\w.])(\d+)\s*(?:p\b|p[-_ ]|卡|cards?\b|gpus?\b|npus?\b)", re.IGNORECASE)
NODES_BY_CARDS = re.compile(r"(\d+)\s*[xX×]\s*(\d+)")
NPU = re.compile(r"npu|昇腾|ascend|atlas|910", re.IGNORECASE)
GPU = re.compile(r"竞品|gpu|a100|a800|v100|h100|h800|nvidia|4090", re.IGNORECASE)
SAME = re.compile(r"precision|amp|dtype|task|任务|模型|model|精度类型", re.IGNORECASE)


def _throughput_column(table: Table) -> int | None:
    for pattern in THROUGHPUT:
        for index, name in enumerate(table.header):
            if re.search(pattern, name, re.IGNORECASE) and not A_TIME.search(name):
                return index
    return None


def _rows(table: Table) -> list[dict[str, Any]]:
    at = _throughput_column(table)
    if at is None:
        return []
    same = [i for i, name in enumerate(table.header) if SAME.search(name) and i != at]
    rows = []
    for number, cells in zip(table.lines, table.rows, strict=True):
        label = " ".join(cell for i, cell in enumerate(cells) if i != at and i not in same)
        cards, printed = _cards(table, cells), to_float(cells[at].rstrip("*").replace(",", ""))
        device = "npu" if NPU.search(label) else "gpu" if GPU.search(label) else None
        if cards is None or printed is None or device is None:
            continue
        per_card = bool(PER_CARD.search(table.header[at]))
        rows.append(
            {
                "name": cells[0],
                "device": device,
                "cards": cards,
                "throughput": printed * cards if per_card else printed,
                "throughput_per_card": printed if per_card else printed / cards,
                "stated": printed,
                "unit": table.header[at],
                "configuration": [cells[i] for i in same],
                "line": number,
            }
        )
    return rows


def _cards(table: Table, cells: list[str]) -> int | None:
    for name, cell in zip(table.header, cells, strict=False):
        if re.search(r"卡数|cards|num_?(?:gpu|npu)s?|devices", name, re.IGNORECASE):
            found = re.search(r"\d+", cell)
            return int(found[0]) if found else None
    if found := NODES_BY_CARDS.search(cells[0]):
        return int(found[1]) * int(found[2])
    if found := CARDS.search(cells[0]):
        return int(found[1])
    return 1 if "单卡" in cells[0] else None


def _efficiencies(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every larger card count against every smaller one of the same device and configuration."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["device"], *row["configuration"]), []).append(row)
    found = []
    for key, members in groups.items():
        members.sort(key=lambda row: row["cards"])
        if any(a["cards"] == b["cards"] for a, b in pairwise(members)):
            continue
        for index, base in enumerate(members):
            for row in members[index + 1 :]:
                ideal = row["cards"] / base["cards"] * base["throughput"]
                found.append(
                    {
                        "device": key[0],
                        "configuration": list(key[1:]),
                        "base_cards": base["cards"],
                        "cards": row["cards"],
                        "efficiency": row["throughput"] / ideal,
                    }
                )
    return found


def _ratios(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """NPU against GPU at the same number of cards."""
    return [
        {
            "cards": npu["cards"],
            "npu": npu["throughput"],
            "gpu": gpu["throughput"],
            "npu_over_gpu": npu["throughput"] / gpu["throughput"],
        }
        for npu in rows
        for gpu in rows
        if (npu["device"], gpu["device"]) == ("npu", "gpu")
        and npu["cards"] == gpu["cards"]
        and npu["configuration"] == gpu["configuration"]
    ]


@register
class ScalingTableReader(Reader):
    """A table whose rows name a device, its cards and a throughput."""

    name = "scaling_table"
    in_documents = True
    kind = "scaling"
    version = "2"

    def recognises(self, sample: Sample) -> int:
        if "|" not in sample.text or len(sample.data) > 200_000:
            return 0
        tables = framed_tables(enumerate(sample.lines, 1), least=3)
        return 62 if any(len(_rows(table)) >= 2 for table in tables) else 0

    def read(self, source: Source) -> Reading:
        rows = [row for table in framed_tables(source.lines(), least=3) for row in _rows(table)]
        if not rows:
            raise ReadError("damaged_file", "The table names no throughput of cards.")
        efficiencies = _efficiencies(rows)
        warnings = [
            ReadingWarning(
                "superlinear_scaling",
                f"{one['cards']} cards against {one['base_cards']} give {one['efficiency']:.1%}: "
                "the configurations differ.",
            )
            for one in efficiencies
            if one["efficiency"] > 1
        ]
        values = {"rows": rows, "efficiencies": efficiencies, "npu_vs_gpu": _ratios(rows)}
        return self.reading(values, warnings=warnings)
