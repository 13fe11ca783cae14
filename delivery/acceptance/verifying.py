"""Checks an evidence bundle offline: every checksum and every verdict, from the raw files.

Pure functions over unpacked files; no database, no network.
"""

import hashlib
import json
import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from assessments.alignment import align
from assessments.comparing import RULE_FIELDS
from assessments.quantities import quantities
from assessments.verdict import (
    NOT_MEASURED,
    NOT_PROVABLE,
    Outcome,
    Rule,
    judge_curve,
    judge_values,
)
from delivery.acceptance.archive import (
    ArchiveError,
    extract,
    is_canonical,
    raw_name,
    wrong_sums,
)
from delivery.reports.snapshot import content_hash
from workers.readers import read_file
from workers.readers.base import ReadError
from workers.readers.series import read_series

TOLERANCE = 1e-12  # other versions of the arithmetic library may differ in the last digit


@dataclass(frozen=True)
class Step:
    """One thing that was checked."""

    is_good: bool
    text: str


def verify_bundle(path: Path) -> Iterator[Step]:
    """Check a bundle step by step. It is good when every step is."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            files = extract(path, folder / "bundle")
        except ArchiveError as error:
            yield Step(False, _("The archive cannot be trusted: %(problem)s %(name)s") % {
                "problem": error, "name": error.name})
            return
        yield Step(True, _("%(n)d files unpacked.") % {"n": len(files)})
        problems = [Step(False, _wrong_sum(*wrong)) for wrong in wrong_sums(files)]
        if problems:
            yield from problems
            return
        yield Step(True, _("All checksums of SHA256SUMS hold."))
        is_whole = is_canonical(path, files, folder)
        yield Step(is_whole, _("The archive is byte for byte what its files make.") if is_whole
                   else _("The archive itself was changed after it was made."))
        try:
            yield from _contents(files)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OSError,
                InvalidOperation) as error:
            yield Step(False, _("The bundle is incomplete or damaged: %(problem)s") % {
                "problem": repr(error)})


def _wrong_sum(name: str, problem: str) -> str:
    return {"missing": _("%(name)s is missing."), "extra": _("%(name)s is not listed."),
            "changed": _("%(name)s was changed: its checksum differs.")}[problem] % {"name": name}


def _contents(files: dict[str, Path]) -> Iterator[Step]:
    bundle = _load(files, "bundle.json")
    snapshot = _load(files, f"snapshots/{bundle['document']}-V{bundle['version']}.json")
    criteria, verdicts = _load(files, "criteria.json"), _load(files, "verdicts.json")
    yield _hash_step(_("Content hash of the document"), content_hash(snapshot),
                     bundle["content_hash"])
    text = json.dumps(criteria["facts"], ensure_ascii=False, sort_keys=True)
    yield _hash_step(_("Hash of the signed criteria"),
                     hashlib.sha256(text.encode()).hexdigest(),
                     snapshot["criteria"]["content_hash"])
    yield from _raw_files(files, snapshot)
    if bool(snapshot["is_practice"]) != ("PRACTICE" in files):
        yield Step(False, _("The mark of practice data is missing or wrong."))
    if not len(criteria["facts"]) == len(verdicts) == len(snapshot["metrics"]):
        yield Step(False, _("Criteria, verdicts and document do not hold the same items."))
        return
    manifest = {row["id"]: row for row in snapshot["evidence"]}
    for facts, verdict, metric in zip(criteria["facts"], verdicts, snapshot["metrics"],
                                      strict=True):
        measured = manifest.get(metric["artifact"])
        yield _verdict_step(files, facts, {
            **verdict, "cards": metric["facts"].get("cards"),
            "measured": raw_name(measured["name"], measured["sha256"]) if measured else None,
        }, metric)


def _load(files: dict[str, Path], name: str) -> Any:
    return json.loads(files[name].read_text("utf-8"))


def _hash_step(what: str, found: str, stated: str) -> Step:
    if found == stated:
        return Step(True, f"{what}: {found}")
    return Step(False, _("%(what)s differs: found %(found)s, stated %(stated)s") % {
        "what": what, "found": found, "stated": stated})


def _raw_files(files: dict[str, Path], snapshot: dict) -> Iterator[Step]:
    """Each file of the document's manifest is there with the checksum printed in it."""
    held = {hashlib.sha256(path.read_bytes()).hexdigest()
            for name, path in files.items() if name.startswith("raw/")}
    missing = [row["name"] for row in snapshot["evidence"] if row["sha256"] not in held]
    for name in missing:
        yield Step(False, _("The raw file %(name)s of the manifest is missing.") % {"name": name})
    if not missing:
        yield Step(True, _("All %(n)d raw files of the manifest are there.") % {
            "n": len(snapshot["evidence"])})


def _verdict_step(files: dict[str, Path], facts: dict, verdict: dict, metric: dict) -> Step:
    """Recompute a verdict under the signed facts and compare it with what the document says."""
    found = recompute(files, facts, verdict)
    label = f"{facts['model']} · {facts['definition']['code']} v{facts['definition']['version']}"
    stated = (metric["outcome"], metric["reason"])
    is_same = (found.outcome, found.reason) == stated == (verdict["outcome"], verdict["reason"])
    is_good = is_same and _same(found.figure, verdict["figure"])
    values = {"label": label, "found": found.outcome, "figure": found.figure,
              "stated": metric["outcome"], "was": verdict["figure"]}
    return Step(is_good, (
        _("%(label)s: %(found)s, figure %(figure)s") if is_good else
        _("%(label)s: recomputed %(found)s with %(figure)s, stated %(stated)s with %(was)s")
    ) % values)


def _same(found: float | None, stated: float | str | None) -> bool:
    if found is None or stated is None:
        return found is stated
    found, stated = float(found), float(stated)
    if not (math.isfinite(found) and math.isfinite(stated)):
        return repr(found) == repr(stated)
    return abs(found - stated) <= TOLERANCE * max(abs(found), abs(stated))


def recompute(files: dict[str, Path], facts: dict, verdict: dict) -> Outcome:
    """The verdict from the raw files of the bundle, by the signed definition."""
    definition, baseline = facts["definition"], facts["baseline"]
    if verdict["measured"] is None:
        return Outcome(NOT_MEASURED, None, "no_measurement")
    if baseline is None and definition["calculator"] != "value":
        return Outcome(NOT_PROVABLE, None, "no_baseline")
    measured, reference = files[verdict["measured"]], _reference(files, baseline)
    rule = Rule(**{name: definition[name] for name in RULE_FIELDS})
    threshold = Decimal(facts["threshold"])
    try:
        if definition["calculator"] == "loss_curve":
            return judge_curve(align(read_series(reference), read_series(measured)), threshold,
                               rule)
        quantity = baseline["quantity"] if baseline else definition["quantity"]
        return judge_values(
            definition["calculator"], _value(measured, quantity),
            _value(reference, quantity) if reference else None, threshold=threshold, rule=rule,
            cards=verdict["cards"])
    except ReadError:
        return Outcome(NOT_PROVABLE, None, "file_unreadable")


def _reference(files: dict[str, Path], baseline: dict | None) -> Path | None:
    """The baseline's file, found by the checksum that was signed."""
    if baseline is None:
        return None
    found = [path for name, path in files.items()
             if name.startswith(f"raw/{baseline['sha256'][:16]}-")
             and hashlib.sha256(path.read_bytes()).hexdigest() == baseline["sha256"]]
    return found[0]


def _value(path: Path, quantity: str) -> float | None:
    reading = read_file(path)
    return next((q.value for q in quantities(reading.kind, reading.values)
                 if q.name == quantity), None)
