"""Dynamic shapes: the copy that PyTorch Analyse instruments is run on a short training.

msfmktransplt, user guide “PyTorch Analyse”, mode dynamic_shape, and hook.py (MindStudio, 2025): the
loop over the data is to read DETECTOR.start(…); at its end the run leaves
msft_dynamic_shape_analysis_report.csv in the copy, which without rows shows no dynamic shape.
"""

from typing import ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import Finished, JobKind, Judgement, Parameter, register
from workers.kinds.example_runs import GoodRun, LogShows, PracticeRun
from workers.kinds.migration.pytorch import FOLDER, SOURCE, TORCH
from workers.kinds.node_scripts import FIND_TOOL, script
from workers.kinds.parameters import as_words

RUN = FIND_TOOL + """
tool=$(find_tool "$1" "$2") || exit 127
source=$3 torch=$4 loop=$5 most=$6 python=$7 start=$8 prepare=$9; shift 9
analyse() { if [ -x "$tool" ]; then "$tool" "$@"; else bash "$tool" "$@"; fi; }
mkdir -p analysis
analyse -i "$source" -o analysis -v "$torch" -m dynamic_shape || exit $?
for copy in analysis/*_analysis; do [ -d "$copy" ] && break; done
"$python" -c "$prepare" "$source" "$copy" "$loop" "$most" || exit $?
cd "$copy" && export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" && exec "$python" "$start" "$@"
"""
REPORT = "msft_dynamic_shape_analysis_report.csv"
NONE_CHANGED = ngettext_noop(
    "No call changed its shapes in %(steps)d round of the loop %(loop)s. What other data or other "
    "branches do is not known.",
    "No call changed its shapes in %(steps)d rounds of the loop %(loop)s. What other data or other "
    "branches do is not known.", "steps")
CHANGED = ngettext_noop(
    "%(n)d call changed its shapes in %(steps)d rounds of the loop %(loop)s, first %(first)s: pad "
    "or group the data, or compile for dynamic shapes.",
    "%(n)d calls changed their shapes in %(steps)d rounds of the loop %(loop)s, first %(first)s: "
    "pad or group the data, or compile for dynamic shapes.", "n")
FEWEST = 2  # rounds: one cannot differ from another


@register
class DynamicShapes(JobKind):
    code = "survey.dynamic_shapes"
    title = _("Dynamic shapes of a training")
    description = _("PyTorch Analyse instruments a copy of the sources; it trains a few rounds, "
                    "and the calls whose tensors change their shapes are listed.")
    success = _("The loop ran at least twice, and the report of the detector was read.")
    stages = (Stage.SURVEY,)
    timeout_seconds = 4 * 3600
    usual_seconds = 600
    collect = (f"analysis/*/{REPORT}", "dynamic_shapes.report.json")
    judged_files = collect
    may_log_errors = True
    parameters: ClassVar = (
        SOURCE, TORCH,
        Parameter("start", _("Entry script"), "name", default="train.py",
                  help=_("Below the source folder.")),
        Parameter("arguments", _("Arguments"), "words", is_required=False, is_always_shown=True),
        Parameter("loop", _("Loop over the data"), default="train.py:1",
                  help=_("File below the source folder and line of its for statement, such as "
                         "train.py:58.")),
        Parameter("most", _("Rounds"), "integer", default=20, minimum=FEWEST, maximum=10_000,
                  help=_("After so many the loop ends, and with it mostly the training.")),
        Parameter("cards", _("Cards"), "integer", default=0, minimum=0, maximum=1,
                  help=_("The tool's guide advises a GPU: operators of changing shapes are slow "
                         "on the NPU.")),
        Parameter("python", _("Python interpreter"), "path", default="python3"),
    )
    good_run = GoodRun(log_shows=LogShows.NOTHING)
    practice_runs = (PracticeRun({"source": "~/projects/inspection", "start": "run.py",
                                  "arguments": "smoke 12", "loop": "run.py:29", "most": 5},
                                 {"steps": 5, "n": 0}),)

    def clean(self, values):
        cleaned = super().clean(values)
        name, _sign, line = cleaned["loop"].rpartition(":")
        if not name or not line.isdecimal() or name.startswith("/") or ".." in name.split("/"):
            raise InvalidInput(gettext("The loop is a file and a line, such as train.py:58."))
        return cleaned

    def argv(self, parameters):
        p = parameters
        return ["sh", "-c", RUN, "shapes", "pytorch_analyse.sh", FOLDER, p["source"],
                p["torch_version"], p["loop"], str(p["most"]), p["python"], p["start"],
                script("dynamic_shapes"), *as_words(p["arguments"])]

    def conclude(self, finished: Finished) -> Judgement:
        seen, tables = finished.report("dynamic_shapes"), [
            reading.values for path, reading in finished.readings.items()
            if path.endswith(REPORT) and reading.values.get("form") == "dynamic_shape"]
        if finished.exit_status != 0 or not seen or not tables:
            return Judgement(False, gettext_noop(
                "The instrumented copy left no report: nothing is known of dynamic shapes."))
        items = [item for table in tables for item in table["items"]]
        facts = {"steps": seen.get("steps") or 0, "loop": str(seen.get("loop")),
                 "n": sum(table["rows"] for table in tables),
                 "first": items[0]["Function Name"] if items else "–"}
        if facts["steps"] < FEWEST:
            return Judgement(False, gettext_noop(
                "The loop %(loop)s ran %(steps)d times: nothing is known of dynamic shapes."),
                facts)
        results = {**facts, "findings": [{
            "severity": "warn", "rule": "", "file": item.get("File Path") or "",
            "line": int(item["Line Number"]) if str(item.get("Line Number")).isdecimal() else None,
            "text": f"{item['Function Name']} {item.get('Input Shape Range') or ''}".strip()}
            for item in items]}
        return Judgement(True, CHANGED if facts["n"] else NONE_CHANGED, facts, results)
