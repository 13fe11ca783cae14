"""From a corpus to the files a training reads, and the weights it leaves (DOMAIN 4.2)."""

from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.node_scripts import run_script, then_manifest

PYTHON = Parameter("python", _("Python interpreter"), "path", default="python3")


ROWS_WRITTEN = ngettext_noop(
    "%(rows_written)d row, of which %(empty_texts)d without text.",
    "%(rows_written)d rows, of which %(empty_texts)d without text.", "rows_written")


@register
class CorpusConvert(JobKind):
    code = "adapt.corpus_convert"
    title = _("Corpus conversion")
    description = _("Writes a corpus (parquet, csv, JSON lines) as one JSON object per line.")
    success = _("As many rows were written as were read, and none of the texts is missing.")
    stages = (Stage.TRAIN_ADAPT,)
    timeout_seconds = 6 * 3600
    usual_seconds = 600
    collect = judged_files = ("corpus.report.json",)
    parameters: ClassVar = (
        Parameter("source", _("Corpus on the node"), "path",
                  help=_("A file, or a folder of parquet files; parquet needs pyarrow.")),
        Parameter("output", _("File to write"), "path", default="~/corpus/corpus.json"),
        Parameter("column", _("Column of the text"), default="text"),
        PYTHON,
    )
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"source": "~/data/corpus.jsonl"},
                                 {"rows_read": 200, "rows_written": 200, "empty_texts": 0}),)

    def argv(self, parameters):
        return run_script("corpus_convert", parameters["source"], parameters["output"],
                          parameters["column"], python=parameters["python"])

    def conclude(self, finished: Finished) -> Judgement:
        report = finished.report("corpus")
        if finished.exit_status != 0 or not report:
            return Judgement(False, gettext_noop(
                "The corpus was not converted; the log shows why."))
        facts = {name: report[name] for name in
                 ("rows_read", "rows_written", "empty_texts", "sha256")}
        if facts["rows_read"] != facts["rows_written"]:
            return Judgement(False, gettext_noop(
                "%(rows_written)d rows were written, but %(rows_read)d were read."), facts, facts)
        return Judgement(True, ROWS_WRITTEN, facts, facts)


TOKENIZERS = {"GPT2BPETokenizer": "GPT-2 BPE", "HuggingFaceTokenizer": "Hugging Face",
              "Llama2Tokenizer": "Llama 2 (SentencePiece)",
              "PretrainedFromHF": _("Hugging Face, with MindSpeed-LLM's preprocess_data.py")}
# preprocess_data.py of MindSpeed-LLM has an option and a place of its own.
MODEL_OPTIONS = {"PretrainedFromHF": "tokenizer-name-or-path"}


@register
class Preprocess(JobKind):
    code = "adapt.preprocess"
    title = _("Preprocessing for pre-training")
    description = _("Turns a JSON corpus into Megatron's .bin and .idx with preprocess_data.py.")
    success = _("Both files, .bin and .idx, exist and are not empty.")
    stages = (Stage.TRAIN_ADAPT,)
    timeout_seconds = 24 * 3600
    usual_seconds = 1800
    collect = ("manifest.txt", "dataset.report.json")
    judged_files = ("dataset.report.json",)
    parameters: ClassVar = (
        Parameter("megatron", _("Folder of Megatron-LM"), "path", default="~/Megatron-LM",
                  help=_("Or of MindSpeed-LLM, with its own tokenizer.")),
        Parameter("source", _("JSON corpus"), "path", default="~/corpus/corpus.json"),
        Parameter("prefix", _("Beginning of the files to write"), "path",
                  default="~/corpus/corpus"),
        Parameter("column", _("Column of the text"), default="text"),
        Parameter("tokenizer", _("Tokenizer"), "choice", default="GPT2BPETokenizer",
                  choices=tuple(TOKENIZERS), names=TOKENIZERS),
        Parameter("vocabulary", _("Vocabulary file"), "path", is_required=False,
                  help=_("vocab.json of GPT-2's tokenizer.")),
        Parameter("merges", _("Merge file"), "path", is_required=False,
                  help=_("merges.txt of GPT-2's tokenizer.")),
        Parameter("tokenizer_model", _("Folder or file of the tokenizer"), "path",
                  is_required=False, help=_("For the other tokenizers.")),
        Parameter("workers", _("Worker processes"), "integer", default=8, minimum=1, maximum=256,
                  help=_("Not more than the node has cores.")),
        Parameter("append_eod", _("Mark the end of each document"), "flag", default=True),
        PYTHON,
    )
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"megatron": "~/projects/Megatron-LM",
                                  "source": "~/data/corpus.jsonl"},
                                 {"idx": 34 + 200 * 12 + 201 * 8}),)

    def argv(self, parameters):
        p = parameters
        options = {"input": p["source"], "output-prefix": p["prefix"], "json-keys": p["column"],
                   "tokenizer-type": p["tokenizer"], "vocab-file": p["vocabulary"],
                   "merge-file": p["merges"], "workers": p["workers"], "log-interval": 1000,
                   MODEL_OPTIONS.get(p["tokenizer"], "tokenizer-model"): p["tokenizer_model"]}
        words = [word for name, value in options.items() if value is not None
                 for word in (f"--{name}", str(value))]
        folder = "" if p["tokenizer"] in MODEL_OPTIONS else "tools/"
        command = [p["python"], f"{p['megatron'].rstrip('/')}/{folder}preprocess_data.py", *words]
        return then_manifest(command + ["--append-eod"] * p["append_eod"],
                             f"{p['prefix']}_{p['column']}_document", "dataset")

    def conclude(self, finished: Finished) -> Judgement:
        files = {entry["name"].rsplit(".", 1)[-1]: entry["size"]
                 for entry in finished.report("dataset").get("files", [])}
        facts = {"bin": files.get("bin", 0), "idx": files.get("idx", 0)}
        if finished.exit_status != 0 or not all(facts.values()):
            return Judgement(False, gettext_noop(
                "Megatron's files are missing or empty (.bin %(bin)d bytes, .idx %(idx)d bytes)."),
                facts, facts)
        return Judgement(True, gettext_noop(
            "Written: .bin with %(bin)d bytes, .idx with %(idx)d bytes."), facts, facts)


TOO_FEW_STEPS = ngettext_noop(
    "%(files)d file of %(steps)d steps; two steps with the same tensors are needed.",
    "%(files)d files of %(steps)d steps; two steps with the same tensors are needed.", "files")
TENSORS_CHANGED = ngettext_noop(
    "%(files)d file; %(changed)d of %(tensors)d tensors changed between the steps.",
    "%(files)d files; %(changed)d of %(tensors)d tensors changed between the steps.", "files")


@register
class CheckpointCheck(JobKind):
    code = "adapt.ckpt_check"
    title = _("Checkpoint check")
    description = _("Checksums of every file of the checkpoints, and what two steps changed.")
    success = _("Checkpoints of two steps exist and their tensors differ.")
    stages = (Stage.TRAIN_TUNE, Stage.TRAIN_ADAPT)
    timeout_seconds = 6 * 3600
    usual_seconds = 600
    collect = ("manifest.txt", "checkpoints.report.json")
    judged_files = ("checkpoints.report.json",)
    parameters: ClassVar = (
        Parameter("folder", _("Folder of the checkpoints"), "path"),
        Parameter("first", _("Earlier step"), "path", is_required=False,
                  help=_("Name of a folder such as iter_0000100; empty for the last two.")),
        Parameter("second", _("Later step"), "path", is_required=False),
        PYTHON,
    )
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"folder": "~/data/ckpt"},
                                 {"files": 2, "steps": 2, "tensors": 2, "changed": 1,
                                  "missing": 0}),)

    def argv(self, parameters):
        p = parameters
        return run_script("ckpt_check", p["folder"], p["first"] or "", p["second"] or "",
                          python=p["python"])

    def conclude(self, finished: Finished) -> Judgement:
        report = finished.report("checkpoints")
        facts = {"files": report.get("file_count", 0), "steps": len(report.get("steps", [])),
                 "tensors": report.get("tensors", 0), "changed": report.get("tensors_changed", 0),
                 "missing": len(report.get("tensors_missing", []))}
        if finished.exit_status != 0 or not facts["files"]:
            return Judgement(False, gettext_noop("No checkpoint was found."), facts, facts)
        if facts["tensors"] == 0:
            return Judgement(False, TOO_FEW_STEPS, facts, facts)
        if not facts["changed"] or facts["missing"]:
            return Judgement(False, gettext_noop(
                "%(changed)d of %(tensors)d tensors changed between the steps, %(missing)d are "
                "in one of them only."), facts, facts)
        return Judgement(True, TENSORS_CHANGED, facts, facts)
