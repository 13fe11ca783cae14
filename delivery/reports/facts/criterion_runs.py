"""Every run that could measure a criterion, and what people accepted for its verdict.

Both come from the record that the criterion's page shows (`assessments.verdicts`), as data for the
bundle and its verifier and as tables in print.
"""

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assessments.labels.environments import item_label
from assessments.models import Criterion, Measurement, Verdict
from assessments.presentation.quantity_labels import criterion_name
from assessments.verdicts.computation import cards_of
from assessments.verdicts.environments import ACCEPTED, compared, of_run
from assessments.verdicts.runs import Run, all_runs
from delivery.documents.bilingual import both, instant, named, same
from delivery.documents.tables.table import column, table
from delivery.reports.facts import run_records
from delivery.reports.facts.cases import case_numbers
from delivery.reports.facts.run_records import kind_title
from delivery.reports.facts.source import Source
from toolreaders.verdicts.sentences import SIGNS, in_unit

MOST_PRINTED = 8  # runs of one criterion; the annex file has every one
MOST_SETTINGS = 5  # named of one run


def criterion_runs(source: Source) -> list[dict]:
    """Per criterion its rule and all runs, newest first: figure, what differs, what counts."""
    numbers = case_numbers(source)
    return [_criterion(numbers[criterion.pk], criterion, verdict)
            for criterion, verdict in source.judged]


def _criterion(number: str, criterion: Criterion, verdict: Verdict | None) -> dict:
    definition, (selection, wanted) = criterion.definition, criterion.run_rule
    return {
        "criterion": criterion.pk, "number": number, "model": criterion.model.code,
        "name": both(lambda: criterion_name(criterion)), "selection": selection,
        "wanted": wanted, "rule": both(lambda: criterion.run_rule_text),
        "threshold": f"{SIGNS[definition.comparison]} "
                     f"{in_unit(criterion.threshold, definition.unit)}",
        "runs": [_run(run) for run in all_runs(criterion, verdict)]}


def _run(run: Run) -> dict:
    job, file = run.job, run.artifact
    return {
        "job": job.pk if job else None, "artifact": file.pk if file else None,
        "title": both(lambda: kind_title(job.kind) if job else _("uploaded")),
        "state": both(job.get_state_display) if job else same(""),
        "began": instant(run.began), "figure": run.figure, "text": run.text.replace("--", "–"),
        "cards": cards_of(job), "standing": str(run.standing), "label": both(lambda: run.label),
        "differences": [list(row) for row in run.differences],
        "is_practice": bool((job and job.is_practice) or (file and file.is_practice)),
        "earlier": [{"at": instant(entry.at), "version": entry.version, "outcome": entry.outcome,
                     "label": both(lambda e=entry: e.label)} for entry in run.earlier]}


def runs_table(found: list[dict]) -> dict:
    """A row per criterion and run."""
    return table(lambda: _("Runs by criterion: judged, or left out and by which rule"), [
        column(lambda: _("Criterion and rule")), column(lambda: _("Run and file")),
        column(lambda: _("Began")), column(lambda: _("Figure"), "number"),
        column(lambda: _("Settings that differ")),
        column(lambda: _("What became of it"))],
        [row for entry in found for row in _rows(entry)], is_grouped=True, is_dense=True,
        empty=lambda: _("There is no criterion."))


def _rows(entry: dict) -> Iterator[list]:
    head = {language: f"{entry['number']} {entry['model']} · {entry['name'][language]} "
                      f"{entry['threshold']}\n{entry['rule'][language]}"
            for language in entry["name"]}
    if not entry["runs"]:
        yield [head, both(lambda: _("no run could measure it")), "–", "–", "–", "–"]
    for run in entry["runs"][:MOST_PRINTED]:
        yield [head, _which(run), run["began"], run["text"], both(lambda r=run: _settings(r)),
               _became(run)]
    if (rest := len(entry["runs"]) - MOST_PRINTED) > 0:
        yield [head, both(lambda: ngettext(
            "%(n)d more run is in the annex file", "%(n)d more runs are in the annex file",
            rest) % {"n": rest}), "–", "–", "–", "–"]


def _which(run: dict) -> dict[str, str]:
    number, file = (f"#{run['job']} " if run["job"] else ""), (
        f" · E{run['artifact']}" if run["artifact"] else "")
    return {language: f"{number}{title}{file}" for language, title in run["title"].items()}


def _settings(run: dict) -> str:
    shown = [f"{name}: {there or '–'} → {here or '–'}"
             for name, there, here in run["differences"][:MOST_SETTINGS]]
    if (rest := len(run["differences"]) - MOST_SETTINGS) > 0:
        shown.append(ngettext("%(n)d more", "%(n)d more", rest) % {"n": rest})
    return "\n".join(shown) or "–"


def _became(run: dict) -> dict[str, str]:
    """Whether it is judged, how it ended, and the verdicts that rested on it."""
    return {language: "\n".join([
        f"{run['label'][language]}"
        + (f" ({run['state'][language]})" if run["standing"] == "unsuccessful" else ""),
        *(f"{entry['at'][:16]} V{entry['version']}: {entry['label'][language]}"
          for entry in run["earlier"])]) for language in run["label"]}


def accepted_differences(source: Source) -> list[dict]:
    """What a person accepted so that a verdict counts: of which criterion, by whom, when, why."""
    numbers, found = case_numbers(source), []
    for criterion, verdict in source.judged:
        for item in compared(criterion, verdict.measurement if verdict else None):
            if item.state == ACCEPTED:
                found.append({
                    "criterion": criterion.pk, "number": numbers[criterion.pk],
                    "model": criterion.model.code, "item": item.name,
                    "label": both(lambda i=item: item_label(i.name)),
                    "baseline": item.baseline, "candidate": item.candidate,
                    "by": named(item.accepted.accepted_by),
                    "at": instant(item.accepted.accepted_at), "reason": item.accepted.reason})
    return found


def judged_nodes(source: Source) -> list[dict]:
    """What was read of node, cards and software of each judged run."""
    found: dict[int, Measurement] = {
        verdict.measurement.job_id: verdict.measurement for _criterion, verdict in source.judged
        if verdict and verdict.measurement and verdict.measurement.job}
    return [{"job": number, "node": row.job.node_names, "facts": of_run(row),
             "device": row.job.results.get("device") or "",
             "cards": run_records.cards_of(row.job)}
            for number, row in sorted(found.items())]


def accepted_table(found: list[dict]) -> dict:
    """A row per acceptance, with the criteria whose verdicts rest on it."""
    rows: dict[tuple, list[str]] = {}
    texts: dict[tuple, dict] = {}
    for entry in found:
        key = (entry["item"], entry["baseline"], entry["candidate"], entry["at"])
        rows.setdefault(key, []).append(entry["number"])
        texts[key] = entry
    return table(lambda: _("Differences that a person accepted so that verdicts count"), [
        column(lambda: _("Item")), column(lambda: _("Baseline")), column(lambda: _("NPU run")),
        column(lambda: _("Reason")), column(lambda: _("Accepted by")),
        column(lambda: _("Cases"))],
        [[texts[key]["label"], key[1], key[2], texts[key]["reason"],
          {language: f"{name}\n{key[3]}" for language, name in texts[key]["by"].items()},
          ", ".join(numbers)] for key, numbers in rows.items()], is_dense=True,
        empty=lambda: _("No difference was accepted."))
