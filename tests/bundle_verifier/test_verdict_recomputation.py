"""The verdict of a bundle from its raw files: what the files say of the device counts there too."""

from dataclasses import asdict

import pytest

from bundle_verifier.archive import sha256_of
from bundle_verifier.verdict_recomputation import recompute
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
