"""What two logs differ in: genuine pairs, and pairs made for one difference each."""

from decimal import Decimal
from math import inf, sin

import pytest

from tests.toolreaders.readers.conftest import SAMPLES
from toolreaders.curves.alignment import align
from toolreaders.curves.differences import differences
from toolreaders.training.series import read_series
from toolreaders.verdicts import log_comparison
from toolreaders.verdicts.log_comparison import UnreadableLogError, compare_logs
from toolreaders.verdicts.verdict import Rule

PAIRS = SAMPLES / "pairs"
LIMIT = Decimal("0.02")


def compared(baseline, candidate, rule=None):
    rule = rule or Rule()
    return compare_logs(baseline, candidate, rule, LIMIT).values(rule, LIMIT, "%")


def codes(answer) -> list[str]:
    return [finding["code"] for finding in answer["differences"]]


@pytest.mark.parametrize(("suffix", "alignment"), [
    ("txt", "epoch_and_learning_rate"), ("jsonl", "step")])
def test_a_summed_loss_is_a_constant_ratio(suffix, alignment):
    """transformers issue 35438."""
    answer = compared(PAIRS / f"ga_ok.{suffix}", PAIRS / f"ga_bad.{suffix}")
    assert (answer["verdict"], answer["alignment"], codes(answer)) == (
        "failed", alignment, ["constant_ratio"])
    assert answer["differences"][0]["ratio"] == pytest.approx(5, rel=1e-4)
    assert "5.000 times the baseline's" in answer["sentence"]
    assert "sums the loss over 5 accumulation steps" in answer["sentence"]
    assert ("gradients are scaled too" in answer["sentence"]) is (suffix == "txt")


def test_long_logs_are_read_side_by_side_and_judged_alike(monkeypatch, tmp_path):
    pair = PAIRS / "ga_ok.jsonl", PAIRS / "ga_bad.jsonl"
    alike = compared(*pair)
    monkeypatch.setattr(log_comparison, "LONG_LOG_BYTES", 0)
    assert compared(*pair) == alike
    (tmp_path / "bad.txt").write_text("nothing that is known\n")
    with pytest.raises(UnreadableLogError, match=r"bad\.txt: unknown_format"):
        compared(pair[0], tmp_path / "bad.txt")


def test_other_weights_differ_before_any_update():
    answer = compared(PAIRS / "first_step_ref.txt", PAIRS / "first_step_other.txt")
    [found] = answer["differences"]
    assert (answer["verdict"], found["code"], found["step"], found["place"]) == (
        "failed", "first_difference", 0, "first_record")
    assert "before any update: the initial weights, the data or the forward pass" in (
        answer["sentence"])


def test_a_pair_that_parts_with_the_first_updates_and_prints_no_gradient():
    answer = compared(PAIRS / "ds_off.txt", PAIRS / "ds_on.txt")
    first, zero = answer["differences"]
    assert (answer["verdict"], first["step"], first["identical"], first["place"]) == (
        "not_provable", 3, 2, "update")
    assert (zero["code"], zero["log"], zero["points"]) == ("zero_norms", "candidate", 49)
    assert "The candidate prints a gradient norm of 0 in all 49 records" in answer["sentence"]


def test_a_crashed_run_parts_where_it_was_resumed():
    aligned = align(*(read_series(SAMPLES / "curves" / name)
                      for name in ("ng_fp32.log.gz", "ng_crash_resume.log.gz")))
    [found] = differences(aligned, 0.02)
    assert (found["step"], found["place"]) == (1500, "resumed")


def loss_at(step: int) -> float:
    return 3 + sin(step / 3) / 2


def megatron(losses, *, rate=lambda _step: 1e-4, batch=8, scale=lambda _step: 1.0,
             norm=lambda _step: 1.0, first=1) -> str:
    return "".join(
        f" iteration {step:8d}/     100 | consumed samples: {batch * step:12d} | elapsed time per "
        f"iteration (ms): 500.0 | learning rate: {rate(step):.3E} | global batch size: {batch:5d} "
        f"| lm loss: {loss:.6E} | loss scale: {scale(step):.1f} | grad norm: {norm(step):.3f} |\n"
        for step, loss in enumerate(losses, first) if loss is not None)


@pytest.fixture
def pair(written):
    """The answer for two logs; without a candidate's losses, those of the baseline."""
    def answer(candidate=None, *, base=None, **beside):
        losses = [loss_at(step) for step in range(1, 101)]
        candidate = losses if candidate is None else candidate
        return compared(written(megatron(losses, **(base or {})), "gpu"),
                        written(megatron(candidate, **beside), "npu"))
    return answer


def parted(at: int) -> list[float]:
    """The baseline's losses up to a step, and then 10 per cent more."""
    return [loss_at(step) * (1.1 + 0.02 * (step % 5) if step >= at else 1.0001)
            for step in range(1, 101)]


def test_equal_logs_differ_in_nothing(pair):
    answer = pair()
    assert (answer["differences"], answer["learning_rates"]) == ([], {"compared": 100, "differ": 0})
    assert answer["sentence"].startswith("Passed: ")


def test_no_verdict_is_told_without_the_learning_rates_that_differ(pair):
    answer = pair(rate=lambda step: 1e-4 if step < 40 else 2e-4)
    assert (answer["verdict"], codes(answer)) == ("passed", ["learning_rates_differ"])
    assert "do not train alike: their learning rates differ at 61 of 100" in answer["sentence"]
    assert "first at step 40 (baseline 0.0001, candidate 0.0002)" in answer["sentence"]


def test_rates_printed_after_the_update_are_the_same_schedule(pair):
    answer = pair(base={"rate": lambda step: 1e-6 * step}, rate=lambda step: 1e-6 * (step + 1))
    assert codes(answer) == ["learning_rates_moved"]


def test_rates_that_agree_as_far_as_they_are_printed_do_not_differ(pair):
    answer = pair(base={"rate": lambda step: 1e-4 * (1 + 1e-5 * (step % 3))})
    assert codes(answer) == []


def test_another_batch_is_told(pair):
    answer = pair(batch=16)
    assert codes(answer) == ["global_batch_size_differs", "consumed_samples_differ"]
    assert "at step 1 the baseline has consumed 8 samples, the candidate 16" in answer["sentence"]


@pytest.mark.parametrize(("factor", "cause"), [
    (8, "the candidate sums the loss over 8"), (0.25, "the baseline sums the loss over 4"),
    (1.3, "another reduction of the loss")])
def test_the_ratio_tells_its_cause(pair, factor, cause):
    answer = pair([factor * loss_at(step) for step in range(1, 101)])
    assert codes(answer) == ["constant_ratio"]
    assert cause in answer["sentence"]
    assert "The gradient norms agree: only the printed loss is scaled." in answer["sentence"]


def test_an_offset_is_no_ratio(pair):
    answer = pair([loss_at(step) + 0.4 for step in range(1, 101)])
    assert codes(answer) == ["constant_offset"]
    assert answer["differences"][0]["offset"] == pytest.approx(0.4, rel=1e-5)


def test_noise_is_neither(pair):
    answer = pair([loss_at(step) * (1.05 + 0.03 * sin(step)) for step in range(1, 101)])
    assert codes(answer) == ["first_difference"]


@pytest.mark.parametrize(("at", "beside", "place"), [
    (1, {}, "first_record"),
    (2, {}, "update"),
    (60, {}, "later"),
    (60, {"scale": lambda step: 65536.0 if step < 59 else 32768.0}, "loss_scale"),
    (60, {"rate": lambda step: 1e-4 if step < 59 else 1e-5}, "learning_rate"),
    (60, {"norm": lambda step: inf if step == 59 else 1.0}, "skipped"),
])
def test_the_place_of_the_first_difference(pair, at, beside, place):
    answer = pair(parted(at), base=beside, **beside)
    found = next(one for one in answer["differences"] if one["code"] == "first_difference")
    assert (found["step"], found["place"], found["before"]) == (at, place, at - 1)


def test_a_record_that_only_one_log_lacks_is_a_skipped_update(pair):
    losses = parted(60)
    losses[58] = None
    found = pair(losses)["differences"][0]
    assert (found["step"], found["place"]) == (60, "skipped")


def test_logs_that_begin_at_different_steps_do_not_show_where_they_part(written):
    losses = [loss_at(step) for step in range(1, 101)]
    answer = compared(written(megatron(losses), "gpu"),
                      written(megatron(parted(1)[50:], first=51), "npu"))
    assert answer["differences"][0]["place"] == "first_common"


def test_norms_that_grow_and_a_scale_that_falls(pair):
    answer = pair(norm=lambda step: 1.1 ** step,
                  scale=lambda step: 2.0 ** max(0, 16 - step // 5))
    assert codes(answer) == ["norms_grow", "loss_scale_falls"]
    scale = answer["differences"][1]
    assert (scale["points"], scale["first"], scale["last"], scale["step"]) == (16, 65536, 1, 5)
