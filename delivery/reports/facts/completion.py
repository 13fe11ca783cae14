"""What a test completion report says beside the verdicts (ISO/IEC/IEEE 29119-3, DOMAIN 10)."""

from collections import Counter
from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from delivery.agreement.deliverables import MADE_IN
from delivery.documents.bilingual import LANGUAGES, both
from delivery.documents.tables.table import column, table
from delivery.reports.facts.run_records import kind_title
from delivery.reports.facts.source import Source
from engagements.text.text_joining import in_turn, listed


def test_objects(source: Source) -> dict:
    """What was tested: per model the newest runs that made its code and files, and those judged.

    A migrated model has no version but the run that brought it back; the manifest has its files.
    """
    makers, files = _makers(source), Counter(row["job"] for row in source.evidence)
    rows = []
    for model in source.models:
        made = makers.get(model.code, {})
        rows.append([model.code, both(lambda made=made: _listed_runs(made)),
                     sum(files[run] for run in made.values()), _judged_runs(source, model.code)])
    return table(lambda: _("Test objects and their versions"), [
        column(lambda: _("Model"), "code"), column(lambda: _("Version: made by run")),
        column(lambda: _("Files"), "number"), column(lambda: _("Judged runs"))], rows,
                 is_dense=True, empty=lambda: _("No model is in scope."))


def _makers(source: Source) -> dict[str, dict[str, int]]:
    """Per model and kind the newest successful run of the stages that migrate."""
    found: dict[str, dict[str, int]] = {}
    for code, kind, run in source.engagement.jobs.whole().filter(
            stage__in=MADE_IN, state="succeeded").exclude(model=None).order_by("pk").values_list(
            "model__code", "kind", "pk"):
        found.setdefault(code, {})[kind] = run
    return found


def _listed_runs(runs: dict[str, int]) -> str:
    return in_turn(f"#{run} {kind_title(kind)}" for kind, run in runs.items()) or (
        _("not recorded"))


def _judged_runs(source: Source, code: str) -> str | dict[str, str]:
    return ", ".join(f"#{run['id']}" for run in source.runs
                     if run["is_judged"] and run["model"] == code) or both(lambda: _("none"))


def performed(source: Source) -> dict:
    """When, where, by whom and with what the tests were made (GB/T 8567, chapter 5)."""
    started, finished = ([run[key] for run in source.runs if run[key]]
                         for key in ("started", "finished"))
    verdicts = [verdict for _criterion, verdict in source.judged if verdict]
    rows = [
        [both(lambda: _("Test period")), f"{min(started)} – {max(finished or started)}"],
        [both(lambda: _("Place (nodes)")), _names(run["node"] for run in source.runs)],
        [both(lambda: _("Persons who ran the tests")), {
            language: _names(run["who"][language] for run in source.runs)[language]
            for language in LANGUAGES}],
        [both(lambda: _("Tools that read the raw files")), _names(
            f"{verdict.measurement.reader} {verdict.measurement.reader_version}"
            for verdict in verdicts if verdict.measurement)],
        [both(lambda: _("Judged by")), both(lambda: _(
            "the calculation engine of this system, version %(versions)s; verdicts are never "
            "entered by hand")
            % {"versions": ", ".join(sorted({
                str(verdict.engine_version) for verdict in verdicts})) or "–"})]] if started else []
    return table(lambda: _("Time, place, persons and tools"), [
        column(lambda: pgettext("test record", "Item")),
        column(lambda: pgettext("test record", "What the record says"))], rows,
                 empty=lambda: _("No run was made."))


def _names(found: Iterable[str]) -> dict[str, str]:
    names = sorted({name for name in found if name})
    return both(lambda: listed(names) or "–")


def test_deliverables(source: Source) -> dict:
    """What the tests leave behind: criteria, runs, raw files, the bundle that holds them."""
    criteria, rows = source.criteria, []
    if criteria and criteria.signed_at:
        rows.append([both(lambda: _("Signed acceptance criteria")), f"V{criteria.version}",
                     criteria.criteria.count(), criteria.content_hash])
    rows += [[both(lambda: _("Records of runs")), both(lambda: _("chapter on testing performed")),
              len(source.runs), ""],
             [both(lambda: _("Raw files")), both(lambda: _("annex: evidence manifest")),
              len(source.evidence), both(lambda: _("one per file"))],
             [both(lambda: _("Evidence bundle (zip)")), both(lambda: _("generated from "
                                                                       "this report")), 1,
              both(lambda: _("SHA256SUMS in the bundle"))]]
    return table(lambda: _("Test deliverables"), [
        column(lambda: _("Deliverable")), column(lambda: _("Number or place")),
        column(lambda: _("Quantity"), "number"), column(lambda: _("Checksum"), "hash")], rows,
                 is_dense=True)


def reusable_assets(source: Source) -> dict:
    """Kinds of runs that can be repeated from their records, with how often they ran."""
    made, good = (Counter(run["kind"] for run in source.runs if test(run))
                  for test in (lambda run: True, lambda run: run["state"] == "succeeded"))
    judged = Counter(run["kind"] for run in source.runs if run["is_judged"])
    rows = [[both(lambda k=kind: kind_title(k)), count, good[kind], judged[kind]]
            for kind, count in made.items()]
    return table(lambda: _("Runs that can be repeated from their records"), [
        column(lambda: _("Kind of run")), column(lambda: _("Runs"), "number"),
        column(lambda: _("Ran to the end"), "number"), column(lambda: _("Judged"), "number")], rows,
                 empty=lambda: _("No run was made."))
