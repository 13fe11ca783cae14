"""Runs of a project's own script: smoke training, evaluation, dumps, profiles (DOMAIN 4.2–4.4)."""

import re
from typing import ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.gangs import launchers
from workers.gangs.launchers import LAUNCHERS
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import PROJECT_SCRIPT, GoodRun, LogShows, PracticeRun
from workers.kinds.node_scripts import on_device
from workers.kinds.parameters import as_words

LOGS = Parameter("logs", _("Further log files"), "words", is_required=False, help=_(
    "Patterns below the job's folder, such as logs/*.log: they are followed while it runs, also "
    "when they are rotated, and kept."))
STRATEGY_FILE = re.compile(r"parallel[_-](?:strategy|config)")
OF_LAUNCHERS = {"msrun": ("msrun_log/*.log",), "mpirun": ("log_output/*/rank.*/stdout",)}
COMMON = (
    Parameter("script", _("Script of the project"), "path"),
    Parameter("arguments", _("Arguments"), "words", is_required=False, is_always_shown=True),
    Parameter("launcher", _("Started with"), "choice", default="python", choices=tuple(LAUNCHERS),
              names=LAUNCHERS),
    Parameter("cards", _("Cards"), "integer", default=1, minimum=1, maximum=16,
              help=_("The script sees these only, numbered from 0.")),
    Parameter("python", _("Python interpreter"), "path", default="python3"),
    Parameter("resume", _("Arguments of a restart"), "words", is_required=False, help=_(
        "Added when a job on several nodes starts again after a failure, such as "
        "--resume_from_checkpoint and a folder that all nodes share.")),
    LOGS,
)


# precision_mode of npu.global_options() (TensorFlow 2.6) and NPURunConfig (1.15), CANN 8.x.
TF_MODES = {"allow_mix_precision": _("Mixed, after the built-in lists"),
            "allow_mix_precision_bf16": _("Mixed with BF16, after the built-in lists"),
            "allow_fp32_to_fp16": _("FP32 as it is, FP16 where FP32 is not supported"),
            "must_keep_origin_dtype": _("Data types of the model"),
            "force_fp16": _("FP16 wherever an operator can"),
            "force_fp32": _("FP32 wherever an operator can")}
TF_PRECISION = Parameter(
    "precision_mode", _("Mixed precision (TensorFlow)"), "choice", is_required=False,
    choices=tuple(TF_MODES), names=TF_MODES,
    help=_("NPU_PRECISION_MODE: the script sets npu.global_options().precision_mode, or "
           "NPURunConfig's, to os.environ[\"NPU_PRECISION_MODE\"]."))


class ProjectRun(JobKind):
    """Base: the script runs in the job's folder and is to write its files there."""

    timeout_seconds = 24 * 3600
    usual_seconds = 1800
    may_log_errors = True  # the project's own words are quoted, the files are judged
    parameters: ClassVar = COMMON
    none_found: ClassVar[str]

    def argv(self, parameters, meeting=None):
        p = parameters
        more = as_words(p.get("resume")) if meeting and meeting.attempt > 1 else []
        return on_device([*launchers.words(p["launcher"], p["python"], p["cards"], meeting),
                          p["script"], *as_words(p["arguments"]), *more],
                         p["python"])

    def argv_on(self, parameters, meeting):
        return self.argv(parameters, meeting)

    def facts(self, parameters):
        """The processes of a node, where the arguments name a file of parallel sizes (R-PAR-03)."""
        one_per_card = parameters.get("launcher") in launchers.SELF_ARRANGING
        if one_per_card and STRATEGY_FILE.search(" ".join(as_words(parameters["arguments"]))):
            return {"processes": parameters["cards"]}
        return {}

    def log_globs(self, parameters):
        return (*as_words(parameters.get("logs")),
                *OF_LAUNCHERS.get(parameters.get("launcher"), ()))

    def uses_rank_table(self, parameters):
        return launchers.needs_rank_table(parameters["launcher"])

    def environment(self, parameters):
        mode = parameters.get("precision_mode")
        return {"PYTHONUNBUFFERED": "1", **({"NPU_PRECISION_MODE": mode} if mode else {})}

    def files(self, finished: Finished, kind: str, form: str = "") -> list[dict]:
        """Values of the collected files (not of the log) of that kind and form."""
        return [reading.values for name, reading in finished.readings.items()
                if reading.kind == kind and name != "log.txt"
                and form in ("", reading.values.get("form"))]

    def missing(self, finished: Finished) -> Judgement:
        return Judgement(False, self.none_found, {"status": finished.exit_status})


LOSSES_NOT_FINITE = ngettext_noop(
    "%(points)d loss, %(nonfinite)d of them not finite; status %(status)s. See the log.",
    "%(points)d losses, %(nonfinite)d of them not finite; status %(status)s. See the "
    "log.", "points")
TOO_FEW_STEPS = ngettext_noop(
    "Only %(points)d of %(steps)d steps is in the log.",
    "Only %(points)d of %(steps)d steps are in the log.", "points")
LOSSES_FINITE = ngettext_noop(
    "%(points)d step, all losses finite.",
    "%(points)d steps, all losses finite.", "points")


@register
class SmokeTrain(ProjectRun):
    code = "adapt.smoke_train"
    spans_nodes = True
    title = _("Smoke training")
    description = _("Starts the migrated project for a few steps.")
    success = _("The log shows at least that many steps with finite losses and names no CUDA "
                "error, and an NPU is proven to have been used.")
    stages = (Stage.TRAIN_ADAPT,)
    shows_progress = True
    claims_device = True
    is_measured = False  # a trial; what is judged is the training
    parameters: ClassVar = (
        *COMMON, Parameter("steps", _("Least steps"), "integer", default=10, minimum=1,
                           maximum=100_000), TF_PRECISION)
    none_found = gettext_noop("The log holds no loss (status %(status)s).")
    good_run = GoodRun(cards=1, also_of=("acc.asd_run", "adapt.megatron_train",
                                         "adapt.project_train", "perf.msprof"))
    practice_runs = (PracticeRun({"script": PROJECT_SCRIPT, "arguments": "smoke 12"},
                                 {"points": 12, "nonfinite": 0}),)

    def conclude(self, finished: Finished) -> Judgement:
        readings = finished.of_kind("training_log")
        loss = readings[0].values.get("loss") or {} if readings else {}
        facts = {"points": loss.get("points", 0), "nonfinite": loss.get("nonfinite", 0),
                 "steps": finished.parameters["steps"], "status": finished.exit_status}
        if not facts["points"]:
            return self.missing(finished)
        if "CUDA error" in finished.log or finished.exit_status != 0 or facts["nonfinite"]:
            return Judgement(False, LOSSES_NOT_FINITE, facts, facts)
        if facts["points"] < facts["steps"]:
            return Judgement(False, TOO_FEW_STEPS, facts, facts)
        return Judgement(True, LOSSES_FINITE, facts, facts)


@register
class ProjectTrain(SmokeTrain):
    code = "adapt.project_train"
    title = _("Training by the project's script")
    description = _("Runs the project's own training in any framework and follows loss, gradient "
                    "norm and time per step while it runs.")
    stages = (Stage.TRAIN_ADAPT, Stage.TRAIN_TUNE)
    usual_seconds = 4 * 3600
    is_measured = True
    parameters: ClassVar = (
        *COMMON, Parameter("steps", _("Least steps"), "integer", default=100, minimum=1,
                           maximum=10_000_000,
                           help=_("With fewer losses in its log the training is no whole one.")),
        TF_PRECISION)
    good_run = GoodRun({"steps": 12}, cards=1, also_of=(
        "acc.asd_run", "adapt.megatron_train", "adapt.smoke_train", "perf.msprof"))
    practice_runs = (PracticeRun({"script": PROJECT_SCRIPT, "arguments": "smoke 12", "steps": 12},
                                 {"points": 12, "nonfinite": 0}),)


# torch_npu's own words (Ascend/pytorch, feature_value_detection: single jumps are only noted).
ALARM = re.compile(
    r"\[Silent|SilentCheck|silent data|feature detection detects abnormal results"
    r"|Matmul checksum is abnormal", re.IGNORECASE)
LEVELS = {"1": _("Note it only"), "2": _("End the training and report a fault"),
          "3": _("End it and report, and log normal values too")}
JIT = {"false": _("off (False)"), "true": _("on (True)")}
RELEASES = {"to_7.0.0": _("up to 7.0.0: NPU_ASD_ENABLE"),
            "from_7.1.0": _("from 7.1.0 on: NPU_ASD_CONFIG")}  # R-CFG-10


ALARMS = ngettext_noop(
    "%(n)d alarm of the detection, first: %(first)s",
    "%(n)d alarms of the detection, first: %(first)s", "n")
NO_ALARM = ngettext_noop(
    "%(points)d step, all losses finite; no alarm of the detection in the last %(lines)d "
    "lines of the log.",
    "%(points)d steps, all losses finite; no alarm of the detection in the last "
    "%(lines)d lines of the log.", "points")


@register
class AsdRun(SmokeTrain):
    code = "acc.asd_run"
    title = _("Training with silent-fault detection")
    description = _("Runs the training with torch_npu's detection of feature values switched on.")
    success = _("The training succeeds, an NPU is proven to have been used, and the log holds no "
                "detection alarm.")
    stages = (Stage.TRAIN_TUNE,)
    parameters: ClassVar = (
        *SmokeTrain.parameters,
        Parameter("nodes", _("Number of nodes"), "integer", default=1, minimum=1, maximum=4096,
                  help=_("Of the whole training, each with as many cards.")),
        Parameter("dtype", _("Data type"), "choice", choices=("bf16", "fp32", "fp16"),
                  is_required=False, help=_("Of the training; ASD works with bf16 or fp32.")),
        Parameter("jit_compile", _("jit_compile of the script"), "choice", is_required=False,
                  choices=tuple(JIT), names=JIT,
                  help=_("As torch.npu.set_compile_mode sets it; empty: what a source scan of the "
                         "model found.")),
        Parameter("context_parallel", _("Context parallel size (CP)"), "integer", minimum=1,
                  maximum=64, is_required=False, help=_("Of the training.")),
        Parameter("level", _("Level"), "choice", default="1", choices=tuple(LEVELS), names=LEVELS,
                  help=_("NPU_ASD_ENABLE, for torch_npu up to 7.0.0.")),
        Parameter("checksum", _("With checksum of matrix products"), "flag", default=False,
                  help=_("with_checksum, from torch_npu 7.1.0 on and for bf16 only: tells a "
                         "faulty core from an unstable model.")),
        Parameter("sample_interval", _("Every so many gradients"), "integer", default=3,
                  minimum=1, maximum=10_000,
                  help=_("grad_sample_interval, from torch_npu 7.1.0 on; fewer find more and cost "
                         "more.")),
        Parameter("torch_npu", _("torch_npu release"), "choice", default="from_7.1.0",
                  choices=tuple(RELEASES), names=RELEASES,
                  help=_("It decides which variable is set; both together are an error.")),
    )
    good_run = GoodRun(cards=1, also_of=("adapt.megatron_train", "adapt.project_train",
                                         "adapt.smoke_train", "perf.msprof"))
    practice_runs = (PracticeRun({"script": PROJECT_SCRIPT, "arguments": "smoke 12"},
                                 {"points": 12}),)

    def environment(self, parameters):
        p = parameters
        if p["torch_npu"] != "from_7.1.0":
            return {**super().environment(p), "NPU_ASD_ENABLE": p.get("level", "1")}
        parts = ["enable:true", *(["with_checksum:true"] if p.get("checksum") else []),
                 *([f"grad_sample_interval:{p['sample_interval']}"]
                   if p.get("sample_interval", 3) != 3 else [])]
        return {**super().environment(p), "NPU_ASD_CONFIG": ",".join(parts)}

    def clean(self, values):
        p = super().clean(values)
        new = p["torch_npu"] == "from_7.1.0"
        if (new and p["level"] != "1") or (not new and p["checksum"]):
            raise InvalidInput(gettext("Levels are for torch_npu up to 7.0.0, the checksum is from "
                                       "7.1.0 on."))
        if p["checksum"] and p["dtype"] not in (None, "bf16"):
            raise InvalidInput(gettext("The checksum works with bf16 only."))
        return p

    def facts(self, parameters):
        given = {"dtype": parameters["dtype"]} if parameters["dtype"] else {}
        if jit := parameters.get("jit_compile"):
            given["jit_compile"] = jit == "true"
        return {**super().facts(parameters), **given}

    def conclude(self, finished):
        lines = finished.log.splitlines()
        alarms = [line for line in lines if ALARM.search(line)]
        if alarms:
            return Judgement(False, ALARMS, {"n": len(alarms), "first": alarms[0][:200]})
        judgement = super().conclude(finished)
        if not judgement.is_success:
            return judgement
        facts = {**judgement.results, "lines": len(lines)}
        return Judgement(True, NO_ALARM, facts, facts)


PACK = ngettext_noop(
    "A pack of %(members)d file with %(packages)d packages.",
    "A pack of %(members)d files with %(packages)d packages.", "members")


@register
class ConfigPack(ProjectRun):
    code = "acc.config_pack"
    title = _("Configuration pack before training")
    description = _("Runs the script into which ConfigChecker was put until its zip exists.")
    success = _("A zip with the recorded configuration was written.")
    stages = (Stage.TRAIN_TUNE,)
    collect = judged_files = ("*.zip", "*/*.zip")
    none_found = gettext_noop("No configuration pack was written (status %(status)s).")
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"script": PROJECT_SCRIPT, "arguments": "pack"}, {"packages": 4}),)

    def handed_over(self, names):
        return next((name for name in names if name.endswith(".zip")), "")

    def conclude(self, finished: Finished) -> Judgement:
        packs = self.files(finished, "config_check", "pack")
        if not packs:
            return self.missing(finished)
        facts = {"members": len(packs[0]["members"]), "packages": len(packs[0]["packages"])}
        return Judgement(True, PACK, facts, facts)


SCORES_WITH_UNREAD = ngettext_noop(
    "%(n)d score; %(task)s: %(value)s. Not recognised, and so not looked at: %(unread)s.",
    "%(n)d scores; %(task)s: %(value)s. Not recognised, and so not looked at: "
    "%(unread)s.", "n")
SCORES = ngettext_noop(
    "%(n)d score; %(task)s: %(value)s.",
    "%(n)d scores; %(task)s: %(value)s.", "n")


@register
class Evaluate(ProjectRun):
    code = "acc.eval"
    spans_nodes = True
    title = _("Evaluation scores")
    description = _("Runs the project's evaluation and reads its scores.")
    success = _("A file with scores was written.")
    stages = (Stage.TRAIN_TUNE, Stage.INFER_TUNE)
    collect = ("*.json", "*/*.json", "*/*/*.json", "*.csv", "*/*.csv")
    none_found = gettext_noop("No file with scores was found (status %(status)s).")
    good_run = GoodRun(log_shows=LogShows.NOTHING, files=("*.json",))
    practice_runs = (PracticeRun({"script": PROJECT_SCRIPT, "arguments": "evaluate"},
                                 {"task": "points"}),)

    def figures_need_device(self, parameters):
        """Scores may be computed anywhere, and are written all the same: a score of the NPU has to
        show it."""
        return True

    def conclude(self, finished: Finished) -> Judgement:
        found = self.files(finished, "evaluation")
        scores = [score for values in found for score in values.get("scores", [])]
        if finished.exit_status != 0 or not scores:
            return self.missing(finished)
        unread = [name for name in finished.files if name.endswith((".json", ".csv"))
                  and name not in finished.readings]
        facts = {"n": len(scores), "task": str(scores[0].get("task")),
                 "value": scores[0].get("value"), "unread": ", ".join(unread[:5])}
        if unread:
            return Judgement(True, SCORES_WITH_UNREAD, facts, facts)
        return Judgement(True, SCORES, facts, facts)


MODELS = ngettext_noop(
    "%(n)d model, first %(first)s.",
    "%(n)d models, first %(first)s.", "n")


@register
class OnnxExport(ProjectRun):
    code = "adapt.onnx_export"
    title = _("ONNX export")
    description = _("Runs the project's export script and collects the .onnx files.")
    success = _("At least one .onnx file was written.")
    stages = (Stage.INFER_MIGRATE,)
    collect = judged_files = ("*.onnx", "*/*.onnx")
    none_found = gettext_noop("No .onnx file was written (status %(status)s).")
    good_run = GoodRun(log_shows=LogShows.NOTHING, also_of=("inf.amct",))
    practice_runs = (PracticeRun({"script": PROJECT_SCRIPT, "arguments": "export"},
                                 {"first": "inspection.onnx"}),)

    def handed_over(self, names):
        return next((name for name in names if name.endswith(".onnx")), "")

    def conclude(self, finished: Finished) -> Judgement:
        models = [name for name in finished.files if name.endswith(".onnx")]
        if finished.exit_status != 0 or not models:
            return self.missing(finished)
        facts = {"n": len(models), "first": models[0]}
        return Judgement(True, MODELS, facts, facts)
