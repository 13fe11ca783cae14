"""Kinds of survey and adaptation (DOMAIN 4.1, 4.2)."""

from collections.abc import Iterator
from itertools import islice
from typing import ClassVar

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from engagements.stages import Stage
from engagements.text.nested_sentences import nested, ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import PracticeRun
from workers.kinds.findings import MOST_FINDINGS
from workers.kinds.node_scripts import FIND_TOOL

TORCH_VERSIONS = ("2.1.0", "2.6.0", "2.7.1", "2.8.0")  # msfmktransplt, mstt 99c2e0f99
FOLDER = "tools/ms_fmk_transplt"  # below the toolkit (X7, X8)
RUN_TOOL = FIND_TOOL + """
tool=$(find_tool "$1" "$2") || exit 127
shift 2; [ -x "$tool" ] && exec "$tool" "$@"; exec bash "$tool" "$@"
"""
# The copy without what the tool says of it, and without data or weights that lay in the sources;
# beside it every change against the sources as a diff.
RUN_AND_PACK = FIND_TOOL + """
tool=$(find_tool "$1" "$2") || exit 127
source=$3; shift 3
if [ -x "$tool" ]; then "$tool" "$@"; else bash "$tool" "$@"; fi
status=$?; [ $status -eq 0 ] || exit $status
for copy in migrated/*/; do
  diff -ruN -x transplant_result_file "$source" "${copy%/}" >> migrated-code.diff
done
(cd migrated && find . -type f -size -5M ! -path '*/transplant_result_file/*' -print0 |
 tar --null -T - -czf ../migrated-code.tar.gz)
exit $status
"""
RUN_SUCCEEDED = "run succeeded"  # without it the files may be those of a killed run

SOURCE = Parameter("source", _("Source folder on the node"), "path",
                   help=_("Folder with the model's training scripts."))
TORCH = Parameter("torch_version", _("PyTorch version"), "choice", default="2.1.0",
                  choices=TORCH_VERSIONS,
                  help=_("Of the scripts as they are. Which ones the tool takes depends on CANN."))
MODES = {"torch_apis": _("APIs of PyTorch"), "third_party": _("APIs of third-party libraries"),
         "affinity_apis": _("APIs with an affinity API"), "dynamic_shape": _("Dynamic shapes")}


API_MODE = "torch_apis"
# What each mode of the analysis writes: table -> what a row of it is.
COUNTED = {
    API_MODE: {"unsupported_api.csv": "unsupported", "unknown_api.csv": "unknown",
               "cuda_op_list.csv": "cuda_ops"},
    "third_party": {"framework_unsupported_op.csv": "unsupported", "unknown_op.csv": "unknown",
                    "migration_needed_op.csv": "to_migrate", "cuda_op.csv": "cuda_ops"},
    "affinity_apis": {"affinity_api_call.csv": "affinity"},
    "dynamic_shape": {},
}
FOUND = {
    API_MODE: gettext_noop(
        "API uses not supported: %(unsupported)d, unknown: %(unknown)d; CUDA operators: "
        "%(cuda_ops)d; files: %(files)d. Only APIs of PyTorch were looked for: third-party "
        "libraries (flash_attn, apex) are another mode."),
    "third_party": gettext_noop(
        "%(unsupported)d unsupported, %(unknown)d unknown and %(to_migrate)d APIs to be migrated "
        "and %(cuda_ops)d CUDA operators that affect third-party APIs, in %(files)d files. The "
        "model's own APIs are another mode."),
    "affinity_apis": ngettext_noop(
        "%(affinity)d API use with an affinity API in %(files)d files. Unsupported APIs were not "
        "looked for in this mode.",
        "%(affinity)d API uses with an affinity API in %(files)d files. Unsupported APIs "
        "were not looked for in this mode.", "affinity"),
    "dynamic_shape": ngettext_noop(
        "%(files)d file was prepared to record shapes. Nothing is known of dynamic shapes until "
        "the copy has run; unsupported APIs were not looked for in this mode.",
        "%(files)d files were prepared to record shapes. Nothing is known of dynamic "
        "shapes until the copy has run; unsupported APIs were not looked for in this mode.",
        "files"),
}
NOTHING_READ = gettext_noop(
    "The log names no file that was analysed: nothing was looked at.")
MISSING_TABLES = gettext_noop(
    "The tables %(which)s are missing or not recognised: what they list was not counted.")
OTHER_COUNT = gettext_noop(
    "%(which)s: the log counts other rows than the tables hold; they are partial or of another "
    "run.")
NOT_PARSED = ngettext_noop(
    "%(n)d of %(files)d files was not analysed (%(unparsed)s): what it uses is not known. In "
    "the others: %(others)s",
    "%(n)d of %(files)d files were not analysed (%(unparsed)s): what they use is not "
    "known. In the others: %(others)s", "n")
UNRELIABLE = ("cuda_op_list.csv",)  # the log's own number for it is wrong


SEVERITIES = {"unsupported": "block", "unknown": "warn", "cuda_ops": "warn", "to_migrate": "warn",
              "affinity": "info"}
NAME_COLUMNS = ("OP", "Api", "OP Name", "Torch API", "Api Call Name")


def _findings(finished: Finished, tables: dict[str, str]) -> Iterator[dict]:
    """The rows of the tables, the gravest first, as the job's page lists them."""
    order = sorted((name for name, meaning in tables.items() if meaning in SEVERITIES),
                   key=lambda name: list(SEVERITIES).index(tables[name]))
    for name in order:
        for path, reading in finished.readings.items():
            for item in (reading.values.get("items") or () if path.endswith(f"/{name}") else ()):
                yield {"severity": SEVERITIES[tables[name]], "rule": "",
                       "file": item.get("File") or "", "line": item.get("Start Line"),
                       "text": next((item[key] for key in NAME_COLUMNS if item.get(key)), "")}


class _Transplant(JobKind):
    needs_model = True
    timeout_seconds = 3600
    log_kind: ClassVar[str]

    def counted(self, parameters: dict) -> dict[str, str]:
        """Tables that the run must leave, each with the name of its count."""
        raise NotImplementedError

    def result(self, finished: Finished, found: str) -> Judgement:
        """The counts of all tables, said as `found`; a failure where anything was left out."""
        tables, log = self.counted(finished.parameters), self._log(finished)
        statistics = log.get("statistics", {})
        rows = {name: self._rows(finished, name) for name in {**tables, **statistics}}
        counts = {meaning: rows[name] or 0 for name, meaning in tables.items()}
        facts = {**counts, "files": log.get("files", 0)}
        results = {**facts, "findings": list(islice(_findings(finished, tables), MOST_FINDINGS))}
        if not facts["files"]:
            return Judgement(False, NOTHING_READ, facts)
        if missing := [name for name, found in rows.items() if found is None]:
            return Judgement(False, MISSING_TABLES, {"which": ", ".join(missing)})
        if other := [name for name, number in rows.items() if name not in UNRELIABLE
                     and statistics.get(name, number) != number]:
            return Judgement(False, OTHER_COUNT, {"which": ", ".join(other)})
        unparsed = list(dict.fromkeys([*log["skipped_files"], *log["files_not_completed"]]))
        facts |= {"n": len(unparsed), "unparsed": ", ".join(unparsed[:3])}
        if unparsed:
            others = nested(found, {**facts, "files": facts["files"] - len(unparsed)})
            return Judgement(False, NOT_PARSED, {**facts, "others": others}, results)
        return Judgement(True, found, facts, results)

    def _log(self, finished: Finished) -> dict:
        """What the run's log says of its files, whichever of its two copies says more."""
        logs = [reading.values for reading in finished.of_kind(self.log_kind)
                if reading.values.get("form") == "log"]
        return max(logs, key=lambda values: (values["files"], len(values["statistics"])),
                   default={})

    def _rows(self, finished: Finished, name: str) -> int | None:
        """Rows of the table; None where it was not written or is no such table."""
        found = [reading.values for path, reading in finished.readings.items()
                 if (path.rsplit("/", 1)[-1] == name and reading.kind == "migration_analysis")
                 or (path.rsplit("/", 1)[-1] == name == "change_list.csv"
                 and reading.values.get("form") == "change_list")]
        return sum(values["rows"] for values in found) if found else None


@register
class PytorchAnalyse(_Transplant):
    code = "survey.pt_analyse"
    title = _("PyTorch migration analysis")
    description = _("Scans the source for APIs that the NPU does not support.")
    success = _("The log holds “run succeeded”, every file could be parsed, and every table of the "
                "mode was read.")
    log_kind = "migration_analysis"
    gate_modes = (API_MODE, "third_party")  # those that look for what the NPU does not support
    judged_files = ("analysis/*.csv",)
    usual_seconds = 120
    stages = (Stage.SURVEY,)
    parameters: ClassVar = (
        SOURCE, TORCH,
        Parameter("mode", _("Looks for"), "choice", default=API_MODE, choices=tuple(MODES),
                  names=MODES),
    )
    collect = ("analysis/*",)
    practice_runs = (PracticeRun({"source": "~/data/inspect_net"}),)

    def argv(self, parameters):
        return ["sh", "-c", "mkdir -p analysis" + RUN_TOOL, "analyse", "pytorch_analyse.sh", FOLDER,
                "-i", parameters["source"], "-o", "analysis",
                "-v", parameters["torch_version"], "-m", parameters["mode"]]

    def counted(self, parameters):
        return COUNTED[parameters["mode"]]

    def conclude(self, finished: Finished) -> Judgement:
        if finished.exit_status != 0 or RUN_SUCCEEDED not in finished.log:
            return Judgement(False, gettext_noop(
                "The analysis did not finish; its partial tables are not counted."))
        return self.result(finished, FOUND[finished.parameters["mode"]])


PLACES_CHANGED = ngettext_noop(
    "%(changes)d place changed in %(files)d files; %(unsupported)d unsupported and "
    "%(unknown)d unknown API uses remain.",
    "%(changes)d places changed in %(files)d files; %(unsupported)d unsupported and "
    "%(unknown)d unknown API uses remain.", "changes")


@register
class Gpu2Npu(_Transplant):
    code = "adapt.gpu2npu"
    title = _("Script migration by tool")
    description = _("Rewrites the training scripts for the NPU with GPU2Ascend.")
    success = _("The log holds “run succeeded”, every file could be parsed, and every table was "
                "read.")
    usual_seconds = 120
    stages = (Stage.TRAIN_ADAPT,)
    parameters: ClassVar = (
        SOURCE, TORCH,
        Parameter("entry", _("Entry script for multi-card training"), "path", is_required=False,
                  help=_("Leave empty for single-card training.")),
        Parameter("model_variable", _("Name of the model variable"), default="model",
                  is_required=False, help=_("As the entry script names it; for multi-card only.")),
    )
    collect = ("migrated/*/transplant_result_file/*", "migrated/*.sh", "migrated/*/*.sh",
               "migrated-code.tar.gz", "migrated-code.diff")
    judged_files = ("migrated/*.csv",)
    log_kind = "script_transplant"
    practice_runs = (PracticeRun({"source": "~/data/inspect_net"}),)

    def argv(self, parameters):
        extra = []
        if parameters["entry"]:
            extra = ["distributed", "-m", parameters["entry"],
                     "-t", parameters["model_variable"] or "model"]
        return ["sh", "-c", "mkdir -p migrated" + RUN_AND_PACK, "gpu2npu", "pytorch_gpu2npu.sh",
                FOLDER, parameters["source"], "-i", parameters["source"], "-o", "migrated",
                "-v", parameters["torch_version"], *extra]

    def counted(self, parameters):
        return {**COUNTED[API_MODE], "change_list.csv": "changes"}

    def facts(self, parameters):
        return {"gpu2npu_distributed": bool(parameters["entry"])}

    def conclude(self, finished: Finished) -> Judgement:
        if finished.exit_status != 0 or RUN_SUCCEEDED not in finished.log:
            return Judgement(False, gettext_noop(
                "The migration did not finish; the copy it left is incomplete."))
        return self.result(finished, PLACES_CHANGED)
