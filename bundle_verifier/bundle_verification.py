"""Checks an evidence bundle offline: checksums, signature, verdicts, seals, from its own files.

Pure functions over unpacked files; no database, no network.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bundle_verifier import log_extract
from bundle_verifier.archive import (
    ArchiveError,
    ExtractedFile,
    checksum_problems,
    extract,
    read_checksum_list,
    sha256_of,
)
from bundle_verifier.archive_comparison import first_altered_entry
from bundle_verifier.bundle_format import WITHHELD, cited_name, raw_name, snapshot_parts
from bundle_verifier.canonical import SPACED, content_hash
from bundle_verifier.check_steps import CheckStep
from bundle_verifier.json_limits import parse_json
from bundle_verifier.manifest_signature import (
    NOBODY_NAMED,
    ExpectedSigner,
    manifest_steps,
)
from bundle_verifier.signature_checks import seal_steps, signature_steps
from bundle_verifier.translation import gettext as _
from bundle_verifier.translation import ngettext
from bundle_verifier.verdict_recomputation import (
    figure_of_run,
    figures_agree,
    order_problems,
    recompute,
    rule_problems,
)
from toolreaders.verdicts.verdict import (
    ENGINE_CHANGES,
    ENGINE_GAINS,
    ENGINE_VERSION,
    NOT_PROVABLE,
    Outcome,
)

if TYPE_CHECKING:
    from asn1crypto.x509 import Certificate

    from bundle_verifier.signatures.revocation import RevocationSources


@dataclass
class Unpacked:
    """The files of a bundle by name, and those that are held back: name to checksum."""

    files: dict[str, Path]
    digests: dict[str, str]
    held_back: dict[str, str] = field(default_factory=dict)


def verify_bundle(path: Path, *, raw: Path | None = None,
                  roots: "list[Certificate] | None" = None,
                  signer: ExpectedSigner = NOBODY_NAMED,
                  sources: "RevocationSources | None" = None) -> Iterator[CheckStep]:
    """Check a bundle step by step. It is good when every step is, and none is open.

    Args:
        raw: a folder with raw files that the bundle holds back; found there by checksum.
        roots: certificates that the chains of signature and seals may end at.
        signer: who should have signed the list of checksums.
        sources: what tells of revoked certificates.

    A file that ends in .jsonl holds entries of an audit log (`log_extract`) and nothing else.
    """
    if path.suffix == ".jsonl":
        yield from log_extract.check(path)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            members = extract(path, folder / "bundle")
        except ArchiveError as error:
            yield CheckStep(False, _("The archive cannot be trusted: %(problem)s %(name)s") % {
                "problem": error, "name": error.name})
            return
        yield CheckStep(True, ngettext("%(n)d file unpacked.", "%(n)d files unpacked.",
                                       len(members)) % {"n": len(members)})
        problems = [CheckStep(False, _wrong_sum(*wrong)) for wrong in checksum_problems(members)]
        if problems:
            yield from problems
            return
        yield CheckStep(True, _("All checksums of SHA256SUMS hold."))
        changed = first_altered_entry(path, members)
        yield CheckStep(changed is None, (
            _("The archive matches its files byte for byte.") if changed is None else
            _("The archive itself was changed after it was made; first at: %(name)s") % {
                "name": changed or _("its end")}))
        try:
            bundle = _with_raw(members, raw)
            yield from manifest_steps(bundle.files, _load(bundle.files, "bundle.json"),
                                      roots or [], signer, sources)
            yield from _contents(bundle, roots or [])
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OSError,
                InvalidOperation) as error:
            yield CheckStep(False, _("The bundle is incomplete or damaged: %(problem)s") % {
                "problem": repr(error)})


def _with_raw(members: dict[str, ExtractedFile], raw: Path | None) -> Unpacked:
    """The bundle's files, and those held back that the folder `raw` has."""
    files = {name: member.path for name, member in members.items()}
    digests = {name: member.sha256 for name, member in members.items()}
    away = read_checksum_list(files[WITHHELD]) if WITHHELD in files else {}
    wanted = {digest: name for name, digest in away.items()}
    for path in sorted(raw.rglob("*")) if raw and wanted else ():
        digest = sha256_of(path) if path.is_file() else ""
        if digest in wanted:
            files[wanted[digest]], digests[wanted[digest]] = path, digest
    return Unpacked(files, digests, {n: digest for n, digest in away.items() if n not in files})


def _wrong_sum(name: str, problem: str) -> str:
    return {"missing": _("%(name)s is missing."), "extra": _("%(name)s is not listed."),
            "changed": _("%(name)s was changed: its checksum differs.")}[problem] % {"name": name}


def _contents(bundle: Unpacked, roots: "list[Certificate]") -> Iterator[CheckStep]:
    files = bundle.files
    recorded = _load(files, "bundle.json")
    snapshot = _load(files, f"snapshots/{recorded['document']}-V{recorded['version']}.json")
    criteria, verdicts = _load(files, "criteria.json"), _load(files, "verdicts.json")
    yield _hash_step(_("Content hash of the document"), content_hash(snapshot),
                     recorded["content_hash"])
    yield _hash_step(_("Hash of the signed criteria"), content_hash(criteria["facts"], SPACED),
                     snapshot["criteria"]["content_hash"])
    yield from _copies(files, snapshot)
    if log_extract.FILE in files:  # bundles made earlier have none
        yield from log_extract.check(files[log_extract.FILE])
    hashes = {row["hash"] for row in snapshot["references"]}
    for name in sorted(files):
        if name.startswith(cited_name("")) and name.endswith(".json"):
            is_named = content_hash(_load(files, name)) in hashes
            yield CheckStep(is_named, (
                _("%(name)s is the document that is referred to.") if is_named else
                _("%(name)s is none of the documents that are referred to.")) % {"name": name})
    yield from _raw_files(bundle, snapshot)
    if bool(snapshot["is_practice"]) != ("PRACTICE" in files):
        yield CheckStep(False, _("The mark of practice data is missing or wrong."))
    elif snapshot["is_practice"]:
        yield CheckStep(True, _("Practice data: the results are not evidence."))
    if "review.json" in files:
        yield from signature_steps(files, _load(files, "review.json"), recorded)
    yield from seal_steps(files, recorded, roots)
    if not len(criteria["facts"]) == len(verdicts) == len(snapshot["metrics"]):
        yield CheckStep(False, _("Criteria, verdicts and document do not hold the same items."))
        return
    manifest = {row["id"]: row for row in snapshot["evidence"]}
    for facts, verdict, metric in zip(criteria["facts"], verdicts, snapshot["metrics"],
                                      strict=True):
        measured = manifest.get(metric["artifact"])
        yield _verdict_step(bundle, facts, {
            **verdict, "cards": metric["facts"].get("cards"),
            "device": metric["facts"].get("device"),
            "measured": raw_name(measured["name"], measured["sha256"]) if measured else None,
            "runs": _runs(metric, manifest),
        }, metric)
    listed = {row["criterion"]: row for row in snapshot.get("criterion_runs", [])}
    for facts, metric in zip(criteria["facts"], snapshot["metrics"], strict=True):
        if entry := listed.get(metric["criterion"]):  # documents of before list no runs
            yield _runs_step(bundle, facts, metric, entry, manifest, snapshot["accepted"])


def _runs_step(bundle: Unpacked, facts: dict, metric: dict, entry: dict, manifest: dict[int, dict],
               accepted: list[dict]) -> CheckStep:
    """Runs that a verdict leaves out: figures once more from their files, and whether the agreed
    rule and the order in time leave just them out."""
    label = f"{facts['model']} · {facts['definition']['code']} v{facts['definition']['version']}"
    problems = [*rule_problems(facts, metric, entry),
                *order_problems(metric, accepted)]
    names = {run["artifact"]: raw_name(row["name"], row["sha256"]) for run in entry["runs"]
             if (row := manifest.get(run["artifact"]))}
    left_out = [run for run in entry["runs"] if run["standing"] != "judged"
                and names.get(run["artifact"]) in bundle.files and run["figure"] is not None]
    for run in left_out if not _is_held_back(bundle, facts, {
            "measured": metric["artifact"], "runs": [""]}) else ():
        found = figure_of_run(bundle.files, facts, names[run["artifact"]], run["cards"])
        if not figures_agree(found, run["figure"]):
            problems.append(_("run E%(file)s: recomputed %(found)s, stated %(stated)s") % {
                "file": run["artifact"], "found": found, "stated": run["figure"]})
    if problems:
        return CheckStep(False, f"{label}: {'; '.join(problems)}")
    return CheckStep(True, ngettext(
        "%(label)s: %(n)d run listed, the agreed rule holds.",
        "%(label)s: %(n)d runs listed, the agreed rule holds.", len(entry["runs"])) % {
            "label": label, "n": len(entry["runs"])})


def _runs(metric: dict, manifest: dict[int, dict]) -> list[str]:
    """The raw files of all judged runs, newest first."""
    rows = [manifest[run["artifact"]] for run in metric["facts"].get("runs") or []]
    return [raw_name(row["name"], row["sha256"]) for row in rows]


def _load(files: dict[str, Path], name: str) -> Any:
    return parse_json(files[name].read_text("utf-8"), may_be_infinite=True)


def _hash_step(what: str, found: str, recorded: str) -> CheckStep:
    if found == recorded:
        return CheckStep(True, f"{what}: {found}")
    return CheckStep(False, _("%(what)s differs: found %(found)s, stated %(stated)s") % {
        "what": what, "found": found, "stated": recorded})


def _copies(files: dict[str, Path], snapshot: dict) -> Iterator[CheckStep]:
    """Files with a part of the frozen facts say the same; bundles made earlier have fewer."""
    for name, part in snapshot_parts(snapshot).items():
        if name in files and _load(files, name) != part:
            yield CheckStep(False, _("%(name)s differs from the frozen facts of the document.")
                       % {"name": name})


def _raw_files(bundle: Unpacked, snapshot: dict) -> Iterator[CheckStep]:
    """Each file of the document's manifest is there with the checksum printed in it."""
    held = {digest for name, digest in bundle.digests.items() if name.startswith("raw/")}
    away = set(bundle.held_back.values())
    missing = [row["name"] for row in snapshot["evidence"]
               if row["sha256"] not in held | away]
    for name in missing:
        yield CheckStep(False,
                        _("The raw file %(name)s of the manifest is missing.") % {"name": name})
    if away:
        yield CheckStep(True,
                        _("%(n)d raw files are held back as confidential; only their checksums "
                           "are here; --raw names a folder that has them.") % {"n": len(away)},
                        is_open=True)
    elif not missing:
        yield CheckStep(True, _("All %(n)d raw files of the manifest are present.") % {
            "n": len(snapshot["evidence"])})


def _verdict_step(bundle: Unpacked, facts: dict, verdict: dict, metric: dict) -> CheckStep:
    """Recompute a verdict under the signed facts and compare it with what the document says."""
    label = f"{facts['model']} · {facts['definition']['code']} v{facts['definition']['version']}"
    if _is_held_back(bundle, facts, verdict):
        return CheckStep(True, _("%(label)s: not recomputed, a raw file is held back; stated "
                            "%(stated)s") % {"label": label, "stated": _word(metric["outcome"])},
                         is_open=True)
    found = recompute(bundle.files, facts, verdict)
    recorded = (metric["outcome"], metric["reason"])
    is_same = (found.outcome, found.reason) == recorded == (verdict["outcome"], verdict["reason"])
    is_good = is_same and figures_agree(found.figure, verdict["figure"])
    if not is_good and recorded == (verdict["outcome"], verdict["reason"]) and _is_of_older_rules(
            found, metric, verdict):
        return _older_rules_step(label, found, metric)
    values = {"label": label, "found": _word(found.outcome), "figure": found.figure,
              "stated": _word(metric["outcome"]), "was": verdict["figure"]}
    return CheckStep(is_good, (
        _("%(label)s: %(found)s, figure %(figure)s") if is_good else
        _("%(label)s: recomputed %(found)s with %(figure)s, stated %(stated)s with %(was)s")
    ) % values)


def _is_of_older_rules(found: Outcome, metric: dict, verdict: dict) -> bool:
    """Whether an engine of before could prove what today's cannot, as its rules were laxer, or
    could not prove what today's computes."""
    engine = metric["engine_version"]
    if engine != verdict["engine_version"] or not engine.isdecimal():
        return False
    outcome, reason, table = (
        (found.outcome, found.reason, ENGINE_CHANGES) if found.outcome == NOT_PROVABLE else
        (metric["outcome"], metric["reason"], ENGINE_GAINS))
    return outcome == NOT_PROVABLE and any(
        reason in reasons for version, reasons in table.items() if int(engine) < int(version))


def _older_rules_step(label: str, found: Outcome, metric: dict) -> CheckStep:
    text = (_("%(label)s: stated %(stated)s by calculation engine %(was)s; by the rules of engine "
              "%(now)s it cannot be proven from the raw files (%(reason)s)")
            if found.outcome == NOT_PROVABLE else
            _("%(label)s: stated %(stated)s by calculation engine %(was)s; the rules of engine "
              "%(now)s compute %(found)s from the raw files")) % {
        "label": label, "stated": _word(metric["outcome"]), "was": metric["engine_version"],
        "now": ENGINE_VERSION, "reason": found.reason, "found": _word(found.outcome)}
    return CheckStep(True, text, is_open=True, conclusion=text)


def _word(outcome: str) -> str:
    """A verdict in the active language; the database's own names need the database's models."""
    return {"passed": _("Passed"), "failed": _("Failed"), "not_measured": _("Not measured"),
            "not_provable": _("Not provable")}.get(outcome, outcome)


def _is_held_back(bundle: Unpacked, facts: dict, verdict: dict) -> bool:
    """Whether a raw file needed by the verdict is withheld and not supplied by --raw."""
    names = set(verdict["runs"] or [verdict["measured"]])
    baseline = facts["baseline"]
    is_reference_away = bool(baseline) and baseline["sha256"] in bundle.held_back.values()
    return bool(verdict["measured"]) and (is_reference_away or bool(names & set(bundle.held_back)))
