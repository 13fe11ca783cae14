"""Training with Megatron-LM / MindSpeed (DOMAIN 4.2, 4.7, 5.4, 5.5)."""

import re
from itertools import pairwise
from typing import ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, register
from workers.kinds.example_runs import GoodRun, PracticeRun
from workers.kinds.node_scripts import on_device, then_manifest
from workers.kinds.parameters import as_words
from workers.kinds.training import parallel_strategy
from workers.kinds.training.megatron_features import conflicts, recomputation
from workers.kinds.training.megatron_parameters import OPTIONS, PARAMETERS, SWITCHES
from workers.rules import allocator
from workers.rules.strategy import Strategy

MOST_SKIPPED = 10_000
SAVED = re.compile(r"success\w* (?:saved|scheduled)|saved checkpoint", re.IGNORECASE)


@register
class MegatronTrain(JobKind):
    code = "adapt.megatron_train"
    title = _("Megatron / MindSpeed training")
    description = _("Starts pretrain_gpt.py with torchrun and follows its loss.")
    success = _("The log shows every iteration, all losses are finite, the checkpoint that was "
                "asked for exists, and an NPU is proven to have been used.")
    stages = (Stage.TRAIN_TUNE, Stage.TRAIN_ADAPT)
    timeout_seconds = 7 * 24 * 3600
    usual_seconds = 4 * 3600
    shows_progress = spans_nodes = True
    may_log_errors = True
    claims_device = True
    collect = ("manifest.txt", "checkpoints.report.json",
               "checkpoints/latest_checkpointed_iteration.txt")
    judged_files = ("checkpoints.report.json",)
    parameters: ClassVar = PARAMETERS
    good_run = GoodRun(parameters={"train_iters": 20}, cards=8)
    practice_runs = (PracticeRun({"train_iters": 20}),)

    def clean(self, values):
        cleaned = super().clean(values)
        _require_skippable(cleaned)
        for rule, message, facts in findings(cleaned):
            raise InvalidInput(gettext(message) % facts, rule=rule)
        for message in conflicts(cleaned):
            raise InvalidInput(gettext(message))
        return cleaned

    def argv(self, parameters):
        p = parameters
        launch = ["torchrun", "--nproc_per_node", str(p["cards"]), "--nnodes", str(p["nodes"]),
                  "--node_rank", str(p["node_rank"]), "--master_addr", p["master_address"],
                  "--master_port", str(p["master_port"])]
        run = [*launch, p["script"], *_options(p), *as_words(p["extra"])]
        return then_manifest(on_device(run), p["save"], "checkpoints")

    def argv_on(self, parameters, meeting):
        p = {**parameters, "nodes": meeting.nodes, "node_rank": meeting.rank,
             "master_address": meeting.master, "master_port": meeting.port}
        if meeting.attempt > 1 and "--load" not in as_words(p["extra"]):
            p["extra"] = ["--load", p["save"], *as_words(p["extra"])]
            p["load"] = None
        return self.argv(p)

    def require_restartable(self, parameters):
        if not parameters["save"].startswith(("/", "~/")):
            raise InvalidInput(gettext(
                "A restart needs the checkpoints in a folder that all nodes share: name it from "
                "“/” on."))

    def environment(self, parameters):
        chosen = {"PYTORCH_NPU_ALLOC_CONF": parameters["allocator"],
                  "HCCL_BUFFSIZE": parameters["hccl_buffer_mb"],
                  "MULTI_STREAM_MEMORY_REUSE": "1" if parameters["memory_reuse"] else None}
        return {"CUDA_DEVICE_MAX_CONNECTIONS": "1", "PYTHONUNBUFFERED": "1",
                **{name: str(value) for name, value in chosen.items() if value}}

    def facts(self, parameters):
        p, words = parameters, as_words(parameters["extra"])
        static = p.get("loss_scale") or any(word.startswith("--loss-scale") for word in words)
        scaling = {"fp16": "static" if static else "dynamic"}.get(p["precision"], "none")
        # Megatron's arguments.py: bf16 always accumulates in FP32, --optimizer is adam by default.
        wide = p["precision"] != "fp16" or "--accumulate-allreduce-grads-in-fp32" in words
        chosen = dict(pairwise(words)).get("--optimizer", "adam")
        return {"dtype": p["precision"], "loss_scaling": scaling, "optimizer": chosen,
                "gradient_accumulation_dtype": "fp32" if wide else "fp16",
                "save_interval": p["save_interval"] or p["train_iters"],
                # MindSpeed calls set_compile_mode with what --jit-compile says
                "jit_compile": "--jit-compile" in words}

    def conclude(self, finished: Finished) -> Judgement:
        readings = finished.of_kind("training_log")
        loss = readings[0].values.get("loss", {}) if readings else {}
        wanted = finished.parameters["train_iters"]
        values = {"points": loss.get("points", 0), "wanted": wanted, "last": loss.get("last"),
                  "status": finished.exit_status, "step": loss.get("first_nonfinite_step")}
        if loss.get("nonfinite"):
            return Judgement(False, gettext_noop(
                "The loss is not finite from iteration %(step)s on."), values)
        if finished.exit_status != 0:
            return Judgement(False, gettext_noop(
                "The training ended with status %(status)s after %(points)d of %(wanted)d "
                "iterations."), values)
        if loss.get("last_step") != wanted:
            return Judgement(False, gettext_noop(
                "The log shows %(points)d of %(wanted)d iterations."), values)
        return _with_checkpoint(finished, values, loss)


NO_CHECKPOINT = ngettext_noop(
    "The only iteration ran, but no checkpoint was saved.",
    "All %(points)d iterations ran, but no checkpoint was saved.", "points")
TRAINED = ngettext_noop(
    "%(points)d iteration, all losses finite, last loss %(last_text)s.",
    "%(points)d iterations, all losses finite, last loss %(last_text)s.", "points")


def _with_checkpoint(finished: Finished, values: dict, loss: dict) -> Judgement:
    saved = finished.report("checkpoints").get("file_count", 0)
    # The folder may hold checkpoints of an earlier run: the log has to say that this one saved.
    if not saved or not SAVED.search(finished.log):
        return Judgement(False, NO_CHECKPOINT, values)
    values = {**values, "last_text": f"{loss['last']:.4f}", "files": saved}
    return Judgement(True, TRAINED, values, values)


def strategy(p: dict) -> Strategy:
    """The parallel strategy of cleaned parameters."""
    return Strategy(
        cards=p["cards"], nodes=p["nodes"], tensor=p["tensor_parallel"],
        pipeline=p["pipeline_parallel"], context=p["context_parallel"],
        expert=p["expert_parallel"], micro_batch=p["micro_batch_size"],
        global_batch=p["global_batch_size"], layers=p["num_layers"], hidden=p["hidden_size"],
        layers_per_virtual_stage=p["layers_per_virtual_stage"], heads=p["attention_heads"],
        sequence_length=p["seq_length"], is_sequence_parallel=p["sequence_parallel"])


def findings(p: dict) -> list[parallel_strategy.Finding]:
    """What contradicts itself in cleaned parameters: R-PAR-01 to 06, R-CFG-01 to 05, 16 to 18."""
    found = parallel_strategy.check(strategy(p))
    if p["allocator"]:
        found += allocator.violations(p["allocator"])
    if p["node_rank"] >= p["nodes"]:
        found.append(("R-PAR-03", gettext_noop(
            "The node's rank must be below the %(nodes)d nodes."), {"nodes": p["nodes"]}))
    return [*found, *_schedule(p)]


def _schedule(p: dict) -> list[parallel_strategy.Finding]:
    found, iterations = [], p["train_iters"]
    for name, rule in (("eval_interval", "R-CFG-16"), ("save_interval", "R-CFG-17")):
        if p[name] and p[name] > iterations:
            found.append((rule, gettext_noop(
                "An interval of %(interval)d is never reached in %(iterations)d iterations."),
                {"interval": p[name], "iterations": iterations}))
    parts = [float(x) for x in (p["split"] or "").split(",") if x.replace(".", "", 1).isdigit()]
    if p["split"] and (len(parts) != 3 or sum(parts) not in (1, 100, 1000)):
        found.append(("R-CFG-18", gettext_noop(
            "The split is three numbers whose sum is 1, 100 or 1000."), {}))
    return found


def _require_skippable(p: dict) -> None:
    """Raises InvalidInput for what are no iterations of this training."""
    try:
        skipped = numbers_in(p["skip_iterations"] or "")
    except ValueError:
        skipped = [0]
    if skipped and not 0 < skipped[0] <= skipped[-1] <= p["train_iters"]:
        raise InvalidInput(gettext(
            "Iterations to skip are numbers and ranges from 1 to %(last)d, for example "
            "120,130-134.") % {"last": p["train_iters"]})


def numbers_in(text: str) -> list[int]:
    """Numbers of “120,130-134”, each once, in order; at most 10,000. Raises ValueError."""
    found: set[int] = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        first, dash, last = part.partition("-")
        numbers = range(int(first), int(last if dash else first) + 1)
        if not numbers or len(found) + len(numbers) > MOST_SKIPPED:
            raise ValueError(part)
        found.update(numbers)
    return sorted(found)


def _options(p: dict) -> list[str]:
    """The script's options: those with a value, the switches that are on, the data type."""
    named = {option: p[name] for name, option in OPTIONS.items() if p[name] is not None}
    named |= {"log-interval": 1, "save-interval": p["save_interval"] or p["train_iters"]}
    flat = [word for name, value in named.items() for word in (f"--{name}", str(value))]
    flat += [f"--{option}" for name, option in SWITCHES.items() if p[name]]
    flat += recomputation(p)
    if skipped := numbers_in(p["skip_iterations"] or ""):
        flat += ["--iterations-to-skip", *map(str, skipped)]
    return [*flat, *([f"--{p['precision']}"] if p["precision"] != "fp32" else []),
            "--log-throughput"]
