"""Settings in JSON files: a model's config.json, MindIE's, PrecisionDebugger's, parallel sizes.

Keys as in transformers (config.json), mindie_llm (conf/config.json: BackendConfig) and msprobe
(docs/zh/dump/config_json_introduct.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.masking import mask_tree
from toolreaders.source import ReadError, ReadingWarning

STRATEGY = {"dp": ("data_parallel",), "tp": ("model_parallel",),
            "pp": ("pipeline_parallel", "pipeline_stage"), "cp": ("context_parallel",)}  # fmt: skip
PARALLEL = ("tp", "dp", "pp", "cp", "sp", "moe_tp", "moe_ep")


@register
class ModelConfigReader(Reader):
    """config.json beside the weights (transformers)."""

    name = "model_config"
    kind = "model_config"
    tool = "transformers"

    def recognises(self, sample: Sample) -> int:
        found = sample.json
        if not isinstance(found, dict) or "model_type" not in found:
            return 0
        return 80 if {"architectures", "hidden_size"} & set(found) else 0

    def read(self, source: Source) -> Reading:
        found = source.json
        names = {"model_type": ("model_type",), "dtype": ("torch_dtype", "dtype"),
                 "layers": ("num_hidden_layers", "n_layer"),
                 "hidden_size": ("hidden_size", "n_embd"),
                 "heads": ("num_attention_heads", "n_head"), "vocabulary": ("vocab_size",),
                 "quantize": ("quantize",)}  # fmt: skip
        used = {name: next((key for key in keys if key in found), keys[0])
                for name, keys in names.items()}  # fmt: skip
        values: dict[str, Any] = {name: found.get(key) for name, key in used.items()}
        places = _key_lines(source.text, used.values())
        values["architectures"] = found.get("architectures") or []
        values["lines"] = {name: places[key] for name, key in used.items() if key in places}
        return self.reading(values, tool_version=found.get("transformers_version"))


@register
class ServingConfigReader(Reader):
    """MindIE's conf/config.json: models, parallel sizes, cards, limits; secrets are masked."""

    name = "mindie_config"
    kind = "serving_config"
    tool = "MindIE"

    def recognises(self, sample: Sample) -> int:
        found = sample.json
        backend = found.get("BackendConfig") if isinstance(found, dict) else None
        return 95 if isinstance(backend, dict) and "ModelDeployConfig" in backend else 0

    def read(self, source: Source) -> Reading:
        backend = source.json["BackendConfig"]
        deployed = backend["ModelDeployConfig"]
        models = deployed.get("ModelConfig") or []
        if not models:
            raise ReadError("no_values", "ModelConfig names no model.")
        first = models[0]
        values = {
            "models": mask_tree(models),
            "parallel": {name: first[name] for name in PARALLEL if name in first},
            "world_size": first.get("worldSize"),
            "devices": backend.get("npuDeviceIds"),
            "most_tokens": deployed.get("maxSeqLen"),
            "schedule": backend.get("ScheduleConfig") or {},
            "https": (source.json.get("ServerConfig") or {}).get("httpsEnabled"),
        }
        places = _key_lines(source.text, ("ModelConfig", *PARALLEL, "worldSize"))
        parallel = next((places[name] for name in PARALLEL if name in places), None)
        values["lines"] = {"world_size": places.get("worldSize"),
                           "parallel": parallel or places.get("ModelConfig")}  # fmt: skip
        return self.reading(values, warnings=_disagreements(values))


def _disagreements(values: dict[str, Any]) -> list[ReadingWarning]:
    cards = sum(len(group) for group in values["devices"] or [] if isinstance(group, list))
    if not cards or values["world_size"] in (None, cards):
        return []
    message = f"worldSize is {values['world_size']}, but npuDeviceIds names {cards} cards."
    return [ReadingWarning("contradicting_sizes", message, values["lines"]["world_size"])]


@register
class ParallelStrategyReader(Reader):
    """parallel_strategy.json: sizes that a launch script reads (seed S3, 4.1); also the section
    parallel_config of MindFormers, where the pipeline is called pipeline_stage."""

    name = "parallel_strategy"
    kind = "parallel_strategy"
    tool = "MindSpore"

    def recognises(self, sample: Sample) -> int:
        found = _parallel_section(sample.commented_json)
        known = [name for names in STRATEGY.values() for name in names if name in found]
        return 80 if len(known) > 1 else 0

    def read(self, source: Source) -> Reading:
        found = _parallel_section(source.commented_json)
        used = {size: name for size, names in STRATEGY.items()
                for name in names if name in found}  # fmt: skip
        for name in used.values():
            if type(found[name]) is not int or found[name] < 1:
                raise ReadError("no_values", f"{name} is no whole number above 0: {found[name]!r}.")
        places = _key_lines(source.text, used.values())
        values: dict[str, Any] = {size: found[name] for size, name in used.items()}
        values["tensor_parallel_mode"] = found.get("tensor_parallel_mode")
        values["processes"] = math.prod(found[name] for name in used.values())
        values["lines"] = {size: places[name] for size, name in used.items() if name in places}
        return self.reading(values)


def _parallel_section(found: Any) -> dict[str, Any]:
    section = found.get("parallel_config", found) if isinstance(found, dict) else {}
    return section if isinstance(section, dict) else {}


@register
class DumpConfigReader(Reader):
    """config.json of msprobe's PrecisionDebugger: what is dumped, of which steps and ranks.

    Also msprobe.json as tutorials print it (seed S1, 2.3): `dump` with `common_dump_settings` and
    `api_list`, comments and all. No release of msprobe that is known reads that form.
    """

    name = "msprobe_dump_config"
    version = "2"
    kind = "dump_config"
    tool = "msprobe"

    def recognises(self, sample: Sample) -> int:
        found = sample.commented_json
        if not isinstance(found, dict) or "data" in found:
            return 0
        return 85 if {"task", "dump_path", "level"} <= set(found) or _of_tutorial(found) else 0

    def read(self, source: Source) -> Reading:
        found = source.commented_json
        if _of_tutorial(found):
            return self._tutorial(source)
        keys = ("task", "dump_path", "rank", "step", "level")
        values = {
            "task": found["task"],
            "level": found["level"],
            "path": found["dump_path"],
            "steps": list(found.get("step") or []),
            "ranks": list(found.get("rank") or []),
            "lines": _key_lines(source.text, keys),
        }
        return self.reading(values)

    def _tutorial(self, source: Source) -> Reading:
        dump = source.commented_json["dump"]
        common = dump["common_dump_settings"]
        values = {
            "task": None,
            "level": common.get("dump_mode"),
            "path": common.get("dump_path"),
            "steps": [int(step) for step in str(common.get("dump_iter", "")).split("|")
                      if step.strip().isdecimal()],
            "ranks": [],
            "apis": [str(entry.get("name")) for entry in dump.get("api_list") or []
                     if isinstance(entry, dict)],
            "lines": _key_lines(source.text, ("dump_mode", "dump_path", "dump_iter", "api_list")),
        }
        message = ("PrecisionDebugger does not read this form: it wants task, dump_path, level, "
                   "step and rank at the top.")
        return self.reading(values, warnings=[
            ReadingWarning("other_form", message, values["lines"].get("dump_mode"))])


def _of_tutorial(found: dict[str, Any]) -> bool:
    dump = found.get("dump")
    return isinstance(dump, dict) and isinstance(dump.get("common_dump_settings"), dict)


def _key_lines(text: str, keys: Iterable[str]) -> dict[str, int]:
    """The line on which each key stands for the first time; absent keys are left out."""
    found = {key: re.search(rf'"{re.escape(key)}"\s*:', text) for key in keys}
    return {key: text.count("\n", 0, hit.start()) + 1 for key, hit in found.items() if hit}
