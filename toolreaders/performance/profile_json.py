"""JSON files of a profile: communication, its matrix and groups, configuration."""

from __future__ import annotations

from collections import Counter
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.masking import mask_value
from toolreaders.training.series import to_float

KIND = "profile"
TIME = "Communication Time Info"
PARTS = ("Elapse Time(ms)", "Transit Time(ms)", "Wait Time(ms)", "Synchronization Time(ms)")
TOTALS = ("total op info", "Total Op Info")


@register
class CommunicationReader(Reader):
    """communication.json of a rank and cluster_communication.json, matrices and groups."""

    name = "profiler_communication"
    kind = KIND
    tool = "Ascend PyTorch Profiler"
    signs = (TIME, '"Transport Type"', '"comm_group_parallel_info"')

    def recognises(self, sample: Sample) -> int:
        if not any(sign in sample.text for sign in self.signs):
            return 0
        return 90 if isinstance(sample.json, dict) else 0

    def read(self, source: Source) -> Reading:
        content = source.json
        if "comm_group_parallel_info" in content:
            groups = content["comm_group_parallel_info"]
            return self.reading({"form": "communication_group", "groups": groups})
        if "Transport Type" in source.text[:20000]:
            return self.reading({"form": "communication_matrix", **_matrix(content)})
        clustered = any(key.startswith("(") for key in content)
        form = "cluster_communication" if clustered else "communication"
        steps = _steps_of_groups(content) if clustered else _steps_of_rank(content)
        return self.reading({"form": form, "steps": steps})


def _steps_of_rank(content: dict[str, Any]) -> dict[str, Any]:
    steps = {}
    for step, kinds in content.items():
        collective, p2p = kinds.get("collective", {}), kinds.get("p2p", {})
        infos = [
            info[TIME]
            for operators in (collective, p2p)
            for name, info in operators.items()
            if not name.lower().startswith(TOTALS[0]) and TIME in info
        ]
        steps[step] = {
            "collective_operators": _count(collective),
            "p2p_operators": _count(p2p),
            **_sums(infos),
        }
    return steps


def _count(operators: dict[str, Any]) -> int:
    return sum(not name.lower().startswith(TOTALS[0]) for name in operators)


def _sums(infos: list[dict[str, Any]]) -> dict[str, float]:
    return {
        part.split(" ", 1)[0].lower() + "_ms": sum(to_float(info.get(part)) or 0 for info in infos)
        for part in PARTS
    }


def _steps_of_groups(content: dict[str, Any]) -> dict[str, Any]:
    """(ranks) → step → operator → rank → info."""
    steps: dict[str, Any] = {}
    for group, by_step in content.items():
        for step, operators in by_step.items():
            named = {n: o for n, o in operators.items() if not n.lower().startswith(TOTALS[0])}
            infos = [info[TIME] for by_rank in named.values() for info in by_rank.values()]
            steps.setdefault(step, {})[group] = {"operators": len(named), **_sums(infos)}
    return steps


def _matrix(content: dict[str, Any]) -> dict[str, Any]:
    """Number of links by transport type, anywhere in the tree."""
    links: Counter[str] = Counter()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if "Transport Type" in node:
                links[str(node["Transport Type"])] += 1
            for child in node.values():
                walk(child)

    walk(content)
    return {"links": dict(links)}


@register
class ProfilerInfoReader(Reader):
    """profiler_info_N.json and profiler_metadata.json."""

    name = "profiler_info"
    kind = KIND
    version = "2"
    tool = "Ascend PyTorch Profiler"

    def recognises(self, sample: Sample) -> int:
        text = sample.text[:8192]
        if '"common_config"' not in text and '"ENV_VARIABLES"' not in text:
            return 0
        return 75 if isinstance(sample.json, dict) else 0

    def read(self, source: Source) -> Reading:
        content = source.json
        if "config" not in content:
            found = content.get("ENV_VARIABLES", {})
            environment = {name: mask_value(name, value) for name, value in found.items()}
            values = {"form": "profiler_metadata", "environment_names": sorted(found)}
            return self.reading({**values, "environment": environment})
        config = content["config"]
        common, experimental = (
            config.get("common_config", {}),
            config.get("experimental_config", {}),
        )
        values = {
            "form": "profiler_info",
            "schedule": common.get("schedule"),
            "activities": common.get("activities"),
            "profile_memory": common.get("profile_memory"),
            "level": experimental.get("_profiler_level"),
            "rank": content.get("rank_id"),
        }
        version = content.get("torch_npu_version", content.get("version"))
        return self.reading(values, tool_version=version)
