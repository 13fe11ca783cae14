"""A verdict once more, from the raw files of a bundle, by the signed definition. Pure."""

import math
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from bundle_verifier.archive import sha256_of
from bundle_verifier.translation import gettext as _
from toolreaders import read_file
from toolreaders.base import ReadError
from toolreaders.curves.alignment import align
from toolreaders.training.series import read_series
from toolreaders.verdicts.devices import NO_NPU, NoNpu, no_npu_in, not_proven
from toolreaders.verdicts.quantities import value_of
from toolreaders.verdicts.selection import AGREED_LATER, DOUBTS, judge_runs, withheld
from toolreaders.verdicts.verdict import (
    NOT_MEASURED,
    NOT_PROVABLE,
    RULE_FIELDS,
    Outcome,
    Rule,
    judge_curve,
    judge_values,
    unread,
)

TOLERANCE = 1e-12  # earlier releases rounded sums step by step, and differences of them more


def figures_agree(found: float | None, named: float | str | None) -> bool:
    """Whether two figures are the same up to rounding of the last digits."""
    if found is None or named is None:
        return found is named
    found, named = float(found), float(named)
    if not (math.isfinite(found) and math.isfinite(named)):
        return repr(found) == repr(named)
    return abs(found - named) <= TOLERANCE * max(abs(found), abs(named), 1)


def recompute(files: dict[str, Path], facts: dict, verdict: dict) -> Outcome:
    """The verdict from the raw files of the bundle, by the signed definition."""
    definition, baseline = facts["definition"], facts["baseline"]
    if verdict["measured"] is None:
        return Outcome(NOT_MEASURED, None, "no_measurement")
    if baseline is None and definition["calculator"] != "value":
        return Outcome(NOT_PROVABLE, None, "no_baseline")
    rule, threshold = Rule(**{n: definition[n] for n in RULE_FIELDS}), Decimal(facts["threshold"])
    reference = reference_of(files, baseline) if baseline else None
    runs = verdict.get("runs") or [verdict["measured"]]
    if baseline and any(sha256_of(files[name]) == baseline["sha256"] for name in runs):
        return Outcome(NOT_PROVABLE, None, "same_file")
    try:
        outcomes = [_recomputed(files[name], reference, facts, rule, verdict["cards"])
                    for name in runs]
    except ReadError as error:
        return unread(error.code)
    agreed = facts if facts.get("selection") else definition  # of the criterion, else of its text
    chosen = judge_runs(outcomes, agreed.get("selection", "last"), agreed.get("runs", 1),
                        threshold, rule)
    doubt = verdict["reason"] if verdict.get("reason") in DOUBTS else None
    chosen = withheld(chosen, doubt)
    if verdict.get("device"):  # proven by the job's record, which the snapshot states
        return chosen
    recorded = NoNpu() if verdict.get("reason") == NO_NPU else None
    return not_proven(chosen, next(filter(None, (no_npu_in(files[n]) for n in runs)), recorded))


def figure_of_run(files: dict[str, Path], facts: dict, name: str, cards: int | None
                  ) -> float | None:
    """The figure of one run, as if it were judged alone."""
    return recompute(files, {**facts, "selection": "last", "runs": 1}, {
        "measured": name, "runs": [name], "cards": cards}).figure


def rule_problems(facts: dict, metric: dict, entry: dict) -> Iterator[str]:
    """Where the listed runs and the judged ones are not what the signed rule of runs says.

    Args:
        facts: of the criterion, as signed.
        metric: of the document: its `facts` name the judged runs.
        entry: of the document: all runs of the criterion.
    """
    agreed = facts if facts.get("selection") else facts["definition"]
    judged = [run["artifact"] for run in metric["facts"].get("runs") or []]
    listed = {run["artifact"]: run for run in entry["runs"] if run["artifact"]}
    if (entry["selection"], entry["wanted"]) != (agreed["selection"], agreed["runs"]):
        yield _("the runs are listed under another rule than the signed one")
    if missing := [f"E{file}" for file in judged if file not in listed]:
        yield _("judged, but not listed: %(files)s") % {"files": ", ".join(missing)}
    elif judged:
        last = max(judged), max(listed[file]["began"] for file in judged)
        later = [f"E{file}" for file, run in listed.items() if run["standing"] == "later_counts"
                 and (file, run["began"]) > last and run["began"] > last[1]]
        if later or len(judged) > agreed["runs"]:
            yield _("other runs than the signed rule takes were judged: %(files)s are later") % {
                "files": ", ".join(later)}


def order_problems(metric: dict, accepted: list[dict]) -> Iterator[str]:
    """Where a verdict is passed by a run from before its criterion was frozen, and no person is
    named who accepted that."""
    since = metric["facts"].get("frozen_since")
    is_accepted = any(row["criterion"] == metric["criterion"] and row["item"] == AGREED_LATER
                      for row in accepted)
    if metric["outcome"] == "passed" and since and not is_accepted and any(
            datetime.fromisoformat(run["began"]) < datetime.fromisoformat(since)
            for run in metric["facts"].get("runs") or []):
        yield _("passed by a run that began before the criterion was frozen, which nobody accepted")


def _recomputed(measured: Path, reference: Path | None, facts: dict, rule: Rule,
                cards: int | None) -> Outcome:
    definition, baseline, threshold = (
        facts["definition"], facts["baseline"], Decimal(facts["threshold"]))
    if definition["calculator"] == "loss_curve":
        return judge_curve(align(read_series(reference), read_series(measured)), threshold, rule)
    quantity = baseline["quantity"] if baseline else definition["quantity"]
    return judge_values(
        definition["calculator"], _value(measured, quantity),
        _value(reference, quantity) if reference else None, threshold=threshold, rule=rule,
        cards=cards)


def reference_of(files: dict[str, Path], baseline: dict) -> Path:
    """The baseline's file, found by the checksum that was signed; IndexError if it is not there."""
    found = [path for name, path in files.items()
             if name.startswith(f"raw/{baseline['sha256'][:16]}-")
             and sha256_of(path) == baseline["sha256"]]
    return found[0]


def _value(path: Path, quantity: str) -> float | None:
    reading = read_file(path)
    return value_of(reading.kind, reading.values, quantity)
