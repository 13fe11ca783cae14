"""Serving and its benchmark with vLLM-Ascend (DOMAIN 4.5).

Options: `vllm serve` and `vllm bench serve` of vLLM 0.11 (docs.vllm.ai, cli/serve and
cli/bench/serve); what is special to Ascend: vllm-ascend v0.11, “quantization ascend”, additional
configuration and block size 128.
"""

import re
from itertools import product
from typing import ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from toolreaders.serving.points import points_of
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import FREE_PORT, SERVED, GoodRun, LogShows, PracticeRun
from workers.kinds.inference.held_service import HELD, HeldService
from workers.kinds.parameters import as_words

LENGTHS = re.compile(r"(\d{1,7})/(\d{1,7})")
MOST_POINTS = 60
# The tool ends with 0 also where requests failed; each point's JSON says how many.
BENCH = r"""
name=$1; weights=$2; points=$3; shift 3; status=0
for point in $points; do
    concurrency=${point%%:*}; lengths=${point#*:}; input=${lengths%/*}; output=${lengths#*/}
    prompts=$PROMPTS; [ "$prompts" -ge "$concurrency" ] || prompts=$concurrency
    echo "desk: point: concurrency $concurrency, input $input, output $output"
    vllm bench serve --backend vllm --model "$weights" --served-model-name "$name" "$@" \
        --dataset-name random --random-input-len "$input" --random-output-len "$output" \
        --num-prompts "$prompts" --max-concurrency "$concurrency" --ignore-eos \
        --percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,90,99 \
        --metadata "input_len=$input" "output_len=$output" "points=$POINTS" \
        --save-result --result-dir bench \
        --result-filename "c${concurrency}_i${input}_o${output}.json" </dev/null || status=$?
done
exit $status
"""


@register
class VllmServe(HeldService):
    code = "inf.vllm_serve"
    title = _("vLLM-Ascend service")
    description = _("Starts `vllm serve` for a model, asks it for its models, keeps it for the "
                    "given time, and ends it. Run the benchmark meanwhile.")
    success = _("The log says “Application startup complete.”, the service answers, it did not "
                "end by itself, and an NPU is proven to have been used.")
    service = "vllm"
    collect = ("service.report.json", "command.json", "model_config.json")
    parameters: ClassVar = (
        Parameter("weights", _("Folder of the weights"), "path"),
        Parameter("model_name", _("Name of the model"), "name"),
        Parameter("cards", _("Cards"), "integer", default=1, minimum=1, maximum=16),
        Parameter("tensor_parallel", _("Tensor parallel"), "integer", default=1, minimum=1,
                  maximum=16, help=_("Times data parallel it gives the number of cards.")),
        Parameter("data_parallel", _("Data parallel"), "integer", default=1, minimum=1,
                  maximum=16),
        Parameter("expert_parallel", _("Expert parallel"), "flag", default=False,
                  help=_("For mixtures of experts.")),
        Parameter("max_model_len", _("Longest sequence"), "integer", minimum=16,
                  maximum=4_194_304, is_required=False, unit="tokens"),
        Parameter("max_num_seqs", _("Largest batch"), "integer", minimum=1, maximum=100_000,
                  is_required=False, help=_("Requests that are decoded together.")),
        Parameter("max_batched_tokens", _("Tokens of one step"), "integer", minimum=16,
                  maximum=4_194_304, is_required=False, unit="tokens"),
        Parameter("memory_share", _("Share of the device memory"), "number", default=0.9,
                  minimum=0.1, maximum=0.99),
        Parameter("block_size", _("Block of the KV cache"), "choice", default="128",
                  choices=("16", "32", "64", "128")),
        Parameter("dtype", _("Data type"), "choice", default="auto",
                  choices=("auto", "bfloat16", "float16")),
        Parameter("quantised", _("Weights quantised by msmodelslim"), "flag", default=False,
                  help=_("--quantization ascend")),
        Parameter("prefix_cache", _("Cache of prefixes"), "flag", default=True,
                  help=_("Off for benchmarks whose prompts repeat.")),
        Parameter("eager", _("Without graph mode"), "flag", default=False),
        Parameter("extra", _("Further options"), "words", is_required=False),
        Parameter("port", _("Port of the service"), "integer", default=8000, minimum=1024,
                  maximum=65535),
        *HELD,
        Parameter("python", _("Python interpreter"), "path", default="python3"),
    )
    good_run = GoodRun(cards=1, log_shows=LogShows.DEVICE_ONLY)
    practice_runs = (PracticeRun({"weights": "~/data/weights", "model_name": "Qwen",
                                  "port": FREE_PORT, "hold": 1}, {"probes": 1, "answered": 1}),)

    def clean(self, values):
        p = super().clean(values)
        if p["tensor_parallel"] * p["data_parallel"] != p["cards"]:
            raise InvalidInput(gettext(
                "Tensor parallel %(tp)d times data parallel %(dp)d is not %(cards)d cards.") % {
                "tp": p["tensor_parallel"], "dp": p["data_parallel"], "cards": p["cards"]})
        return p

    def settings(self, parameters):
        p = parameters
        named = {"served-model-name": p["model_name"], "port": p["port"],
                 "tensor-parallel-size": p["tensor_parallel"],
                 "data-parallel-size": p["data_parallel"] if p["data_parallel"] > 1 else None,
                 "max-model-len": p["max_model_len"], "max-num-seqs": p["max_num_seqs"],
                 "max-num-batched-tokens": p["max_batched_tokens"],
                 "gpu-memory-utilization": p["memory_share"], "block-size": p["block_size"],
                 "dtype": p["dtype"], "quantization": "ascend" if p["quantised"] else None}
        flags = {"enable-expert-parallel": p["expert_parallel"], "enforce-eager": p["eager"],
                 "no-enable-prefix-caching": not p["prefix_cache"]}
        words = ["vllm", "serve", p["weights"], "--host", "127.0.0.1",
                 *(word for name, value in named.items() if value is not None
                   for word in (f"--{name}", str(value))),
                 *(f"--{name}" for name, is_on in flags.items() if is_on),
                 *as_words(p["extra"])]
        return {"started": "Application startup complete", "command": words}


ALL_ANSWERED = ngettext_noop(
    "%(n)d point, %(total)s requests, all answered; at most %(rate)s tokens per second with "
    "%(at)s concurrent requests.",
    "%(n)d points, %(total)s requests, all answered; at most %(rate)s tokens per "
    "second with %(at)s concurrent requests.", "n")


@register
class VllmBench(JobKind):
    code = "inf.vllm_bench"
    title = _("vLLM serving benchmark")
    description = _("vllm bench serve against a running service, for every combination of "
                    "concurrency and lengths: a table and a chart of latency and throughput.")
    success = _("Every point has its result, and every request was answered.")
    stages = (Stage.INFER_TUNE,)
    timeout_seconds = 24 * 3600
    usual_seconds = 1800
    collect = judged_files = ("bench/*.json",)
    parameters: ClassVar = (
        Parameter("model_name", _("Name of the model"), "name"),
        Parameter("weights", _("Folder of the weights"), "path", help=_("For the tokenizer.")),
        Parameter("http", _("Address of the service"), "name", default="http://127.0.0.1:8000"),
        Parameter("concurrencies", _("Concurrent requests"), default="1, 8, 32",
                  help=_("Numbers with commas between them: each gives a row.")),
        Parameter("lengths", _("Input/output lengths"), default="128/128",
                  help=_("Tokens, such as 128/128, 1024/256: each pair is measured at each "
                         "concurrency.")),
        Parameter("prompts", _("Requests per point"), "integer", default=64, minimum=1,
                  maximum=100_000),
        Parameter("rate", _("Requests per second"), "number", minimum=0.01, maximum=100_000,
                  is_required=False, unit="1/s", help=_("Empty: as fast as they are answered.")),
        Parameter("seed", _("Seed"), "integer", default=0, minimum=0, maximum=2**31 - 1),
    )
    good_run = GoodRun(parameters={"concurrencies": "1, 4", "lengths": "16/8"},
                       log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"weights": "~/data/weights", "model_name": "Qwen", "http": SERVED,
                                  "concurrencies": "1, 4", "lengths": "16/8, 32/8", "prompts": 4},
                                 {"n": 4, "failed": 0}),)

    def clean(self, values):
        p = super().clean(values)
        points(p)
        return p

    def argv(self, parameters):
        p = parameters
        wanted = " ".join(f"{c}:{i}/{o}" for c, i, o in points(p))
        rate = ["--request-rate", str(p["rate"])] if p["rate"] else []
        return ["sh", "-c", BENCH, "bench", p["model_name"], p["weights"], wanted, "--base-url",
                p["http"], "--seed", str(p["seed"]), *rate]

    def environment(self, parameters):
        return {"PROMPTS": str(parameters["prompts"]),
                "POINTS": str(len(points(parameters)))}

    def facts(self, parameters):
        return {"model_family": parameters["model_name"]}

    def conclude(self, finished: Finished) -> Judgement:
        found = points_of([reading.values for reading in finished.in_files("inference_benchmark")])
        wanted = points(finished.parameters)
        facts = {"n": len(found), "wanted": len(wanted),
                 "failed": sum(point["failed"] or 0 for point in found),
                 "total": sum(point["requests"] or 0 for point in found), "benchmark_points": found}
        if len(found) < len(wanted):
            return Judgement(False, gettext_noop(
                "%(n)d of %(wanted)d points have a result; see the log."), facts, facts)
        if facts["failed"] or not facts["total"]:
            return Judgement(False, gettext_noop(
                "%(failed)s of %(total)s requests failed."), facts, facts)
        best = max(found, key=lambda point: point["tokens_per_second"] or 0)
        facts |= {"rate": f"{best['tokens_per_second']:.4g}", "at": best["concurrency"]}
        return Judgement(True, ALL_ANSWERED, facts, facts)


def points(parameters: dict) -> list[tuple[int, int, int]]:
    """(concurrency, input, output) of every point. Raises InvalidInput for what is no number."""
    counts = [word for word in re.split(r"[\s,]+", parameters["concurrencies"]) if word]
    pairs = [word for word in re.split(r"[\s,]+", parameters["lengths"]) if word]
    if not all(word.isdecimal() and 0 < int(word) <= 100_000 for word in counts):
        raise InvalidInput(gettext("Concurrent requests: numbers above 0 with commas between them "
                                   "are expected."))
    found = [LENGTHS.fullmatch(word) for word in pairs]
    if not counts or not found or not all(found) or len(counts) * len(pairs) > MOST_POINTS:
        raise InvalidInput(gettext(
            "Lengths: pairs such as 128/128 are expected, and at most %(most)d points together.")
            % {"most": MOST_POINTS})
    return [(int(count), int(pair[1]), int(pair[2]))
            for pair, count in product(filter(None, found), counts)]
