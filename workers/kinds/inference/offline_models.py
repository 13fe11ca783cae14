"""Inference kinds (DOMAIN 4.5)."""

from fnmatch import fnmatch
from typing import ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.inference.formats import FRAMEWORK

# atc --precision_mode (ATC 离线模型编译工具用户指南, CANN 8.x).
PRECISIONS = {"force_fp16": _("FP16 wherever an operator can"),
              "allow_fp32_to_fp16": _("FP32 as it is, FP16 where FP32 is not supported"),
              "must_keep_origin_dtype": _("Data types of the model"),
              "allow_mix_precision": _("Mixed, after the built-in lists"),
              "force_fp32": _("FP32 wherever an operator can")}
CUSTOM_OPERATORS = Parameter(
    "custom_operators", _("Custom operator library"), "path", is_required=False,
    help=_("ASCEND_CUSTOM_OPP_PATH: searched before the built-in operators. Where an AI CPU "
           "operator lacks a data type, AutoCastMode=1 in the node's init.conf inserts a Cast."))
FILES = ("model_file", "weight_file", "aipp", "fusion_switches", "custom_operators",
         "compression")
CONVERT, CHECK = "0", "3"
# 1 and 5 turn models into JSON and want --om and --json instead of --model: no conversions.
ATC_MODES = {CONVERT: _("Convert to an offline model"), CHECK: _("Check only")}


@register
class Atc(JobKind):
    code = "inf.atc"
    title = _("ATC conversion")
    description = _("Converts a model file to an offline model (.om).")
    success = _("The log holds “ATC run success” and the offline model exists; for a check only, "
                "the log is enough.")
    usual_seconds = 300
    stages = (Stage.INFER_MIGRATE,)
    timeout_seconds = 4 * 3600
    parameters: ClassVar = (
        Parameter("model_file", _("Model file on the node"), "path"),
        FRAMEWORK,
        Parameter("soc_version", _("SoC version"), "name", default="Ascend910B3",
                  help=_("“Ascend” and the chip's name as npu-smi info shows it.")),
        Parameter("input_shape", _("Input shape"), is_required=False,
                  help=_("For example input:1,3,224,224; several inputs with “;” between them.")),
        Parameter("output", _("Name of the offline model"), "name", default="model",
                  help=_("Without .om; it lies in the job's folder and is collected.")),
        Parameter("weight_file", _("Weights (Caffe)"), "path", is_required=False,
                  help=_("The .caffemodel of the same name; for Caffe only.")),
        Parameter("input_format", _("Input format"), "choice", is_required=False,
                  choices=("NCHW", "NHWC", "ND", "NCDHW", "NDHWC"),
                  help=_("Empty: NHWC for TensorFlow, otherwise NCHW.")),
        Parameter("mode", _("Mode"), "choice", default=CONVERT, choices=tuple(ATC_MODES),
                  names=ATC_MODES),
        Parameter("aipp", _("AIPP configuration"), "path", is_required=False,
                  help=_("Preprocessing in front of the model (--insert_op_conf).")),
        Parameter("fusion_switches", _("Fusion switches"), "path", is_required=False,
                  help=_("File that switches fusion rules off (--fusion_switch_file).")),
        Parameter("precision", _("Precision"), "choice", is_required=False,
                  choices=tuple(PRECISIONS), names=PRECISIONS,
                  help=_("--precision_mode; empty: the tool's default for the chip.")),
        CUSTOM_OPERATORS,
        Parameter("compression", _("Calibration (AMCT)"), "path", is_required=False,
                  help=_("--compression_optimize_conf: quantises while converting, with the data "
                         "that the file names.")),
    )
    collect = ("*.om", "fusion_result.json", "check_result.json", "aipp.cfg")
    gate_parameters: ClassVar = {"mode": CONVERT}
    good_run = GoodRun(files=("*.om",), reads_content=False)
    practice_runs = (PracticeRun({"model_file": "~/data/model.onnx"}),
                     PracticeRun({"model_file": "~/data/model.onnx", "aipp": "~/data/aipp.cfg",
                                  "precision": "allow_mix_precision", "custom_operators": "~/opp"}))

    def clean(self, values):
        cleaned = super().clean(values)
        if "/" in cleaned["output"]:
            raise InvalidInput(gettext("“%(label)s” is a name without “/”.")
                               % {"label": gettext("Name of the offline model")})
        return cleaned

    def argv(self, parameters):
        # A leading ~ inside an option is not expanded by any shell; pass the value through one.
        script = ('m=$1 w=$2 a=$3 f=$4 o=$5 c=$6; shift 6; '
                  '[ -z "$w" ] || set -- --weight="$w" "$@"; '
                  '[ -z "$c" ] || set -- --compression_optimize_conf="$c" "$@"; '
                  '[ -z "$o" ] || export ASCEND_CUSTOM_OPP_PATH="$o"; '
                  'if [ -n "$a" ]; then cp "$a" aipp.cfg || exit $?; '
                  'set -- --insert_op_conf="$a" "$@"; fi; '
                  '[ -z "$f" ] || set -- --fusion_switch_file="$f" "$@"; '
                  'exec atc --model="$m" "$@"')
        options = [f"--framework={parameters['framework']}", f"--output={parameters['output']}",
                   f"--soc_version={parameters['soc_version']}"]
        if parameters["input_shape"]:
            options.append(f"--input_shape={parameters['input_shape']}")
        if parameters["input_format"]:
            options.append(f"--input_format={parameters['input_format']}")
        if parameters["precision"]:
            options.append(f"--precision_mode={parameters['precision']}")
        return ["sh", "-c", script, "atc",
                *(parameters[name] or "" for name in FILES),
                *options, f"--mode={parameters['mode']}"]

    def facts(self, parameters):
        return {"atc_mode": parameters["mode"], "is_dvpp_chained": bool(parameters["aipp"]),
                "input_format": parameters["input_format"] or "NCHW"}

    def conclude(self, finished: Finished) -> Judgement:
        produced = [name for name in finished.files if name.endswith(".om") and "/" not in name]
        logs = finished.of_kind("conversion_log")
        codes = ", ".join(logs[0].values.get("codes") or []) if logs else ""
        has_run = "ATC run success" in finished.log
        if wrong := _aipp_faults(finished):
            return wrong
        if has_run and finished.parameters["mode"] == CHECK:
            return Judgement(True, gettext_noop("The model can be converted; no model was made."))
        if has_run and produced:
            return Judgement(True, gettext_noop("Converted: %(name)s."), {"name": produced[0]})
        if codes:
            return Judgement(False, gettext_noop("The conversion failed: %(codes)s."),
                             {"codes": codes})
        return Judgement(False, gettext_noop("The conversion failed; the log shows why."))


def _aipp_faults(finished: Finished) -> Judgement | None:
    """A failure where the AIPP configuration contradicts itself: atc may convert it anyhow."""
    if not finished.parameters.get("aipp"):
        return None
    readings = finished.of_kind("aipp_config")
    if not readings:
        return Judgement(False, gettext_noop(
            "The AIPP configuration cannot be read: what it would do was not looked at."))
    faults = readings[0].values["faults"]
    if not faults:
        return None
    return Judgement(False, gettext_noop(
        "The AIPP configuration contradicts itself (%(n)d): %(first)s"),
        {"n": len(faults), "first": faults[0]})


OPERATORS_CONVERTED = ngettext_noop(
    "%(n)d operator converted, first %(first)s.",
    "%(n)d operators converted, first %(first)s.", "n")


@register
class SingleOperator(JobKind):
    """atc --singleop (ATC 离线模型编译工具用户指南, “单算子模型转换”, CANN 8.x)."""

    code = "inf.atc_singleop"
    title = _("ATC conversion of single operators")
    description = _("Converts the operators that a description file (JSON) names, each to an "
                    "offline model of its own.")
    success = _("The log holds “ATC run success” and at least one offline model exists.")
    usual_seconds = 120
    stages = (Stage.INFER_MIGRATE,)
    timeout_seconds = 3600
    parameters: ClassVar = (
        Parameter("description", _("Description of the operators"), "path",
                  help=_("JSON: a list of operators with op, input_desc, output_desc and attr.")),
        Parameter("soc_version", _("SoC version"), "name", default="Ascend910B3",
                  help=_("“Ascend” and the chip's name as npu-smi info shows it.")),
        CUSTOM_OPERATORS,
    )
    collect = ("operators/*.om", "singleop.json")
    good_run = GoodRun(files=("operators/*.om",), reads_content=False)
    practice_runs = (PracticeRun({"description": "~/data/add.json"}, {"n": 1}),)

    def argv(self, parameters):
        script = ('cp "$1" singleop.json || exit $?; '
                  '[ -z "$2" ] || export ASCEND_CUSTOM_OPP_PATH="$2"; '
                  'exec atc --singleop=singleop.json --output=operators --soc_version="$3"')
        return ["sh", "-c", script, "atc", parameters["description"],
                parameters["custom_operators"] or "", parameters["soc_version"]]

    def conclude(self, finished: Finished) -> Judgement:
        produced = [name for name in finished.files if fnmatch(name, "operators/*.om")]
        if "ATC run success" not in finished.log or not produced:
            return Judgement(False, gettext_noop("The conversion failed; the log shows why."))
        facts = {"n": len(produced), "first": produced[0]}
        return Judgement(True, OPERATORS_CONVERTED, facts, facts)


@register
class OmBench(JobKind):
    code = "inf.om_bench"
    title = _("Offline model benchmark")
    description = _("Runs ais_bench of the Ascend tools (ACL inference) on an offline model: "
                    "latency and throughput. The package ais_bench of the package registry is "
                    "another "
                    "program, which measures services.")
    success = _("A summary with latency and throughput was written.")
    usual_seconds = 60
    stages = (Stage.INFER_TUNE,)
    timeout_seconds = 3600
    cards = 1
    parameters: ClassVar = (
        Parameter("model_file", _("Offline model on the node"), "path"),
        Parameter("input", _("Input data"), "path", is_required=False,
                  help=_("A .bin or .npy file or a folder of them; empty: zeros are computed.")),
        Parameter("batch_size", _("Batch size"), "integer", default=1, minimum=1, maximum=4096,
                  help=_("As the model was converted; the throughput is computed from it.")),
        Parameter("loop", _("Loops"), "integer", default=100, minimum=1, maximum=1_000_000),
        Parameter("warmup", _("Warm-up loops"), "integer", default=5, minimum=0, maximum=10_000),
    )
    collect = judged_files = ("bench/*.json", "bench/*/*.json")
    claims_device = True
    good_run = GoodRun(cards=1, log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"model_file": "~/data/model.onnx", "loop": 10}),)

    def argv(self, parameters):
        given = ["--input", parameters["input"]] if parameters["input"] else []
        script = 'mkdir -p bench && exec python3 -m ais_bench --output bench "$@"'
        return ["sh", "-c", script, "bench", "--model", parameters["model_file"], *given,
                "--batchsize", str(parameters["batch_size"]), "--loop", str(parameters["loop"]),
                "--warmup_count", str(parameters["warmup"])]

    def conclude(self, finished: Finished) -> Judgement:
        readings = finished.in_files("inference_benchmark")
        if finished.exit_status != 0 or not readings:
            return Judgement(False, gettext_noop("The benchmark gave no result; see the log."))
        latency, rate = _latency_and_rate(readings)
        if latency is None or rate is None:
            return Judgement(False, gettext_noop(
                "The benchmark's files hold no latency or no throughput."))
        facts = {"latency": f"{latency:.4g}", "rate": f"{rate:.4g}"}
        return Judgement(True, gettext_noop(
            "Mean latency %(latency)s ms, throughput %(rate)s per second."), facts, facts)


    def device_in(self, finished):
        """ais_bench computes on the device: times of its computing prove it."""
        latency, _rate = _latency_and_rate(finished.in_files("inference_benchmark"))
        return super().device_in(finished) or ("ais_bench" if latency is not None else "")


def _latency_and_rate(readings) -> tuple[float | None, float | None]:
    """Mean inference latency in ms and samples per second, where a reading holds them."""
    latency = rate = None
    for reading in readings:
        stages = reading.values.get("latency_ms") or {}
        latency = latency or (stages.get("inference") or {}).get("mean")
        rate = rate or (reading.values.get("throughput") or {}).get("samples_per_second")
    return latency, rate
