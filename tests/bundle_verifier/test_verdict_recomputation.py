"""The verdict of a bundle from its raw files: what the files say of the device counts there too."""

from dataclasses import asdict

import pytest

from bundle_verifier.archive import sha256_of
from bundle_verifier.verdict_recomputation import order_problems, recompute, rule_problems
from tests.assessments.conftest import megatron_log
from toolreaders.verdicts.verdict import Rule


@pytest.mark.parametrize(("head", "stated", "reason"), [
    (b"", "threshold_met", "threshold_met"), (b"device cpu\n", "threshold_met", "no_npu_used"),
    (b"device cpu\n", "no_npu_used", "no_npu_used"), (b"", "no_npu_used", "no_npu_used")])
def test_a_run_without_an_npu_is_found_again(tmp_path, head, stated, reason):
    (tmp_path / "gpu.log").write_bytes(megatron_log([2.5] * 100))
    (tmp_path / "npu.log").write_bytes(head + megatron_log([2.501] * 100))
    sha256 = sha256_of(tmp_path / "gpu.log")
    files = {f"raw/{sha256[:16]}-gpu.log": tmp_path / "gpu.log",
             "raw/npu.log": tmp_path / "npu.log"}
    facts = {"definition": {**asdict(Rule()), "calculator": "loss_curve"}, "threshold": "0.02",
             "baseline": {"sha256": sha256, "quantity": "loss_curve"}}
    verdict = {"measured": "raw/npu.log", "runs": [], "cards": 8, "reason": stated}
    assert recompute(files, facts, verdict).reason == reason
    assert recompute(files, facts, verdict | {"device": "npu 0"}).reason == "threshold_met"


def listed(*runs, selection="last", wanted=1) -> dict:
    return {"selection": selection, "wanted": wanted, "runs": [
        {"artifact": file, "began": f"2026-01-{file:02} 10:00:00", "standing": standing}
        for file, standing in runs]}


@pytest.mark.parametrize(("judged", "entry", "problems"), [
    ([3], listed((3, "judged"), (2, "later_counts")), 0),
    ([2], listed((3, "later_counts"), (2, "judged")), 1),  # an older, better one was chosen
    ([2], listed((3, "trial"), (2, "judged")), 0),
    ([3], listed((2, "later_counts")), 1),
    ([3, 2], listed((3, "judged"), (2, "judged")), 1),
    ([3], listed((3, "judged"), selection="best", wanted=3), 1)])
def test_the_judged_runs_are_those_of_the_signed_rule(judged, entry, problems):
    metric = {"facts": {"runs": [{"artifact": file} for file in judged]}}
    facts = {"definition": {"selection": "last", "runs": 1}}
    assert len(list(rule_problems(facts, metric, entry))) == problems


@pytest.mark.parametrize(("outcome", "began", "accepted", "problems"), [
    ("passed", "2026-01-02T00:00:00+08:00", [], 1), ("failed", "2026-01-02T00:00:00+08:00", [], 0),
    ("passed", "2026-01-03T00:00:01+00:00", [], 0),
    ("passed", "2026-01-02T00:00:00+08:00", [(7, "agreed_after_run")], 0),
    ("passed", "2026-01-02T00:00:00+08:00", [(7, "chip"), (8, "agreed_after_run")], 1)])
def test_a_run_from_before_the_freeze_passes_by_a_named_person_only(
        outcome, began, accepted, problems):
    metric = {"criterion": 7, "outcome": outcome, "facts": {
        "frozen_since": "2026-01-03T00:00:00+00:00", "runs": [{"artifact": 1, "began": began}]}}
    rows = [{"criterion": criterion, "item": item} for criterion, item in accepted]
    assert len(list(order_problems(metric, rows))) == problems
