"""R-CFG: environment variables and tuning parameters (DOMAIN 5.4)."""

import json

from django.utils.translation import gettext_lazy as _

from workers.rules.allocator import violates
from workers.rules.base import BLOCK, INFO, WARN, Spot, rule
from workers.rules.version_matrix import version

ALLOC = "PYTORCH_NPU_ALLOC_CONF"


def _two_asd(f):
    old, new = f.get("NPU_ASD_ENABLE"), f.get("NPU_ASD_CONFIG")
    is_new = version(f["torch_npu_plugin"]) >= version("7.1.0")
    return bool(old and new) or bool(old and is_new) or bool(new and not is_new)


def _asd(f):
    """Cards count over all nodes. Speaks against ASD as soon as one condition is known to fail; of
    conditions that are not known the rule says so, once none fails."""
    if not f["asd_variables"]:
        return []
    known = {"dtype": f.get("dtype"), "world_size": f["world_size"],
             "parameters_billion": f.get("parameters_billion"), "jit_compile": f.get("jit_compile")}
    wrong = {"dtype": known["dtype"] == "fp16", "world_size": known["world_size"] < 64,
             "parameters_billion": (known["parameters_billion"] or 70) < 70,
             "jit_compile": bool(known["jit_compile"])}
    unknown = [name for name, value in known.items() if value is None]
    if unknown and not any(wrong.values()):
        raise ValueError(", ".join(unknown))
    return [Spot(known[name], name) for name, is_wrong in wrong.items() if is_wrong]


def _json(f):
    return [Spot(error, name) for name, text in f["json_configs"].items()
            if (error := _json_error(text))]


def _json_error(text: str) -> str:
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        return str(error) or "?"
    return ""


def _profiler(f):
    p = f["profiler"]
    active, repeat = int(p.get("active", 0)), int(p.get("repeat", 0))
    if int(p.get("warmup", 0)) < 1 or not 0 < active * repeat <= 100:
        return True
    total = (int(p.get("wait", 0)) + int(p["warmup"]) + active) * repeat
    return "steps" in p and int(p["steps"]) < total


def _dropped(f):
    p = f["profiler_settings"]
    metrics, level = p.get("aicore_metrics"), p.get("profiler_level")
    if metrics not in (None, "AiCoreNone") and level in ("Level0", "Level_none"):
        yield Spot(f"{metrics}, {level}", "aicore_metrics")
    if p.get("op_attr") and "db" not in str(p.get("export")):
        yield Spot(p.get("export"), "op_attr")
    if p.get("with_flops"):
        yield Spot(True, "with_flops")


rule("R-CFG-01", BLOCK, "S0, X1", ALLOC,
     _("expandable_segments excludes max_split_size_mb and garbage_collection_threshold."),
     _("Keep expandable_segments:True alone, or remove it."),
     lambda f: violates("R-CFG-01", f[ALLOC]))
rule("R-CFG-02", BLOCK, "S0, X1", ALLOC,
     _("garbage_collection_threshold lies strictly between 0 and 1."),
     _("Use for example 0.95, together with a memory fraction."),
     lambda f: violates("R-CFG-02", f[ALLOC]))
rule("R-CFG-03", BLOCK, "X1", ALLOC,
     _("max_split_size_mb must be above 20."), _("Use for example 50."),
     lambda f: violates("R-CFG-03", f[ALLOC]))
rule("R-CFG-04", BLOCK, "X1", ALLOC,
     _("base_addr_aligned_kb is 0 to 16 and needs expandable_segments; page_size is 1g only."),
     _("Correct the option or remove it."),
     lambda f: violates("R-CFG-04", f[ALLOC]))
rule("R-CFG-05", BLOCK, "S0, X1", ALLOC,
     _("Options are written as key:value, separated by commas, without blanks."),
     _("Remove blanks and empty parts."),
     lambda f: violates("R-CFG-05", f[ALLOC]))
rule("R-CFG-06", BLOCK, "X1", f"{ALLOC} PYTORCH_ALLOC_CONF",
     _("PYTORCH_ALLOC_CONF and PYTORCH_NPU_ALLOC_CONF must not both be set."),
     _("Keep one of them."), lambda f: bool(f[ALLOC] and f["PYTORCH_ALLOC_CONF"]),
     _("torch_npu 26.2.0 and PyTorch 2.10 or newer"))
rule("R-CFG-07", BLOCK, "S0", "memory_fraction",
     _("The memory fraction lies between 0 and 1."), _("Use for example 0.95."),
     lambda f: not 0 <= float(f["memory_fraction"]) <= 1)
rule("R-CFG-08", INFO, "S0", "MULTI_STREAM_MEMORY_REUSE",
     _("MULTI_STREAM_MEMORY_REUSE is 0 or 1."), _("Set 0 or 1."),
     lambda f: f["MULTI_STREAM_MEMORY_REUSE"] not in ("", "0", "1"))
rule("R-CFG-09", WARN, "S0", "HCCL_BUFFSIZE",
     _("HCCL_BUFFSIZE is a whole number of MB; 200 by default."), _("Set a whole number."),
     lambda f: f["HCCL_BUFFSIZE"] != ""
     and not (str(f["HCCL_BUFFSIZE"]).isdecimal() and int(f["HCCL_BUFFSIZE"]) > 0))
rule("R-CFG-10", BLOCK, "X11", "torch_npu_plugin asd_variables",
     _("Up to torch_npu 7.0.0 NPU_ASD_ENABLE is used, from 7.1.0 NPU_ASD_CONFIG; never both."),
     _("Set the variable of the installed release only."), _two_asd)
rule("R-CFG-11", INFO, "S4, X11", "NPU_ASD_ENABLE",
     _("ASD level 2 or 3 stops the training and sets the device to Warning."),
     _("Use level 1 to log only."), lambda f: str(f["NPU_ASD_ENABLE"]) in ("2", "3"))
rule("R-CFG-12", WARN, "S4", "asd_variables world_size",
     _("ASD works with BF16 or FP32 and is advised from 70 billion parameters and 64 cards on, "
       "with jit_compile=False; otherwise it can cost more than 2 per cent."),
     _("Turn ASD off for this run, or change what is named."),
     _asd)
rule("R-CFG-26", INFO, "S4", "asd_variables cp",
     _("With context parallelism ASD can cost more than 2 per cent where all its conditions hold."),
     _("Measure a few steps with and without it."),
     lambda f: bool(f["asd_variables"]) and f["cp"] > 1)
rule("R-CFG-13", WARN, "S0", "warmup_steps train_iters",
     _("Warm-up usually takes 0.1 to 0.5 per cent of the steps."), _("Shorten the warm-up."),
     lambda f: not 0.001 <= f["warmup_steps"] / f["train_iters"] <= 0.005)
rule("R-CFG-14", WARN, "S0", "peak_lr",
     _("The peak learning rate of a large language model is rarely above 0.0001."),
     _("Compare with the GPU run's setting."),
     lambda f: f["peak_lr"] > 1e-4 or (bool(f.get("final_lr")) and not (
         0.05 <= f["final_lr"] / f["peak_lr"] <= 0.2)), _("large language models"))
rule("R-CFG-15", INFO, "S0", "clip_grad weight_decay optimizer",
     _("Gradient clipping 1.0, weight decay 0.1 and an Adam family optimiser are usual."),
     _("Compare with the GPU run's setting."),
     lambda f: float(f["clip_grad"]) != 1.0 or float(f["weight_decay"]) != 0.1
     or str(f["optimizer"]).lower() not in ("adam", "adamw", "adafactor"))
rule("R-CFG-31", INFO, "S0", "gbs seq_length",
     _("A batch beyond 3.2 million tokens from the first step on: GPT-3 let it grow from 32 "
       "thousand to 3.2 million tokens, which makes the training more stable."),
     _("Where the loss jumps, let the batch grow (--rampup-batch-size), as on the GPU."),
     lambda f: f["gbs"] * f["seq_length"] > 3.2e6 and not f.get("batch_growth"),
     _("large language models"))
rule("R-CFG-32", INFO, "S0", "init_std",
     _("First weights usually come from a small Gaussian noise (about 0.02 and less) or T-fixup."),
     _("Compare with the GPU run's setting; watch the embedding layer's gradient first, where "
       "anomalies are frequent (GLM)."),
     lambda f: not 0 < f["init_std"] <= 0.02, _("large language models"))
rule("R-CFG-16", BLOCK, "S0", "train_iters eval_interval is_evaluation_accepted",
     _("There are fewer iterations than the evaluation interval: nothing is evaluated."),
     _("Lower the evaluation interval or raise the iterations."),
     lambda f: bool(f["is_evaluation_accepted"]) and f["train_iters"] < f["eval_interval"])
rule("R-CFG-17", BLOCK, "S0, S2", "train_iters save_interval is_weights_deliverable",
     _("No checkpoint is saved before the run ends."),
     _("Set a save path and a save interval not above the iterations."),
     lambda f: bool(f["is_weights_deliverable"]) and (
         f["save_interval"] > f["train_iters"] or not f.get("save")))
rule("R-CFG-18", WARN, "S0", "split",
     _("The parts of the split add up to 1000, 100 or 1."), _("Correct the parts."),
     lambda f: round(sum(float(p) for p in str(f["split"]).split(",")), 6) not in (1000, 100, 1))
rule("R-CFG-19", BLOCK, "S1", "profiler",
     _("The profiler needs a warm-up, a bounded number of active steps and enough steps."),
     _("Use for example wait 1, warm-up 1, active 2, repeat 2 and 8 steps."), _profiler)
rule("R-CFG-27", WARN, "X29", "profiler_settings",
     _("The profiler drops this setting: metrics of the AI cores need Level1 or Level2, attributes "
       "of operators a database; floating-point operations are collected and not analysed."),
     _("Change the level or what is written, or leave the setting out."), _dropped)
rule("R-CFG-20", WARN, "S0", "gc_threshold",
     _("gc.set_threshold takes three positive whole numbers; gc.disable is risky."),
     _("Use for example 700, 10, 5."),
     lambda f: len(f["gc_threshold"]) != 3
     or any(int(n) != n or n <= 0 for n in f["gc_threshold"]))
rule("R-CFG-21", INFO, "S0", "num_workers cpus",
     _("persistent_workers and pin_memory are advised; workers should not exceed the cores."),
     _("Lower the workers or turn the two options on."),
     lambda f: f["num_workers"] > f["cpus"] or f.get("pin_memory") is False
     or f.get("persistent_workers") is False)
rule("R-CFG-28", WARN, "S4, X30", "ASCEND_GLOBAL_LOG_LEVEL",
     _("CANN logs at level debug or info: every operator writes lines, and the run is slower."),
     _("Use level 3 (error) for runs that are measured; debug only to look for a fault."),
     lambda f: str(f["ASCEND_GLOBAL_LOG_LEVEL"]) in ("0", "1"))
rule("R-CFG-29", INFO, "S4, X30", "ASCEND_SLOG_PRINT_TO_STDOUT",
     _("CANN's log goes to the command's output: no plog files are written, and the training log "
       "is mixed with it."),
     _("Leave it off, and let the runtime collect the log files of a failed job."),
     lambda f: str(f["ASCEND_SLOG_PRINT_TO_STDOUT"]) == "1")
rule("R-CFG-22", BLOCK, "S1, S3", "json_configs",
     _("The JSON configuration cannot be parsed."),
     _("Remove comments and trailing commas."), _json)
rule("R-CFG-23", INFO, "S0", "uses_dataloader has_prefetch",
     _("The data are loaded without prefetching."),
     _("Set prefetch_factor, or use a data prefetcher, where preprocessing holds up training."),
     lambda f: bool(f["uses_dataloader"]) and not f["has_prefetch"])
rule("R-CFG-24", INFO, "S0", "pads_batches has_length_buckets",
     _("Sentences of any length are padded into one batch."),
     _("Group sentences of like length (batch_sampler, group_by_length); the order becomes less "
       "random."),
     lambda f: bool(f["pads_batches"]) and not f["has_length_buckets"])
rule("R-CFG-25", INFO, "S0", "dtype source_dtype",
     _("BF16 takes about 15 per cent more run-time memory than FP16: gradients accumulate in "
       "FP32."),
     _("Plan the memory accordingly, or share the optimiser states among the cards."),
     lambda f: f["dtype"] == "bf16" and f["source_dtype"] == "fp16")
