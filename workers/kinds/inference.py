"""Inference kinds (DOMAIN 4.5)."""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register


@register
class Atc(JobKind):
    code = "inf.atc"
    title = _("ATC conversion")
    description = _("Converts a model file to an offline model (.om).")
    success = _("The log holds “ATC run success” and the offline model exists.")
    usual_seconds = 300
    stages = (Stage.INFER_MIGRATE,)
    timeout_seconds = 4 * 3600
    parameters: ClassVar = (
        Parameter("model_file", _("Model file on the node"), "path"),
        Parameter("framework", _("Framework"), "choice", default="5", choices=("0", "1", "3", "5"),
                  help=_("0 Caffe, 1 MindSpore, 3 TensorFlow, 5 ONNX")),
        Parameter("soc_version", _("SoC version"), default="Ascend910B3"),
        Parameter("input_shape", _("Input shape"), is_required=False,
                  help=_("For example input:1,3,224,224")),
        Parameter("output", _("Name of the offline model"), "path", default="model"),
        Parameter("weight_file", _("Weights (Caffe)"), "path", is_required=False,
                  help=_("The .caffemodel of the same name, with framework 0 only.")),
        Parameter("input_format", _("Input format"), "choice", is_required=False,
                  choices=("NCHW", "NHWC", "ND", "NCDHW", "NDHWC")),
        Parameter("mode", _("Mode"), "choice", is_required=False, choices=("0", "1", "3", "5"),
                  help=_("0 offline model, 1 model to JSON, 3 check only, 5 dumped graph to "
                         "JSON. Empty: 0.")),
        Parameter("aipp", _("AIPP configuration"), "path", is_required=False,
                  help=_("Preprocessing in front of the model (--insert_op_conf).")),
    )
    collect = ("*.om", "fusion_result.json")

    def argv(self, parameters):
        # A leading ~ inside an option is not expanded by any shell; pass the value through one.
        script = ('m=$1 w=$2 a=$3; shift 3; [ -z "$w" ] || set -- --weight="$w" "$@"; '
                  '[ -z "$a" ] || set -- --insert_op_conf="$a" "$@"; exec atc --model="$m" "$@"')
        options = [f"--framework={parameters['framework']}", f"--output={parameters['output']}",
                   f"--soc_version={parameters['soc_version']}"]
        if parameters["input_shape"]:
            options.append(f"--input_shape={parameters['input_shape']}")
        options += [f"--{name}={parameters[name]}" for name in ("input_format", "mode")
                    if parameters[name]]
        return ["sh", "-c", script, "atc", parameters["model_file"],
                parameters["weight_file"] or "", parameters["aipp"] or "", *options]

    def facts(self, parameters):
        return {"atc_mode": parameters["mode"] or "0", "is_dvpp_chained": bool(parameters["aipp"]),
                "input_format": parameters["input_format"] or "NCHW"}

    def judge(self, finished: Finished) -> Judgement:
        produced = [name for name in finished.files if name.endswith(".om")]
        logs = finished.of_kind("conversion_log")
        codes = ", ".join(logs[0].values.get("codes") or []) if logs else ""
        if "ATC run success" in finished.log and produced:
            return Judgement(True, gettext_noop("Converted: %(name)s."), {"name": produced[0]})
        if codes:
            return Judgement(False, gettext_noop("The conversion failed: %(codes)s."),
                             {"codes": codes})
        return Judgement(False, gettext_noop("The conversion failed; the log shows why."))


@register
class OmBench(JobKind):
    code = "inf.om_bench"
    title = _("Offline model benchmark")
    description = _("Runs ais_bench on an offline model: latency and throughput.")
    success = _("A summary with latency and throughput was written.")
    usual_seconds = 60
    stages = (Stage.INFER_TUNE,)
    timeout_seconds = 3600
    cards = 1
    parameters: ClassVar = (
        Parameter("model_file", _("Offline model on the node"), "path"),
        Parameter("batch_size", _("Batch size"), "integer", default=1, minimum=1, maximum=4096),
        Parameter("loop", _("Loops"), "integer", default=100, minimum=1, maximum=1_000_000),
        Parameter("warmup", _("Warm-up loops"), "integer", default=5, minimum=0, maximum=10_000),
    )
    collect = ("bench/*.json", "bench/*/*.json")

    def argv(self, parameters):
        script = ('mkdir -p bench && m=$1 && shift && '
                  'exec python3 -m ais_bench --model "$m" --output bench "$@"')
        return ["sh", "-c", script, "bench", parameters["model_file"],
                "--batchsize", str(parameters["batch_size"]), "--loop", str(parameters["loop"]),
                "--warmup_count", str(parameters["warmup"])]

    def judge(self, finished: Finished) -> Judgement:
        readings = finished.of_kind("inference_benchmark")
        if finished.exit_status != 0 or not readings:
            return Judgement(False, gettext_noop("The benchmark gave no result; see the log."))
        latency, rate = _latency_and_rate(readings)
        facts = {"latency": _digits(latency), "rate": _digits(rate)}
        return Judgement(True, gettext_noop(
            "Mean latency %(latency)s ms, throughput %(rate)s per second."), facts, facts)


def _latency_and_rate(readings) -> tuple[float | None, float | None]:
    """Mean inference latency in ms and samples per second, where a reading holds them."""
    latency = rate = None
    for reading in readings:
        stages = reading.values.get("latency_ms") or {}
        latency = latency or (stages.get("inference") or {}).get("mean")
        rate = rate or (reading.values.get("throughput") or {}).get("samples_per_second")
    return latency, rate


def _digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


@register
class MindsporeLite(JobKind):
    code = "inf.mslite"
    title = _("MindSpore Lite conversion")
    description = _("Converts a model to .ms with converter_lite.")
    success = _("The log says CONVERT RESULT SUCCESS and the .ms file exists.")
    usual_seconds = 300
    stages = (Stage.INFER_MIGRATE,)
    timeout_seconds = 4 * 3600
    collect = ("*.ms",)
    parameters: ClassVar = (
        Parameter("model_file", _("Model file on the node"), "path"),
        Parameter("framework", _("Framework"), "choice", default="ONNX",
                  choices=("MINDIR", "ONNX", "TF", "TFLITE", "CAFFE", "PYTORCH")),
        Parameter("library_path", _("Folders of libraries"), "path", is_required=False,
                  default="/usr/local/mindspore-lite/tools/converter/lib", help="LD_LIBRARY_PATH"),
    )

    def argv(self, parameters):
        script = 'm=$1; shift; exec converter_lite --modelFile="$m" --outputFile=model "$@"'
        return ["sh", "-c", script, "lite", parameters["model_file"],
                f"--fmk={parameters['framework']}"]

    def facts(self, parameters):
        return {"lite_input": parameters["framework"], "uses_lite": True}

    def environment(self, parameters):
        folders = parameters["library_path"]
        return {"LD_LIBRARY_PATH": folders} if folders else {}

    def judge(self, finished: Finished) -> Judgement:
        produced = [name for name in finished.files if name.endswith(".ms")]
        if "CONVERT RESULT SUCCESS" not in finished.log or not produced:
            return Judgement(False, gettext_noop("The conversion failed; the log shows why."))
        return Judgement(True, gettext_noop("Converted: %(name)s."), {"name": produced[0]})
