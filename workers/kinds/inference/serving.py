"""Serving and conversion for serving (DOMAIN 4.5)."""

import re
from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.node_scripts import on_device

ANSWER = re.compile(r"(?m)^.*Answer\[\d+\]:[ \t]*(\S.*)$")
MINDIE = "MindIE Benchmark"  # as its reader names the tool: other clients have kinds of their own
TOKENS = re.compile(r"Generate\[\d+\] token num:\s*\(?\d*,?\s*(\d+)\)?")


ANSWERED = ngettext_noop(
    "Answered with %(tokens)d token.",
    "Answered with %(tokens)d tokens.", "tokens")


@register
class MindieRun(JobKind):
    code = "inf.mindie_run"
    title = _("MindIE single inference")
    description = _("Runs examples/run_pa.py of ATB Speed on one question.")
    success = _("The log holds an answer that is not empty, and an NPU is proven to have been "
                "used.")
    claims_device = True
    may_log_errors = True
    stages = (Stage.INFER_MIGRATE,)
    timeout_seconds = 3600
    usual_seconds = 300
    parameters: ClassVar = (
        Parameter("weights", _("Folder of the weights"), "path"),
        Parameter("question", _("Question"), default="What is deep learning?"),
        Parameter("output_tokens", _("Most tokens of an answer"), "integer", default=20,
                  minimum=1, maximum=131_072, unit="tokens"),
        Parameter("atb_speed", _("Folder of ATB Speed"), "path",
                  default="/usr/local/Ascend/atb-models", help=_("ATB_SPEED_HOME_PATH")),
        Parameter("cards", _("Cards"), "integer", default=1, minimum=1, maximum=16,
                  help=_("As many processes are started; the model is spread over them (TP).")),
        Parameter("port", _("Port of the processes"), "integer", default=20030, minimum=1024,
                  maximum=65_535, help=_("Free on the node; for several cards only.")),
        Parameter("python", _("Python interpreter"), "path", default="python3"),
    )
    good_run = GoodRun(cards=1)
    practice_runs = (PracticeRun({"weights": "~/data/weights",
                                  "atb_speed": "~/projects/atb-models"}, {"tokens": 20}),)

    def argv(self, parameters):
        p = parameters
        script = 'cd "$1" && shift && exec "$@"'
        # One process per card: a single one would load the whole model on one card.
        launch = ["-m", "torch.distributed.run", "--nproc_per_node", str(p["cards"]),
                  "--master_port", str(p["port"]), "-m", "examples.run_pa"]
        run = [p["python"], *(launch if p["cards"] > 1 else ["examples/run_pa.py"]),
               "--model_path", p["weights"], "--input_texts", p["question"],
               "--max_output_length", str(p["output_tokens"])]
        return ["sh", "-c", script, "run_pa", p["atb_speed"], *on_device(run, p["python"])]

    def conclude(self, finished: Finished) -> Judgement:
        answers, tokens = ANSWER.findall(finished.log), TOKENS.findall(finished.log)
        if finished.exit_status != 0 or not answers or not tokens:
            return Judgement(False, gettext_noop("No answer was printed; see the log."))
        facts = {"answer": answers[0][:200], "tokens": int(tokens[0])}
        return Judgement(True, ANSWERED, facts, facts)


@register
class MindieBench(JobKind):
    code = "inf.mindie_bench"
    title = _("Serving benchmark")
    description = _("MindIE Benchmark against a running service: latencies and throughput.")
    success = _("Every request was answered.")
    stages = (Stage.INFER_TUNE,)
    timeout_seconds = 12 * 3600
    usual_seconds = 1800
    collect = judged_files = ("instance/*.csv", "instance/*.json")
    parameters: ClassVar = (
        Parameter("dataset", _("Data set on the node"), "path"),
        Parameter("dataset_type", _("Type of the data set"), "choice", default="gsm8k",
                  choices=("gsm8k", "ceval", "mmlu", "humaneval", "truthfulqa", "synthetic"),
                  help=_("For synthetic the data set is its configuration (JSON).")),
        Parameter("model_name", _("Name of the model"), "name",
                  help=_("As the service's config.json has it.")),
        Parameter("weights", _("Folder of the weights"), "path"),
        Parameter("http", _("Address of the service"), "name", default="http://127.0.0.1:1025"),
        Parameter("management", _("Address of its management"), "name",
                  default="http://127.0.0.2:1026"),
        Parameter("concurrency", _("Concurrent requests"), "integer", default=10, minimum=1,
                  maximum=10_000),
        Parameter("rate", _("Requests per second"), "number", minimum=0.01, maximum=100_000,
                  is_required=False, unit="1/s", help=_("Empty: as fast as they are answered.")),
        Parameter("output_tokens", _("Most tokens of an answer"), "integer", default=512,
                  minimum=1, maximum=131_072, unit="tokens"),
        Parameter("accuracy", _("Also score the answers"), "flag", default=False),
    )
    practice_runs = (PracticeRun({"dataset": "~/data/corpus.jsonl", "model_name": "Qwen",
                                  "weights": "~/data/weights"}, {"total": 200, "failed": 0}),)

    def argv(self, parameters):
        p = parameters
        option = "SyntheticConfigPath" if p["dataset_type"] == "synthetic" else "DatasetPath"
        named = {option: p["dataset"], "DatasetType": p["dataset_type"],
                 "ModelName": p["model_name"], "ModelPath": p["weights"], "TestType": "client",
                 "Http": p["http"], "ManagementHttp": p["management"],
                 "Concurrency": p["concurrency"], "RequestRate": p["rate"],
                 "MaxOutputLen": p["output_tokens"], "Tokenizer": "True",
                 "TestAccuracy": "True" if p["accuracy"] else None}
        return ["benchmark", *(word for name, value in named.items() if value is not None
                               for word in (f"--{name}", str(value)))]

    def facts(self, parameters):
        return {"model_family": parameters["model_name"]}

    def conclude(self, finished: Finished) -> Judgement:
        readings = finished.of_kind("inference_benchmark", MINDIE)
        if not readings:
            return Judgement(False, gettext_noop("The benchmark gave no result; see the log."))
        values = readings[0].values
        requests, rates = values.get("requests") or {}, values.get("throughput") or {}
        facts = {"total": _whole(requests.get("total")), "failed": _whole(requests.get("failed")),
                 "rate": rates.get("output_tokens_per_second")}
        if not facts["total"] or facts["failed"] is None:
            return Judgement(False, gettext_noop(
                "The benchmark does not state how many requests were sent and failed."), facts)
        if facts["failed"]:
            return Judgement(False, gettext_noop(
                "%(failed)s of %(total)s requests failed."), facts, facts)
        return Judgement(True, gettext_noop(
            "%(total)s requests, all answered; %(rate)s tokens per second."), facts, facts)


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


@register
class Quantise(JobKind):
    code = "inf.quant"
    title = _("Quantisation")
    description = _("msmodelslim quant with its own best practice for the model.")
    success = _("The description that was written has the asked-for scheme; the tool may choose "
                "another one.")
    stages = (Stage.INFER_TUNE,)
    timeout_seconds = 24 * 3600
    usual_seconds = 3600
    cards = 1
    collect = ("quantised/quant_model_description*.json", "quantised/*.yaml")
    judged_files = ("quantised/quant_model_description*.json",)
    parameters: ClassVar = (
        Parameter("weights", _("Folder of the weights"), "path"),
        Parameter("model_type", _("Type of the model"), "name", default="Qwen2.5-7B-Instruct",
                  help=_("As msmodelslim's list of supported models names it.")),
        Parameter("scheme", _("Scheme"), "choice", default="w8a8",
                  choices=("w8a8", "w8a16", "w8a8s", "w8a8c8", "w4a8", "w4a8c8", "w4a4"),
                  help=_("Bits of weights (w), activations (a) and KV cache (c); s is sparse.")),
    )
    good_run = GoodRun(cards=1, log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"weights": "~/data/weights"}, {"made": "W8A8", "n": 12}),)

    def argv(self, parameters):
        p = parameters
        return ["msmodelslim", "quant", "--model_path", p["weights"], "--save_path", "quantised",
                "--device", "npu", "--model_type", p["model_type"], "--quant_type", p["scheme"],
                "--trust_remote_code", "False"]

    def facts(self, parameters):
        return {"model_family": parameters["model_type"]}

    def conclude(self, finished: Finished) -> Judgement:
        readings = finished.of_kind("quantization")
        if not readings:
            return Judgement(False, gettext_noop("No description of the weights was written."))
        values = readings[0].values
        facts = {"asked": finished.parameters["scheme"].upper(),
                 "made": str(values["quant_type"]), "n": values["quantised"]}
        if facts["asked"] != facts["made"].upper() or not facts["n"]:
            return Judgement(False, gettext_noop(
                "%(asked)s was asked for, but %(made)s was made (%(n)d weights)."), facts, facts)
        return Judgement(True, gettext_noop("%(n)d weights as %(made)s."), facts, facts)
