"""Compares the metrics of a reviewed document with the newest verdicts, for re-tests."""

from assessments.models import Criterion, Verdict
from assessments.queries import current_criteria, verdict_sentence, verdicts_of
from delivery.acceptance.models import Review
from delivery.documents.bilingual import in_language
from toolreaders.verdicts.sentences import shown


def compare_with_current(review: Review, language: str) -> list[dict]:
    """Per criterion the row of the reviewed document beside the newest verdict, with its runs.

    Returns rows of model, name, threshold, is_rejected, old and new (outcome, label, figure,
    sentence, jobs, url parts), is_changed. A criterion that is new has no old side; one that was
    dropped has no new side, it is never left out.
    """
    snapshot = in_language(review.document.snapshot, language)
    criteria = current_criteria(review.document.engagement)
    now = {_key(criterion.model.code, f"{criterion.definition.code} "
                f"v{criterion.definition.version}", criterion.quantity): (criterion, verdict)
           for criterion, verdict in (verdicts_of(criteria) if criteria else [])}
    rejected = set(review.model_decisions.filter(decision=Review.Decision.REJECTED)
                   .values_list("model__code", flat=True))
    rows, used = [], set()
    for metric in snapshot["metrics"]:
        key = _key(metric["model"], metric["definition"], metric["quantity"])
        used.add(key)
        rows.append(_row(metric, now.get(key), rejected))
    return rows + [_row(None, pair, rejected) for key, pair in now.items() if key not in used]


def criterion_fingerprints(snapshot: dict) -> dict[str, set[tuple]]:
    """Per model the set of its criteria's facts: measure, threshold, verdict, runs, raw file.

    Two versions of a document with the same fingerprints say the same of that model.
    """
    found: dict[str, set[tuple]] = {}
    for metric in snapshot.get("metrics", []):
        side = _old(metric)
        found.setdefault(metric["model"], set()).add((
            metric["definition"], metric["quantity"], metric["threshold"], side["outcome"],
            tuple(side["jobs"]), side["artifact"]))
    return found


def _key(model: str, definition: str, quantity: str) -> tuple[str, str, str]:
    """The same measure of the same model, also under a new version of its definition."""
    return model, definition.rpartition(" v")[0], quantity


def _row(metric: dict | None, pair: tuple[Criterion, Verdict | None] | None,
         rejected: set[str]) -> dict:
    old = _old(metric) if metric else None
    new = _new(*pair) if pair else None
    model = metric["model"] if metric else pair[0].model.code
    name = metric["name"] if metric else str(pair[0].definition)
    return {"model": model, "name": name, "is_rejected": model in rejected, "old": old,
            "new": new, "is_changed": _identity(old) != _identity(new)}


def _identity(side: dict | None) -> tuple:
    return (side["outcome"], side["jobs"], side["artifact"]) if side else ()


def _old(metric: dict) -> dict:
    runs = metric["facts"].get("runs") or []
    jobs = [run["job"] for run in runs if run.get("job")] or [metric["job"]]
    return {"outcome": metric["outcome"], "label": metric["outcome_label"],
            "figure": metric["figure"], "threshold": metric["threshold"],
            "sentence": metric["sentence"], "at": metric["computed_at"],
            "jobs": [job for job in jobs if job], "artifact": metric["artifact"],
            "criterion": metric["criterion"]}


def _new(criterion: Criterion, verdict: Verdict | None) -> dict:
    measurement = verdict.measurement if verdict else None
    figure = verdict.figure if verdict else None
    unit = criterion.definition.unit
    return {"outcome": verdict.outcome if verdict else "not_measured",
            "label": verdict.get_outcome_display() if verdict else "",
            "figure": "" if figure is None else shown(figure, criterion.threshold, unit)[0],
            "threshold": "", "sentence": verdict_sentence(criterion, verdict),
            "at": verdict.computed_at if verdict else None,
            "jobs": [measurement.job_id] if measurement and measurement.job_id else [],
            "artifact": measurement.artifact_id if measurement else None,
            "criterion": criterion.pk}
