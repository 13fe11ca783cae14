"""Every file of the training and performance samples against the values computed for them.

Collected only when DESK_SAMPLES names the folder of the whole sample set.
"""

import json
import os
from collections.abc import Callable
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toolreaders import ReadError, read_file
from toolreaders.training.series import read_series

ROOT = Path(os.environ["DESK_SAMPLES"])
FOLDER = next(ROOT.rglob("truth.json")).parent
TRUTH = json.loads((FOLDER / "truth.json").read_text())
NOTES = {"MANIFEST.md", "FORMATS.md", "truth.json"}
FILES = [
    path.relative_to(FOLDER).as_posix()
    for path in sorted(FOLDER.rglob("*"))
    if path.is_file() and path.name not in NOTES
]
WITHOUT_LOSS = "train/megatron/megatron_core_fp16_all_skipped_no_loss.log"
KINDS = {
    "train": {"training_log", "evaluation"},
    "env": {"npu_smi", "hccn_tool", "version_info", "compatibility_table"},
    "infer": {"inference_benchmark"},
    "prof": {"profile"},
    "memory": {"memory"},
    "scaling": {"scaling"},
    "eval": {"evaluation"},
}
CHIP = {
    "temp_c": "temperature_c",
    "phy": "phy_id",
    "bus": "bus_id",
    "aicore": "aicore_percent",
    "mem_used": "memory_used_mb",
    "mem_total": "memory_total_mb",
    "hbm_used": "hbm_used_mb",
    "hbm_total": "hbm_total_mb",
}


def keys(part: str) -> list[str]:
    return [name for name, truth in TRUTH.items() if part in truth]


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_recognised(name):
    if name == WITHOUT_LOSS:
        with pytest.raises(ReadError) as error:
            read_file(FOLDER / name)
        assert error.value.code == "no_loss_points"
        return
    reading = read_file(FOLDER / name)
    assert reading.kind in KINDS[name.split("/")[0]]
    json.dumps(reading.values, allow_nan=False)


@pytest.mark.parametrize("name", keys("series"))
def test_series(name):
    loss, truth = read_file(FOLDER / name).values["loss"], TRUTH[name]["series"]
    # v5 prints four digits on the console, the truth has all of them
    rel = 5e-4 if "v5_gpt2" in name else 1e-9
    for ours, theirs in [("points", "n_points"), ("nonfinite", "n_nonfinite")]:
        assert loss[ours] == truth[theirs]
    for key in ("first_step", "last_step", "first_nonfinite_step"):
        assert loss[key] == truth[key]
    assert loss["first"] == pytest.approx(truth["first_loss"], rel=rel)
    assert loss["mean"] == pytest.approx(truth["mean_finite"], rel=rel)
    if truth["last_loss"] == "nan":
        assert loss["last"] == "nan"
    else:
        assert loss["last"] == pytest.approx(truth["last_loss"], rel=rel)


def test_the_later_run_of_a_resumed_log_counts():
    base = read_series(FOLDER / "train/nanogpt/ng_fp32.log")
    ours = read_series(FOLDER / "train/nanogpt/ng_crash_resume.log")
    truth = TRUTH["train/nanogpt/ng_crash_resume.log"]
    assert len(ours.steps) == truth["unique_steps"]
    error = np.mean(np.abs(np.asarray(ours.losses) - base.losses) / base.losses)
    assert error == pytest.approx(truth["vs_fp32_keep_last"]["MRE"])


@pytest.mark.parametrize("name", [name for name in keys("chips") if "error" not in name])
def test_npu_smi(name):
    values, truth = read_file(FOLDER / name).values, TRUTH[name]
    assert (values["smi_version"], values["driver_version"]) == (truth["tool"], truth["version"])
    expected = [{CHIP.get(k, k): v for k, v in chip.items()} for chip in truth["chips"]]
    shown = [{k: v for k, v in chip.items() if k != "line"} for chip in values["chips"]]
    assert shown == expected
    processes = [{**p, "mem_mb": p["memory_mb"]} for p in values["processes"]]
    assert [{k: p[k] for k in truth["procs"][0]} for p in processes] == truth["procs"]
    assert values["idle_npus"] == truth["idle_npus"]


@pytest.mark.parametrize("name", [name for name in TRUTH if name.startswith("env/versions")])
def test_version_files(name):
    assert read_file(FOLDER / name).values["items"] == TRUTH[name]


@pytest.mark.parametrize("name", keys("median_iter_s"))
def test_golden_times_and_memory(name):
    values, truth = read_file(FOLDER / name).values, TRUTH[name]
    median = values["iteration_time_ms"]["median_all"]
    assert median == pytest.approx(1000 * truth["median_iter_s"])
    assert values["memory"]["peak_allocated_bytes"] == truth["max_mem_B"]


def test_mindie_cells():
    name = "infer/mindie/benchmark_QwQ32B_before_tuning.log"
    values = read_file(FOLDER / name).values
    cells = {key: value for key, value in TRUTH[name].items() if isinstance(value, dict)}
    assert values["metrics"] == cells
    common = {key: value for key, value in TRUTH[name].items() if key not in cells}
    assert values["common"] == common


@pytest.mark.parametrize("name", keys("mean_ttft_ms"))
def test_vllm(name):
    values, truth = read_file(FOLDER / name).values, TRUTH[name]
    assert truth.items() <= values["metrics"].items()


@pytest.mark.parametrize("name", [name for name in TRUTH if name.startswith("infer/mlperf")])
def test_mlperf(name):
    assert TRUTH[name].items() <= read_file(FOLDER / name).values["metrics"].items()


@pytest.mark.parametrize("name", [name for name in TRUTH if name.startswith("eval/lm_eval")])
def test_lm_eval(name):
    scores = read_file(FOLDER / name).values["scores"]
    found: dict = {}
    for score in scores:
        row = found.setdefault(score["task"], {})
        row[f"{score['metric']},{score['filter']}"] = score["value"]
        row[f"{score['metric']}_stderr,{score['filter']}"] = score["stderr"]
    assert found == TRUTH[name]


@pytest.mark.parametrize("name", keys("peak_allocated_bytes"))
def test_memory_summaries(name):
    values, truth = read_file(FOLDER / name).values, TRUTH[name]
    # the table shows whole MiB
    assert values["peak_allocated_bytes"] == pytest.approx(truth["peak_allocated_bytes"], abs=2**20)
    assert values["peak_reserved_bytes"] == truth["peak_reserved_bytes"]


def test_throughput_of_modelzoo_logs():
    gpu, npu = (
        read_file(FOLDER / f"train/modelzoo_tf/InsightFace_if_{side}.log.gz").values["throughput"]
        for side in ("gpu", "npu")
    )
    truth = TRUTH["train/modelzoo_tf/InsightFace_if_npu.log.gz"]["thr_ratio"]
    ratio = npu["samples_per_second"] / gpu["samples_per_second"]
    assert ratio == pytest.approx(truth)
    assert read_file(FOLDER / "train/modelzoo_tf/PCN_run.log").values["loss"]["points"] == 276


def efficiency(name: str, cards: int, base: int) -> list[float]:
    found = read_file(FOLDER / name).values["efficiencies"]
    return [row["efficiency"] for row in found
            if (row["cards"], row["base_cards"]) == (cards, base)]


def at(*path: Any) -> Callable[[dict], Any]:
    """Follow keys and indices into the values of a reading."""
    return lambda values: reduce(getitem, path, values)


ACC1 = ("evaluation", "acc1")
SINGLE: dict[str, dict[str, Callable[[dict], Any]]] = {
    "train/imagenet_style": {"final_acc1": at(*ACC1, "last"), "best_acc1": at(*ACC1, "max")},
    "train/jsonl_epoch": {
        "epochs": at("loss", "points"),
        "last_acc1": at("evaluation", "test_acc1", "last"),
        "max_acc1": at("evaluation", "test_acc1", "max"),
    },
    "train/mmengine": {"last_acc": at("evaluation", "accuracy", "last")},
    "train/csv": {"last_val_acc": at("evaluation", "val_acc")},
    "train/modelzoo_tf": {
        "mean_sps": at("throughput", "samples_per_second"), "n": at("loss", "points")},
    "train/hf": {
        "hidden": at("loss", "nonfinite"),
        "first_hidden_nan_step": at("loss", "first_nonfinite_step"),
    },
    "env/npu-smi": {"ret": at("error", "ret"),
                    "error": lambda values: values["error"]["message"].split(".")[0]},
    "env/compat": {
        "active": at("by_status", "active"), "historical": at("by_status", "historical")},
    "infer/acl_tools": {
        "batch": at("batch_size"),
        "mean_ms": at("latency_ms", "inference", "mean"),
        "avg_ms": at("latency_ms", "inference", "mean"),
        "fps": at("throughput", "samples_per_second"),
        "interface": at("throughput", "samples_per_second"),
        "card": at("throughput", "samples_per_second_310_card"),
    },
    "memory": {
        "ooms": at("ooms"),
        "requested_mib": lambda values: values["requested_bytes"] / 2**20,
        "allocated_gib": lambda values: values["allocated_bytes"] / 2**30,
        "capacity_gib": lambda values: values["capacity_bytes"] / 2**30,
        "qwen3_8b_swap_reduction": at("pairs", 0, "reduction"),
    },
    "scaling": {"ratio": at("npu_vs_gpu", 0, "npu_over_gpu")},
}
SINGLE_CASES = [(name, key, get) for folder, facts in SINGLE.items() for key, get in facts.items()
                for name in keys(key) if name.startswith(folder + "/")]  # fmt: skip


@pytest.mark.parametrize(("name", "key", "get"), SINGLE_CASES)
def test_single_values(name, key, get):
    expected = TRUTH[name][key]
    found = get(read_file(FOLDER / name).values)
    assert found == (expected if isinstance(expected, str) else pytest.approx(expected, rel=1e-9))


EFFICIENCIES = {"eff_32_vs_8": (32, 8), "eff_32_vs_1": (32, 1), "eff8": (8, 1),
                "eff16_vs_8": (16, 8)}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "key"), [(name, key) for key in EFFICIENCIES for name in keys(key)])
def test_efficiencies(name, key):
    assert pytest.approx(TRUTH[name][key]) in efficiency(name, *EFFICIENCIES[key])


@pytest.mark.parametrize("name", [name for name in TRUTH if name.startswith("eval/gpu_npu")])
def test_evaluation_pairs(name):
    found = {row["task"]: row for row in read_file(FOLDER / name).values["comparisons"]}
    for task, truth in TRUTH[name].items():
        row = found[task]
        assert (row["baseline"], row["candidate"]) == (truth["gpu"], truth["npu"])
        assert row["relative"] == pytest.approx(truth["rel"])


@pytest.mark.parametrize("name", [name for name in TRUTH if name.startswith("eval/vllm_ascend")])
def test_expected_scores(name):
    scores = read_file(FOLDER / name).values["scores"]
    found = {f"{score['metric']},{score['filter']}": score["value"] for score in scores}
    assert found == TRUTH[name]["values"]


def test_aisbench_table_and_summary():
    table, summary = (f"infer/aisbench/ais_out_synthetic.{end}" for end in ("csv", "json"))
    metrics = read_file(FOLDER / table).values["metrics"]
    for name, truth in TRUTH[table].items():
        labels = {"Performance Parameters": name, "Stage": "total"}
        assert {**metrics["total"][name], **labels} == truth
    assert read_file(FOLDER / summary).values["common"] == TRUTH[summary]


def test_the_log_of_a_crash_as_its_lines_stand():
    name = "train/nanogpt/ng_crash_resume.log"
    truth, reading = TRUTH[name], read_file(FOLDER / name)
    message = next(w.message for w in reading.warnings if w.code == "repeated_steps")
    first, last, count = truth["overlap_steps"]
    assert message.startswith(f"{count} steps from {first} to {last} occur more than once")
    assert truth["resumed_from"] == first
    assert truth["first_run_steps"] == [reading.values["loss"]["first_step"], last]
    assert truth["raw_loss_lines"] == reading.values["loss"]["points"] + count


WHOLE = ("env/versions", "infer/mindie", "infer/vllm", "infer/mlperf", "infer/aisbench",
         "eval/lm_eval", "eval/gpu_npu", "eval/vllm_ascend")  # fmt: skip
COMPARED = {"series", "chips", "tool", "version", "procs", "idle_npus", "median_iter_s",
            "max_mem_B", "peak_allocated_bytes", "peak_reserved_bytes", "thr_ratio",
            "unique_steps", "vs_fp32_keep_last", "overlap_steps", "first_run_steps",
            "resumed_from", "raw_loss_lines", *EFFICIENCIES}  # fmt: skip
PAIRS = {"pair", "vs_base", "vs_fp32_keep_first"}
"""Figures of two logs: tests/assessments/verdicts/test_verdict.py compares them."""


def test_no_value_is_passed_over():
    singles = {(name, key) for name, key, _get in SINGLE_CASES}
    left = [(name, key) for name, truth in TRUTH.items() if not name.startswith(WHOLE)
            for key in truth if key not in COMPARED | PAIRS and (name, key) not in singles
            and not key.startswith("vs ")]  # fmt: skip
    assert left == []
