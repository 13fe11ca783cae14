"""Inference kinds (DOMAIN 4.5)."""

import re
from fnmatch import fnmatch
from typing import ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.inference import dynamic_inputs
from workers.kinds.model_formats import FRAMEWORK
from workers.kinds.parameters import as_words

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
        *dynamic_inputs.PARAMETERS,
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
        Parameter("extra", _("Further options"), "words", is_required=False,
                  help=_("As atc --help of the node's CANN names them, for example "
                         "--output_type=FP32.")),
    )
    collect = ("*.om", "fusion_result.json", "check_result.json", "aipp.cfg")
    gate_parameters: ClassVar = {"mode": CONVERT}
    good_run = GoodRun(files=("*.om",), reads_content=False)
    practice_runs = (PracticeRun({"model_file": "~/data/model.onnx"}),
                     PracticeRun({"model_file": "~/data/model.onnx", "aipp": "~/data/aipp.cfg",
                                  "precision": "allow_mix_precision", "custom_operators": "~/opp"}),
                     PracticeRun({"model_file": "~/data/model.onnx",
                                  "input_shape": "input:-1,3,224,224", "sizes": "1,4,8",
                                  "dynamic": dynamic_inputs.BATCH}))

    def clean(self, values):
        cleaned = super().clean(values)
        if "/" in cleaned["output"]:
            raise InvalidInput(gettext("“%(label)s” is a name without “/”.")
                               % {"label": gettext("Name of the offline model")})
        dynamic_inputs.check(cleaned)
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
                *options, *dynamic_inputs.option(parameters), f"--mode={parameters['mode']}",
                *as_words(parameters["extra"])]

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
        stage = logs[0].values.get("stage") if logs else None
        if codes:
            return Judgement(False, FAILED_IN[stage], {"codes": codes}, {"stage": stage})
        return Judgement(False, gettext_noop("The conversion failed; the log shows why."))


FAILED_IN = {  # by the stages of toolreaders.conversion.atc
    None: gettext_noop("The conversion failed: %(codes)s."),
    "arguments": gettext_noop("The conversion did not begin, an argument is wrong: %(codes)s."),
    "parser": gettext_noop("The conversion failed while the model file was parsed: %(codes)s."),
    "prepare": gettext_noop("The conversion failed while the graph was prepared (shapes and data "
                            "types): %(codes)s."),
    "split": gettext_noop("The conversion failed while the graph was split, no engine takes an "
                          "operator: %(codes)s."),
    "optimise": gettext_noop("The conversion failed while the subgraphs were optimised and their "
                             "operators built: %(codes)s."),
    "compile": gettext_noop("The conversion failed while the whole graph was compiled (memory, "
                            "streams, tasks): %(codes)s."),
}


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


IN_TURN = """b=$1 m=$2; shift 2
for n in $(printf %s "$b" | tr , ' '); do
  case $m in *'{batch}'*) f=$(printf %s "$m" | sed "s/{batch}/$n/g") d=;;
  *) f=$m d=--dymBatch;; esac
  mkdir -p "bench/bs$n"; echo "batch size $n"
  python3 -m ais_bench --output "bench/bs$n" --model "$f" --batchsize "$n" ${d:+"$d" "$n"} "$@" ||
    exit $?
done"""
BATCHES_MEASURED = ngettext_noop(
    "%(n)d batch size measured: %(rate)s per second at batch %(batch)d, mean latency %(latency)s "
    "ms.", "%(n)d batch sizes measured: at most %(rate)s per second, at batch %(batch)d, mean "
    "latency %(latency)s ms.", "n")
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
        Parameter("batches", _("Batch sizes in turn"), is_required=False,
                  help=_("For example 1,4,8: a run and a row of the table each. {batch} in the "
                         "model's name stands for the size; without it one model takes them all "
                         "(--dymBatch).")),
        Parameter("loop", _("Loops"), "integer", default=100, minimum=1, maximum=1_000_000),
        Parameter("warmup", _("Warm-up loops"), "integer", default=5, minimum=0, maximum=10_000),
    )
    collect = judged_files = ("bench/*.json", "bench/*/*.json", "bench/*/*/*.json")
    claims_device = True
    good_run = GoodRun(cards=1, log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"model_file": "~/data/model.onnx", "loop": 10}),
                     PracticeRun({"model_file": "~/data/model.onnx", "loop": 5, "batches": "1,4"},
                                 {"n": 2}))

    def clean(self, values):
        cleaned = super().clean(values)
        if cleaned["batches"] and not re.fullmatch(r"[1-9]\d{0,3}(,[1-9]\d{0,3})*",
                                                   cleaned["batches"]):
            raise InvalidInput(gettext("Batch sizes are written as 1,4,8."))
        return cleaned

    def argv(self, parameters):
        options = ["--loop", str(parameters["loop"]), "--warmup_count", str(parameters["warmup"])]
        given = ["--input", parameters["input"]] if parameters["input"] else []
        if parameters["batches"]:
            return ["sh", "-c", IN_TURN, "bench", parameters["batches"], parameters["model_file"],
                    *given, *options]
        script = 'mkdir -p bench && exec python3 -m ais_bench --output bench "$@"'
        return ["sh", "-c", script, "bench", "--model", parameters["model_file"], *given,
                "--batchsize", str(parameters["batch_size"]), *options]

    def conclude(self, finished: Finished) -> Judgement:
        readings = finished.in_files("inference_benchmark")
        if finished.exit_status != 0 or not readings:
            return Judgement(False, gettext_noop("The benchmark gave no result; see the log."))
        latency, rate = _latency_and_rate(readings)
        if latency is None or rate is None:
            return Judgement(False, gettext_noop(
                "The benchmark's files hold no latency or no throughput."))
        if wanted := finished.parameters.get("batches"):
            return _in_turn(finished, [int(batch) for batch in wanted.split(",")])
        facts = {"latency": f"{latency:.4g}", "rate": f"{rate:.4g}"}
        return Judgement(True, gettext_noop(
            "Mean latency %(latency)s ms, throughput %(rate)s per second."), facts, facts)


    def device_in(self, finished):
        """ais_bench computes on the device: times of its computing prove it."""
        latency, _rate = _latency_and_rate(finished.in_files("inference_benchmark"))
        return super().device_in(finished) or ("ais_bench" if latency is not None else "")


def _in_turn(finished: Finished, wanted: list[int]) -> Judgement:
    """A row per batch, whose results lie in its folder; a failure that names those without one."""
    rows = {}
    for path, reading in finished.readings.items():
        folder = re.match(r"bench/bs(\d+)/", path)
        if folder and reading.kind == "inference_benchmark":
            latency, rate = _latency_and_rate([reading])
            rows[int(folder[1])] = {
                "batch": int(folder[1]), "latency": latency, "samples_per_second": rate,
                "p99": (reading.values["latency_ms"].get("inference") or {}).get("p99")}
    rows = {batch: row for batch, row in rows.items() if None not in (
        row["latency"], row["samples_per_second"])}
    if missing := [str(batch) for batch in wanted if batch not in rows]:
        return Judgement(False, gettext_noop("No result for batch size %(missing)s."),
                         {"missing": ", ".join(missing)})
    found = [rows[batch] for batch in wanted]
    best = max(found, key=lambda row: row["samples_per_second"])
    facts = {"n": len(found), "batch": best["batch"], "rate": f"{best['samples_per_second']:.4g}",
             "latency": f"{best['latency']:.4g}"}
    return Judgement(True, BATCHES_MEASURED, facts, {**facts, "benchmark_points": found})


def _latency_and_rate(readings) -> tuple[float | None, float | None]:
    """Mean inference latency in ms and samples per second, where a reading holds them."""
    latency = rate = None
    for reading in readings:
        stages = reading.values.get("latency_ms") or {}
        latency = latency or (stages.get("inference") or {}).get("mean")
        rate = rate or (reading.values.get("throughput") or {}).get("samples_per_second")
    return latency, rate
