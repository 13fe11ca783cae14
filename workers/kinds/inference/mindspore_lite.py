"""Conversion and inference with MindSpore Lite (DOMAIN 4.5, R-INF-07)."""

from typing import ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from engagements.stages import Stage
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, PracticeRun
from workers.kinds.node_scripts import on_device

LITE_FORMATS = {"MINDIR": "MindSpore", "ONNX": "ONNX", "TF": "TensorFlow",
                "TFLITE": "TensorFlow Lite", "CAFFE": "Caffe", "PYTORCH": "PyTorch"}
LITE_TARGETS = {"ascend": _("Ascend: .mindir"), "general": _("CPU and other devices: .ms")}
# converter_lite of the cloud and of the device edition write one kind each without being told.
LITE_OPTIONS = {"ascend": ("--saveType=MINDIR", "--optimize=ascend_oriented"),
                "general": ("--saveType=MINDIR_LITE", "--optimize=general")}
LITE_ENDINGS = {"ascend": ".mindir", "general": ".ms"}


@register
class MindsporeLite(JobKind):
    code = "inf.mslite"
    title = _("MindSpore Lite conversion")
    description = _("Converts a model with converter_lite: to .mindir for Ascend, to .ms for "
                    "other devices.")
    success = _("The log says CONVERT RESULT SUCCESS and the file of the target exists.")
    usual_seconds = 300
    stages = (Stage.INFER_MIGRATE,)
    timeout_seconds = 4 * 3600
    collect = ("*.ms", "*.mindir")
    parameters: ClassVar = (
        Parameter("model_file", _("Model file on the node"), "path"),
        Parameter("framework", _("Framework"), "choice", default="ONNX",
                  choices=tuple(LITE_FORMATS), names=LITE_FORMATS),
        Parameter("weight_file", _("Weights (Caffe)"), "path", is_required=False,
                  help=_("The .caffemodel; Caffe cannot be converted without it.")),
        Parameter("target", _("Target"), "choice", default="ascend", choices=tuple(LITE_TARGETS),
                  names=LITE_TARGETS),
        Parameter("library_path", _("Folder of the converter's libraries"), "path",
                  default="/usr/local/mindspore-lite/tools/converter/lib",
                  help=_("Put in front of LD_LIBRARY_PATH; the converter lies beside it.")),
    )
    good_run = GoodRun(files=("*.mindir",), reads_content=False)
    practice_runs = (PracticeRun({"model_file": "~/data/model.onnx"}),)

    def clean(self, values):
        cleaned = super().clean(values)
        if cleaned["framework"] == "CAFFE" and not cleaned["weight_file"]:
            raise InvalidInput(gettext("“%(label)s” is missing.")
                               % {"label": gettext("Weights (Caffe)")})
        return cleaned

    def argv(self, parameters):
        p = parameters
        # The converter lies beside its libraries; variables of the node's own set_env stay.
        script = ('l=$1 m=$2 w=$3; shift 3; [ -z "$w" ] || set -- --weightFile="$w" "$@"; '
                  'export LD_LIBRARY_PATH="$l${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"; '
                  'PATH="$PATH:$l/../converter"; '
                  'exec converter_lite --modelFile="$m" --outputFile=model "$@"')
        return ["sh", "-c", script, "lite", p["library_path"], p["model_file"],
                p["weight_file"] or "", f"--fmk={p['framework']}", *LITE_OPTIONS[p["target"]]]

    def facts(self, parameters):
        return {"lite_input": parameters["framework"], "uses_lite": True,
                "LD_LIBRARY_PATH": parameters["library_path"]}

    def conclude(self, finished: Finished) -> Judgement:
        ending = LITE_ENDINGS[finished.parameters["target"]]
        produced = [name for name in finished.files if name.endswith(ending)]
        if "CONVERT RESULT SUCCESS" not in finished.log or not produced:
            return Judgement(False, gettext_noop("The conversion failed; the log shows why."))
        return Judgement(True, gettext_noop("Converted: %(name)s."), {"name": produced[0]})


# $1 is the package; the tool takes its own option for every path. Ascend needs the converter's
# libraries too (MindSpore Lite, mindir/benchmark_tool).
BENCHMARK = r"""
root=$1; model=$2; input=$3; golden=$4; shift 4
export LD_LIBRARY_PATH="$root/runtime/lib:$root/tools/converter/lib\
${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
[ -z "$input" ] || set -- --inDataFile="$input" "$@"
[ -z "$golden" ] || set -- --benchmarkDataFile="$golden" "$@"
exec "$root/tools/benchmark/benchmark" --modelFile="$model" "$@"
"""


@register
class LiteBench(JobKind):
    code = "inf.lite_bench"
    title = _("MindSpore Lite inference and benchmark")
    description = _("Runs a converted model with MindSpore Lite's benchmark: loads it, fills its "
                    "inputs, infers, and compares the outputs with a reference where one is "
                    "given.")
    success = _("The run times were printed, and on Ascend an NPU is proven to have been used.")
    usual_seconds = 120
    stages = (Stage.INFER_MIGRATE, Stage.INFER_TUNE)
    timeout_seconds = 4 * 3600
    cards = 1
    claims_device = True
    parameters: ClassVar = (
        Parameter("model_file", _("Converted model on the node"), "path", takes=("inf.mslite",),
                  help=_(".mindir; .ms on other devices.")),
        Parameter("package", _("Folder of MindSpore Lite"), "path",
                  default="/usr/local/mindspore-lite"),
        Parameter("device", _("Device"), "choice", default="Ascend", choices=("Ascend", "CPU")),
        Parameter("input", _("Input data"), "path", is_required=False,
                  help=_("Binary files, with commas between several inputs; empty: random.")),
        Parameter("input_shapes", _("Input shape"), is_required=False,
                  help=_("For example 1,3,224,224; several inputs with “:” between them.")),
        Parameter("golden", _("Outputs of the reference"), "path", is_required=False,
                  help=_("Of the same input, as text: their mean deviation is printed.")),
        Parameter("threshold", _("Largest mean deviation"), "number", default=0.5, minimum=0,
                  maximum=100, unit="%", help=_("--accuracyThreshold, with a reference only.")),
        Parameter("loops", _("Loops"), "integer", default=100, minimum=1, maximum=1_000_000),
        Parameter("warmup", _("Warm-up loops"), "integer", default=5, minimum=0, maximum=10_000),
        Parameter("threads", _("Threads"), "integer", default=2, minimum=1, maximum=512),
        Parameter("python", _("Python interpreter"), "path", default="python3"),
    )
    good_run = GoodRun(cards=1)
    practice_runs = (PracticeRun({"model_file": "~/data/model.onnx", "loops": 10,
                                  "package": "~/projects/mindspore-lite"}),)

    def clean(self, values):
        cleaned = super().clean(values)
        if cleaned["golden"] and not cleaned["input"]:
            raise InvalidInput(gettext("Outputs of a reference need the input they came of."))
        return cleaned

    def argv(self, parameters):
        p = parameters
        options = [f"--device={p['device']}", f"--loopCount={p['loops']}",
                   f"--warmUpLoopCount={p['warmup']}", f"--numThreads={p['threads']}"]
        if p["input_shapes"]:
            options.append(f"--inputShapes={p['input_shapes']}")
        if p["golden"]:
            options.append(f"--accuracyThreshold={p['threshold']:g}")
        return on_device(["sh", "-c", BENCHMARK, "benchmark", p["package"], p["model_file"],
                          p["input"] or "", p["golden"] or "", *options], p["python"])

    def device_claim(self, parameters):
        return parameters["device"] == "Ascend"

    def cards_for(self, parameters):
        return 1 if parameters["device"] == "Ascend" else 0

    def conclude(self, finished: Finished) -> Judgement:
        readings = finished.of_kind("inference_benchmark", tool="mindspore_lite_benchmark")
        if not readings:
            return Judgement(False, gettext_noop("The benchmark gave no result; see the log."))
        values = readings[0].values
        facts = {"latency": f"{values['latency_ms']['inference']['mean']:.4g}"}
        if not finished.parameters["golden"]:
            return Judgement(True, gettext_noop(
                "Mean latency %(latency)s ms; outputs were not compared."), facts, facts)
        bias = (values.get("mean_bias") or {}).get("all nodes")
        if bias is None:
            return Judgement(False, gettext_noop(
                "The outputs were to be compared, and no deviation was printed; see the log."),
                facts, facts)
        facts |= {"bias": f"{100 * bias:.4g}", "limit": finished.parameters["threshold"]}
        if 100 * bias > finished.parameters["threshold"]:
            return Judgement(False, gettext_noop(
                "The outputs deviate by %(bias)s %% on the mean, limit %(limit)s %%."),
                facts, facts)
        return Judgement(True, gettext_noop(
            "Mean latency %(latency)s ms; the outputs deviate by %(bias)s %% on the mean."),
            facts, facts)
