"""What the analysis of PyTorch sources was asked, mode by mode, and what each mode found."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from delivery.documents.bilingual import both, instant
from delivery.documents.tables.table import column, table
from delivery.reports.facts.source import Source
from engagements.migration_routes import Framework, framework_of
from engagements.models import MigratedModel
from engagements.text.text_joining import listed
from workers.kinds.migration.pytorch import MODES
from workers.models import Job, StoredReading

ANALYSIS = "survey.pt_analyse"
# The tables that a mode leaves: name -> (column of the item, column of what is said about it).
TABLES: dict[str, dict[str, tuple[str, str]]] = {
    "torch_apis": dict.fromkeys(
        ("unsupported_api", "unknown_api", "cuda_op_list", "api_precision_advice",
         "api_performance_advice"), ("OP", "Tips")),
    "third_party": {
        **dict.fromkeys(("framework_unsupported_op", "unknown_op", "migration_needed_op"),
                        ("Torch API", "Affected 3rd-party API")),
        "cuda_op": ("OP Name", "Affected 3rd-party API"),
        "full_unsupported_results": ("3rd-party API", "Message")},
    "affinity_apis": {"affinity_api_call": ("Api Call Name", "Affinity Api Name")},
    "dynamic_shape": {"msft_dynamic_shape_analysis_report": (
        "Function Name", "Input Shape Range")},
}
MODE_OF = {name: mode for mode, names in TABLES.items() for name in names}
# How the tool names a place in what it says of a third-party API.
PLACE = re.compile(r"file_path:(.+?), start_line:(\d+), api_name:(\S+)")
MOST_LISTED = 80


@dataclass(frozen=True)
class Mode:
    """One mode of the analysis of one model: its newest job, and the newest of each table."""

    model: MigratedModel
    code: str
    job: Job | None
    readings: list[StoredReading]

    def answer(self) -> str:
        """The job's sentence; of files that came without a job how many rows they hold."""
        sentences = [self.job.sentence] if self.job else []
        if self.readings and (not self.job or self.code == "dynamic_shape"):
            sentences += [_("%(table)s: %(n)d entries.") % {
                "table": r.values["table"], "n": int(r.values.get("rows") or 0)}
                for r in self.readings]
        return " ".join(sentences) or _("not run: no result")


def modes(source: Source) -> list[Mode]:
    """A row per mode of each model whose framework is PyTorch or not stated; two queries."""
    models = [model for model in source.models
              if framework_of(model.framework) in (None, Framework.PYTORCH)]
    jobs = {}
    for job in Job.objects.filter(kind=ANALYSIS, model__in=models).exclude(
            finished_at=None).order_by("pk"):
        jobs[job.model_id, job.parameters.get("mode", "torch_apis")] = job
    newest: dict[tuple[int, str], StoredReading] = {}
    for reading in StoredReading.objects.filter(
            artifact__model__in=models, kind="migration_analysis").order_by(
            "pk").select_related("artifact"):
        if reading.values.get("table") in MODE_OF:
            newest[reading.artifact.model_id, reading.values["table"]] = reading
    return [Mode(model, mode, jobs.get((model.pk, mode)), [
        newest[model.pk, name] for name in TABLES[mode] if (model.pk, name) in newest])
        for model in models for mode in MODES]


def modes_table(found: list[Mode]) -> dict:
    """Which modes were run for which model, and what came of each."""
    rows = [[mode.model.code, both(lambda m=mode: str(MODES[m.code])), both(mode.answer),
             instant(mode.job.finished_at) if mode.job else "",
             ", ".join(f"E{r.artifact_id}" for r in mode.readings)] for mode in found]
    return table(lambda: _("Modes of the analysis and their results"), [
        column(lambda: _("Model"), "code"), column(lambda: _("Searched for")),
        column(lambda: _("Result")), column(lambda: _("Time")), column(lambda: _("Evidence"))],
        rows, is_grouped=True, empty=lambda: _("No model of the project is written in PyTorch."))


def findings_table(found: list[Mode]) -> dict:
    """Single findings beside the APIs of PyTorch: third-party, affinity, dynamic shapes."""
    entries = list(_entries(found))
    rows = [[model, both(lambda m=mode: str(MODES[m])), item, uses, advice]
            for model, mode, item, uses, advice in entries[:MOST_LISTED]]
    if len(entries) > MOST_LISTED:
        rest = len(entries) - MOST_LISTED
        rows.append(["", "", both(lambda: _("%(n)d further findings: see the raw files")
                                  % {"n": rest}), "", ""])
    read = sorted({mode.model.code for mode in found if mode.code != "torch_apis"
                   and mode.readings})
    return table(lambda: _("Third-party APIs, affinity APIs and dynamic shapes"), [
        column(lambda: _("Model"), "code"), column(lambda: _("Searched for")),
        column(lambda: _("API or function")), column(lambda: _("Uses"), "number"),
        column(lambda: _("Concerns, or use instead"))], rows, is_grouped=True,
        empty=lambda: _("The tables read of %(models)s hold no entry.") % {"models": listed(read)}
        if read else capfirst(_("no table of these modes was read.")))


def _entries(found: list[Mode]) -> Iterator[tuple[str, str, str, int, str]]:
    """Model, mode, item, number of uses, and what is said of it; each item once."""
    for mode in found:
        for reading in mode.readings if mode.code != "torch_apis" else ():
            item_column, advice_column = TABLES[mode.code][reading.values["table"]]
            uses: dict[tuple[str, str], int] = {}
            for item in reading.values.get("items") or []:
                key = str(item.get(item_column) or ""), PLACE.sub(
                    r"\1:\2 \3", str(item.get(advice_column) or ""))
                uses[key] = uses.get(key, 0) + 1
            yield from ((mode.model.code, mode.code, name, number, advice)
                        for (name, advice), number in uses.items())
