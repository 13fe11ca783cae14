"""Quantisation of ONNX models by AMCT (amct_onnx, seed S0 3.7).

Command and results as Ascend's model zoo has them (ACL_PyTorch/built-in, resnet101, retinanet):
PREFIX_deploy_model.onnx for atc, PREFIX_fake_quant_model.onnx for ONNX Runtime. The deployable one
holds AscendQuant before what is quantised and AscendDequant behind it.
"""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun

DEPLOYABLE = "_deploy_model.onnx"
QUANTISED = ngettext_noop(
    "%(n)d place of %(nodes)d nodes is quantised: %(name)s. Measure its accuracy before it is "
    "used.",
    "%(n)d places of %(nodes)d nodes are quantised: %(name)s. Measure its accuracy before it is "
    "used.", "n")


@register
class Amct(JobKind):
    code = "inf.amct"
    title = _("Quantisation of an ONNX model (AMCT)")
    description = _("amct_onnx calibration: quantises with calibration data; the model it leaves "
                    "is converted by ATC.")
    success = _("The deployable model was written and holds quantised operators.")
    stages = (Stage.INFER_TUNE,)
    timeout_seconds = 12 * 3600
    usual_seconds = 900
    collect = ("quantised/*.onnx", "quantised/*.json", "amct_log/*.log")
    judged_files = (f"quantised/*{DEPLOYABLE}",)
    parameters: ClassVar = (
        Parameter("model_file", _("Model file on the node"), "path"),
        Parameter("input_shape", _("Input shape"), default="input:1,3,224,224",
                  help=_("For example input:1,3,224,224; several inputs with “;” between them.")),
        Parameter("data", _("Calibration data"), "path",
                  help=_("Folder of .bin files of the model's own inputs; several inputs: folders "
                         "with “;” between them.")),
        Parameter("data_types", _("Data type of the inputs"), "name", default="float32"),
        Parameter("batch_num", _("Batches of the calibration"), "integer", default=1, minimum=1,
                  maximum=100_000),
        Parameter("configuration", _("Configuration of the calibration"), "path",
                  is_required=False, help=_("--calibration_config; empty: the tool's own.")),
    )
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"model_file": "~/data/model.onnx", "data": "~/data"}, {"n": 1}),)

    def argv(self, parameters):
        p = parameters
        more = ["--calibration_config", p["configuration"]] if p["configuration"] else []
        return ["sh", "-c", 'mkdir -p quantised && exec amct_onnx calibration "$@"', "amct",
                "--model", p["model_file"], "--save_path", "quantised/model",
                "--input_shape", p["input_shape"], "--data_dir", p["data"],
                "--data_types", p["data_types"], "--batch_num", str(p["batch_num"]), *more]

    def conclude(self, finished: Finished) -> Judgement:
        models = {path: reading.values for path, reading in finished.readings.items()
                  if path.endswith(DEPLOYABLE) and reading.kind == "onnx_model"}
        if finished.exit_status != 0 or not models:
            return Judgement(False, gettext_noop("No deployable model was written; see the log."))
        name, values = next(iter(models.items()))
        count = sum(number for kind, number in values["operators"].items()
                    if kind.rsplit("::", 1)[-1] == "AscendQuant")
        facts = {"n": count, "nodes": values["nodes"], "name": name}
        if not count:
            return Judgement(False, gettext_noop(
                "%(name)s holds no quantised operator: nothing was quantised."), facts, facts)
        return Judgement(True, QUANTISED, facts, facts)
