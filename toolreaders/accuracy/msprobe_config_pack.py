"""What msprobe config_check reads and writes beside its workbook: packs and verl's tables.

A pack's member ``env`` is the whole process environment of the training node. Only variables that
steer training are shown with their values, and those masked; of all others the name alone.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from toolreaders.accuracy.msprobe_config_check import findings_of
from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.csv_rows import csv_header, csv_rows
from toolreaders.masking import MASK, mask_tree, mask_value
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.xlsx import is_zip, member_bytes, members

STEERING = re.compile(
    r"^(?:ASCEND|HCCL|NCCL|CUDA|CUBLAS|ACL|NPU|TORCH|PYTORCH|OMP|MKL|TASK_QUEUE|COMBINED|CPU_AFF"
    r"|MULTI_STREAM|HOST_CACHE|WORLD_SIZE|RANK|LOCAL_RANK|MASTER_|GLOO|TOKENIZERS|LCCL|ATB_|INF_NAN"
    r"|MS_|GE_|FLASH|NVTE|LD_LIBRARY_PATH|PYTHONHASHSEED|PYTHONPATH|PATH|LANG)"
)
STEP_RANK = re.compile(r"^(?:dataset|weights)/step(\d+)/rank(\d+)/")
VERL_HEADER = ("超参名称", "NPU生效值", "bench生效值", "是否一致")
VERL_SECTIONS = {"actor_rollout_ref", "trainer", "algorithm", "critic", "data", "reward_model"}
HYPERPARAMETERS = "hyperparameters/"


@register
class ConfigPackReader(Reader):
    """The zip that ConfigChecker writes during training: what was recorded, nothing compared."""

    name = "msprobe_config_pack"
    kind = "config_check"
    tool = "msprobe"

    def recognises(self, sample: Sample) -> int:
        if not is_zip(sample.source):
            return 0
        names = {member.filename for member in members(sample.source.path)}
        recorded = any(name.startswith((HYPERPARAMETERS, "dataset/", "random/")) for name in names)
        return 90 if names & {"env", "pip"} and recorded else 0

    def read(self, source: Source) -> Reading:
        found = {member.filename for member in members(source.path)}
        places = [found_at for name in found if (found_at := STEP_RANK.match(name))]
        environment = _environment(source) if "env" in found else {}
        values = {
            "form": "pack",
            "members": sorted(found),
            "environment": {
                name: mask_value(name, value) if STEERING.match(name) else MASK
                for name, value in sorted(environment.items())
            },
            "packages": _packages(source) if "pip" in found else {},
            "hyperparameters": _hyperparameters(source, found),
            "steps": sorted({int(place[1]) for place in places}),
            "ranks": sorted({int(place[2]) for place in places}),
        }
        message = "The pack holds the whole process environment of the node; values are masked."
        return self.reading(
            values,
            warnings=[ReadingWarning("secrets_masked", message)],
            tool_version=values["packages"].get("mindstudio-probe"),
        )


def _json_member(source: Source, name: str) -> Any:
    try:
        return json.loads(member_bytes(source.path, name))
    except (ValueError, RecursionError) as error:
        raise ReadError("damaged_zip", f"{name} in the pack is not valid JSON.") from error


def _environment(source: Source) -> dict[str, str]:
    found = _json_member(source, "env")
    if not isinstance(found, dict):
        raise ReadError("damaged_zip", "Member env of the pack is not an environment.")
    return {str(name): str(value) for name, value in found.items()}


def _packages(source: Source) -> dict[str, str]:
    lines = member_bytes(source.path, "pip").decode("utf-8", "replace").splitlines()
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {name.strip(): version.lstrip("=").strip() for name, _sign, version in pairs}


def _hyperparameters(source: Source, found: set[str]) -> dict[str, Any]:
    return {
        name.removeprefix(HYPERPARAMETERS): mask_tree(_json_member(source, name))
        for name in sorted(found)
        if name.startswith(HYPERPARAMETERS) and name.endswith(".json")
    }


@register
class VerlCompareReader(Reader):
    """``hyper_params_compare.csv`` of config_check -vc (26.2): NA = missing on that side."""

    name = "msprobe_verl_compare"
    kind = "config_check"
    tool = "msprobe"

    def recognises(self, sample: Sample) -> int:
        return 95 if tuple(csv_header(sample)[:4]) == VERL_HEADER else 0

    def read(self, source: Source) -> Reading:
        rows = [row for row in csv_rows(source) if any(row)][1:]
        whole = [row for row in rows if len(row) >= 4]
        answers = Counter(row[3].strip() for row in whole)
        differences = [_verl_difference(row) for row in whole if row[3].strip() != "是"]
        sheet = {"rows": len(whole), "different": len(differences), "answers": dict(answers)}
        warnings = []
        if len(whole) < len(rows):
            message = f"{len(rows) - len(whole)} rows are incomplete and left out."
            warnings.append(ReadingWarning("truncated_record", message))
        values = {
            "form": "verl_compare",
            "sheets": {"hyperparameters": sheet},
            "summary": {"hyperparameters": "error" if differences else "pass"},
            "differences": differences,
            "findings": findings_of(differences),
            "counts": {
                "differences": len(differences),
                "error": len(differences),
                "warning": 0,
                "by_sheet": {"hyperparameters": len(differences)},
            },
            "passed": bool(whole) and not differences,
            "not_compared": ["env", "pip", "dataset", "weights", "random"],
        }
        return self.reading(values, warnings=warnings, tool_version="26.x")


def _verl_difference(row: tuple[Any, ...]) -> dict[str, Any]:
    item, npu, bench = (str(cell).strip().strip("'") for cell in row[:3])
    return {
        "sheet": "hyperparameters",
        "item": item,
        "npu": None if npu == "NA" else mask_value(item, npu),
        "bench": None if bench == "NA" else mask_value(item, bench),
        "level": "error",
    }


@register
class VerlConfigReader(Reader):
    """The settings of one verl run as config_check -vv writes them: a nested JSON object."""

    name = "msprobe_verl_config"
    kind = "config_check"
    tool = "msprobe"

    def recognises(self, sample: Sample) -> int:
        found = sample.json
        if not isinstance(found, dict) or "actor_rollout_ref" not in found:
            return 0
        sections = set(found) & VERL_SECTIONS
        return 70 if len(sections) >= 2 and isinstance(found["actor_rollout_ref"], dict) else 0

    def read(self, source: Source) -> Reading:
        settings = dict(_flat(mask_tree(source.json)))
        return self.reading({"form": "verl_config", "settings": settings, "count": len(settings)})


def _flat(tree: Any, path: str = "") -> list[tuple[str, Any]]:
    if not isinstance(tree, dict) or not tree:
        return [(path, tree)]
    return [
        pair
        for name, item in tree.items()
        for pair in _flat(item, f"{path}/{name}" if path else str(name))
    ]
