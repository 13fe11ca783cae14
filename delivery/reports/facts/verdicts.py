"""Criteria, verdicts and what they rest on, as documents print them."""

from collections import Counter
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import override

from assessments.charts import can_be_drawn, criterion_chart_spec
from assessments.models import Criterion, Outcome, Verdict
from assessments.presentation.quantity_labels import criterion_name
from assessments.presentation.verdict_rows import origin
from assessments.queries import customers_signature, verdict_sentence
from assessments.services.baselines import spread
from delivery.documents.bilingual import LANGUAGES, both, instant, named, pair
from delivery.reports.facts import deviations, run_records
from delivery.reports.facts.agreed_deliverables import agreed_table, missing, owed
from delivery.reports.facts.comparison_conditions import (
    condition_count,
    conditions,
    conditions_table,
)
from delivery.reports.facts.coverage import coverage, coverage_count, coverage_rows
from delivery.reports.facts.criterion_runs import (
    accepted_differences,
    accepted_table,
    criterion_runs,
    judged_nodes,
    runs_table,
)
from delivery.reports.facts.definitions import definitions
from delivery.reports.facts.environments import (
    environment_count,
    environments,
    sides_of,
    unrecorded,
)
from delivery.reports.facts.open_points import open_points
from delivery.reports.facts.performance import performance_figures
from delivery.reports.facts.planned_environment import planned_and_measured, planned_table
from delivery.reports.facts.planning import issues
from delivery.reports.facts.source import Source
from delivery.reports.facts.survey_platform import cited_answers
from delivery.reports.facts.third_party import third_party
from delivery.reports.facts.waivers_and_omissions import departures
from toolreaders.base import ReadError
from toolreaders.verdicts.sentences import SIGNS, in_unit, shown


def open_criteria(source: Source) -> dict:
    """The metric table, and the criteria that are not passed."""
    metrics = [_metric(criterion, verdict) for criterion, verdict in source.judged]
    return {"metrics": metrics, "issues": _issues(metrics)}


def judged_facts(source: Source) -> dict:
    """All that a report on verdicts shows: metrics, curves, environments, runs, raw files."""
    return {**judged_records(source), **judged_pictures(source)}


def judged_pictures(source: Source) -> dict:
    """The part of these facts for which raw files are read: curves, figures, spreads."""
    return {
        "definitions": definitions(source.judged), "baselines": _baselines(source),
        "curves": [_curve(c, v) for c, v in source.judged if can_be_drawn(c, v)],
        "performance": performance_figures(source),
    }


def judged_records(source: Source) -> dict:
    """The part of these facts that stands in rows: no raw file is read, nothing is drawn."""
    judged = source.judged
    metrics = [_metric(criterion, verdict) for criterion, verdict in judged]
    departed = departures(source.engagement)
    sides, planned = sides_of(judged, source.survey), planned_and_measured(source)
    examined = deviations.examinations(source, departed, sides, planned)
    asked, covered = conditions(source, sides), coverage_rows(source)
    runs, accepted = criterion_runs(source), accepted_differences(source)
    return {
        "metrics": metrics, "conclusion": conclusion(metrics),
        "summary": _summary(metrics, source.runs),
        "runs": source.runs, "evidence": source.evidence, "criterion_runs": runs,
        "accepted": accepted, "nodes": judged_nodes(source),
        "survey_answers": cited_answers(source.survey),
        "stages": run_records.stages(source.engagement), "issues": _issues(metrics),
        "deviations": deviations.rows(examined), "departures": departed,
        "is_examined": all(entry.is_complete for entry in examined),
        "coverage": coverage_count(covered), "conditions": condition_count(asked),
        "unrecorded": unrecorded(sides), "environment_cells": environment_count(sides),
        "open_points": open_points(source),
        "missing_deliverables": [both(label) for label in missing(source)],
        "is_owed_listed": bool(owed(source)),
        "tables": {"environments": environments(sides), "conditions": conditions_table(asked),
                   "planned": planned_table(planned), "criterion_runs": runs_table(runs),
                   "accepted": accepted_table(accepted),
                   "issues": issues(source), "third_party": third_party(source),
                   "coverage": coverage(covered), "deliverables": agreed_table(source),
                   "examined": deviations.examined_table(examined)},
    }


def criteria_facts(criteria) -> dict:
    if criteria is None:
        return {"version": None, "state": "", "content_hash": "", "signed_at": "",
                "signed_by": "", "customer_signatory": ""}
    return {"version": criteria.version, "state": criteria.state,
            "content_hash": criteria.content_hash, "signed_at": instant(criteria.signed_at),
            "signed_by": named(criteria.signed_by),
            "customer_signatory": both(lambda: customers_signature(criteria))}


def _metric(criterion: Criterion, verdict: Verdict | None) -> dict:
    """A row of the metric table; without a verdict it says so, it is never left out."""
    definition, measurement = criterion.definition, verdict.measurement if verdict else None
    outcome = Outcome(verdict.outcome if verdict else Outcome.NOT_MEASURED)
    unit = definition.unit
    figure = verdict.figure if verdict else None
    return {
        "criterion": criterion.pk, "model": criterion.model.code,
        "stage": both(criterion.get_stage_display),
        "definition": f"{definition.code} v{definition.version}",
        "definition_label": both(lambda: _("definition V%(n)s") % {"n": definition.version}),
        "name": both(lambda: criterion_name(criterion)), "quantity": criterion.quantity,
        "threshold": f"{SIGNS[definition.comparison]} {in_unit(criterion.threshold, unit)}",
        "baseline": _baseline(criterion), "measured": _measured(criterion, verdict),
        "figure": "" if figure is None else shown(figure, criterion.threshold, unit)[0],
        "outcome": outcome.value, "outcome_label": both(lambda: outcome.label),
        "reason": verdict.reason if verdict else "no_measurement",
        "sentence": both(lambda: verdict_sentence(criterion, verdict)),
        "facts": (verdict.facts if verdict else {}), **_runs(criterion, verdict),
        "origin": both(lambda: origin(verdict)),
        "baseline_artifact": criterion.baseline.artifact_id if criterion.baseline else None,
        "artifact": measurement.artifact_id if measurement else None,
        "place": measurement.place if measurement else "",
        "reader": f"{measurement.reader} {measurement.reader_version}" if measurement else "",
        "job": measurement.job_id if measurement else None,
        "engine_version": verdict.engine_version if verdict else "",
        "computed_at": instant(verdict.computed_at) if verdict else "",
        "is_practice": bool(verdict and verdict.is_practice),
    }


def _runs(criterion: Criterion, verdict: Verdict | None) -> dict:
    """How many runs the verdict rests on, and the smallest and largest figure of them."""
    runs = (verdict.facts.get("runs") or []) if verdict else []
    figures = sorted(run["figure"] for run in runs if run["figure"] is not None)
    unit = criterion.definition.unit
    ends = [shown(figure, criterion.threshold, unit)[0] for figure in (figures[:1] + figures[-1:])]
    return {"runs_judged": len(runs), "spread": " – ".join(ends) if len(figures) > 1 else ""}


def _baseline(criterion: Criterion) -> dict[str, str]:
    base = criterion.baseline
    if base is None:
        return pair("", "")
    if base.value is None:
        return both(lambda: _("curve"))
    value = in_unit(base.value, base.unit)
    return both(lambda: _("%(value)s (published, not measured)") % {"value": value}
                ) if base.is_published else pair(value, "")


def _measured(criterion: Criterion, verdict: Verdict | None) -> dict[str, str]:
    measurement = verdict.measurement if verdict else None
    if measurement is None:
        return pair("", "")
    if measurement.value is None:
        points = verdict.facts.get("common_points")
        return both(lambda: _("curve, %(points)s common steps") % {"points": points or 0})
    return pair(in_unit(Decimal(f"{measurement.value:g}"), measurement.unit), "")


def conclusion(metrics: list[dict]) -> str:
    """passed, failed, or not_provable: nothing counts as passed that was not measured."""
    outcomes = {row["outcome"] for row in metrics}
    if Outcome.FAILED in outcomes:
        return "failed"
    return "passed" if outcomes == {Outcome.PASSED} else "not_provable"


def _summary(metrics: list[dict], runs: list[dict]) -> dict:
    outcomes, states = (Counter(row[key] for row in rows)
                        for rows, key in ((metrics, "outcome"), (runs, "state")))
    return {
        "declared": sum(any(run.get("declared_by") for run in row["facts"].get("runs") or [])
                        for row in metrics),
        "metrics": len(metrics), **{value: outcomes[value] for value in Outcome.values},
        "runs": len(runs), "runs_succeeded": states["succeeded"],
        "runs_failed": sum(states[s] for s in ("failed", "timed_out", "lost")),
        "runs_cancelled": states["cancelled"], "runs_judged": sum(r["is_judged"] for r in runs),
        "machine_hours": f"{sum(r['seconds'] for r in runs) / 3600:.2f}",
        "card_hours": f"{sum(r['seconds'] * r['cards_wanted'] for r in runs) / 3600:.2f}",
    }


def _baselines(source: Source) -> dict:
    """How many baselines are in use, frozen, and shown by three runs or more (AR-04)."""
    found = [(baseline, spread(baseline)) for baseline in source.baselines]
    return {"count": len(found), "frozen": sum(b.frozen_at is not None for b, _s in found),
            "repeatable": sum(bool(s and s.is_repeatable) for _b, s in found)}


def _curve(criterion: Criterion, verdict: Verdict) -> dict:
    """The picture as data: down-sampled points in a Vega-Lite specification per language."""
    specs = {}
    for language in LANGUAGES:
        with override(language):
            try:
                specs[language] = criterion_chart_spec(criterion, verdict, is_interactive=False)
            except (ReadError, OSError):
                specs[language] = {}
    return {"criterion": criterion.pk, "spec": specs}


def _issues(metrics: list[dict]) -> list[dict]:
    """Outstanding issues: every criterion that is not passed."""
    open_rows = [row for row in metrics if row["outcome"] != Outcome.PASSED]
    return [{"number": f"PL-{n:02}", "model": row["model"], "name": row["name"],
             "text": row["sentence"], "outcome": row["outcome"],
             "label": row["outcome_label"]} for n, row in enumerate(open_rows, 1)]

