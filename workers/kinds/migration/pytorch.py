"""Kinds of survey and adaptation (DOMAIN 4.1, 4.2)."""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.node_scripts import FIND_TOOL

TORCH_VERSIONS = ("2.1.0", "2.6.0", "2.7.1", "2.8.0")  # msfmktransplt, mstt 99c2e0f99
FOLDER = "tools/ms_fmk_transplt"  # below the toolkit (X7, X8)
RUN_TOOL = FIND_TOOL + """
tool=$(find_tool "$1" "$2") || exit 127
shift 2; [ -x "$tool" ] && exec "$tool" "$@"; exec bash "$tool" "$@"
"""
RUN_SUCCEEDED = "run succeeded"  # without it the files may be those of a killed run

SOURCE = Parameter("source", _("Source folder on the node"), "path",
                   help=_("Folder with the model's training scripts."))
TORCH = Parameter("torch_version", _("PyTorch version"), "choice", default="2.1.0",
                  choices=TORCH_VERSIONS,
                  help=_("Of the scripts as they are. Which ones the tool takes depends on CANN."))
MODES = {"torch_apis": _("APIs of PyTorch"), "third_party": _("APIs of third-party libraries"),
         "affinity_apis": _("APIs with an affinity API"), "dynamic_shape": _("Dynamic shapes")}


class _Transplant(JobKind):
    needs_model = True
    timeout_seconds = 3600
    counted: ClassVar[dict[str, str]] = {
        "unsupported_api.csv": "unsupported", "unknown_api.csv": "unknown",
        "cuda_op_list.csv": "cuda_ops"}

    def counts(self, finished: Finished) -> dict[str, int]:
        """Rows of each report by its meaning; 0 where the report is missing or empty."""
        found = dict.fromkeys(self.counted.values(), 0)
        for name, reading in finished.readings.items():
            meaning = self.counted.get(name.rsplit("/", 1)[-1])
            if meaning:
                found[meaning] += int(reading.values.get("rows") or 0)
        return found


@register
class PytorchAnalyse(_Transplant):
    code = "survey.pt_analyse"
    title = _("PyTorch migration analysis")
    description = _("Scans the source for APIs that the NPU does not support.")
    success = _("The log holds “run succeeded”; otherwise its tables may be partial.")
    usual_seconds = 120
    stages = (Stage.SURVEY,)
    parameters: ClassVar = (
        SOURCE, TORCH,
        Parameter("mode", _("Looks for"), "choice", default="torch_apis", choices=tuple(MODES),
                  names=MODES),
    )
    collect = ("analysis/*",)

    def argv(self, parameters):
        return ["sh", "-c", "mkdir -p analysis" + RUN_TOOL, "analyse", "pytorch_analyse.sh", FOLDER,
                "-i", parameters["source"], "-o", "analysis",
                "-v", parameters["torch_version"], "-m", parameters["mode"]]

    def judge(self, finished: Finished) -> Judgement:
        if finished.exit_status != 0 or RUN_SUCCEEDED not in finished.log:
            return Judgement(False, gettext_noop(
                "The analysis did not finish; its partial tables are not counted."))
        counts = self.counts(finished)
        return Judgement(True, gettext_noop(
            "%(unsupported)d unsupported and %(unknown)d unknown API uses, "
            "%(cuda_ops)d CUDA operators."), counts, counts)


@register
class Gpu2Npu(_Transplant):
    code = "adapt.gpu2npu"
    title = _("Script migration by tool")
    description = _("Rewrites the training scripts for the NPU with GPU2Ascend.")
    success = _("The log holds “run succeeded”; otherwise the copy may be partial.")
    usual_seconds = 120
    stages = (Stage.TRAIN_ADAPT,)
    parameters: ClassVar = (
        SOURCE, TORCH,
        Parameter("entry", _("Entry script for multi-card training"), "path", is_required=False,
                  help=_("Leave empty for single-card training.")),
        Parameter("model_variable", _("Name of the model variable"), default="model",
                  is_required=False, help=_("As the entry script names it; for multi-card only.")),
    )
    collect = ("migrated/*/transplant_result_file/*", "migrated/*.sh", "migrated/*/*.sh")
    counted: ClassVar[dict[str, str]] = {**_Transplant.counted, "change_list.csv": "changes"}

    def argv(self, parameters):
        extra = []
        if parameters["entry"]:
            extra = ["distributed", "-m", parameters["entry"],
                     "-t", parameters["model_variable"] or "model"]
        return ["sh", "-c", "mkdir -p migrated" + RUN_TOOL, "gpu2npu", "pytorch_gpu2npu.sh", FOLDER,
                "-i", parameters["source"], "-o", "migrated", "-v", parameters["torch_version"],
                *extra]

    def facts(self, parameters):
        return {"gpu2npu_distributed": bool(parameters["entry"])}

    def judge(self, finished: Finished) -> Judgement:
        if finished.exit_status != 0 or RUN_SUCCEEDED not in finished.log:
            return Judgement(False, gettext_noop(
                "The migration did not finish; the copy it left is incomplete."))
        counts = self.counts(finished)
        return Judgement(True, gettext_noop(
            "%(changes)d places changed; %(unsupported)d unsupported API uses remain."),
            counts, counts)
