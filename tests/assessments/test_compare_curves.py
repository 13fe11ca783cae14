"""The command that people and scripts call."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.utils.translation import override

from tests.assessments.conftest import SAMPLES, megatron_log


def compared(capsys, baseline, candidate, *options) -> dict:
    call_command("compare-curves", str(SAMPLES / baseline), str(SAMPLES / candidate),
                 "--json", *options)
    return json.loads(capsys.readouterr().out)


def test_the_json_has_the_agreed_keys(capsys):
    found = compared(capsys, "ng_fp32.log.gz", "ng_bf16.log.gz")
    assert {"common_points", "coverage", "nonfinite", "figures", "definition", "threshold",
            "verdict", "sentence", "warnings"} <= set(found)
    assert (found["verdict"], found["threshold"], found["common_points"]) == (
        "passed", 0.02, 3001)


def test_nan_is_not_passed(capsys):
    found = compared(capsys, "ng_fp32.log.gz", "ng_nan.log.gz")
    assert (found["verdict"], found["nonfinite"]) == ("failed", 1261)


def test_a_candidate_of_no_npu_is_compared_with_a_warning(capsys):
    """Any two logs may be compared; what such a figure does not prove is said beside it."""
    with override("en"):
        found = compared(capsys, "ng_fp32.log.gz", "ng_bf16.log.gz")
    assert (found["verdict"], [(w["code"], w["line"]) for w in found["warnings"]]) == (
        "passed", [("no_npu_used", 40)])
    assert "its figures say nothing of the NPU" in found["warnings"][0]["message"]


@pytest.mark.slow
def test_two_formats_that_count_differently(capsys):
    found = compared(capsys, "ng_fp32.log.gz", "megatron_bf16.log.gz")
    assert found["figures"]["mean_relative_error"] < 0.001
    assert "step_base" in [warning["code"] for warning in found["warnings"]]


def test_a_tenth_of_the_steps_proves_nothing(capsys):
    found = compared(capsys, "ng_fp32.log.gz", "ng_bf16_int10.log")
    assert (found["verdict"], found["common_points"]) == ("not_provable", 301)


@pytest.mark.slow
@pytest.mark.parametrize(("definition", "verdict"), [
    ("loss_mean_relative_error", "passed"), ("loss_flagperf", "failed"),
    ("loss_error_of_means", "passed"), ("loss_every_step", "failed"),
    ("loss_mean_absolute_error", "failed"), ("loss_epsilon_added", "passed")])
def test_definitions(capsys, definition, verdict):
    found = compared(capsys, "ng_fp32.log.gz", "ng_crash_resume.log.gz",
                     "--definition", definition)
    assert (found["definition"], found["verdict"]) == (definition, verdict)


@pytest.mark.parametrize(("line", "sentence"), [
    ("{{'loss': 2.5, 'epoch': {epoch}}}\n", "does not say to which step"),
    ("epoch {epoch} step 10 loss 2.5\nepoch {epoch} step 20 loss 2.4\n",
     "does not say to which step"),
    ("step 1: loss 2.{digit}\nstep 2: loss 1.{digit}\n", "does not say to which step"),
    ("iteration {digit}/ 100 | lm loss: 2.5 |\niteration {digit}/ 100 | lm loss: 2.4 |\n",
     "mixes the losses of several processes"),
])
def test_curves_without_proven_steps_are_not_compared(capsys, tmp_path, line, sentence):
    for name in ("gpu.log", "npu.log"):
        text = "".join(line.format(epoch=n + 1, digit=n) for n in range(1, 9))
        (tmp_path / name).write_text(text)
    with override("en"):
        call_command("compare-curves", str(tmp_path / "gpu.log"), str(tmp_path / "npu.log"),
                     "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "not_provable"
    assert sentence in found["sentence"]


@pytest.fixture
def judged(capsys, tmp_path):
    """Compares two logs of equal losses, whose text the test gives."""
    def judge(baseline: bytes, candidate: bytes, *options) -> dict:
        for name, text in (("gpu.log", baseline), ("npu.log", candidate)):
            (tmp_path / name).write_bytes(text)
        with override("en"):
            call_command("compare-curves", str(tmp_path / "gpu.log"), str(tmp_path / "npu.log"),
                         "--json", *options)
        return json.loads(capsys.readouterr().out)
    return judge


EQUAL = megatron_log([2.5] * 100)
ALL_NAN = EQUAL.replace(b"grad norm: 1.000", b"grad norm: nan")
ALL_ZERO = EQUAL.replace(b"grad norm: 1.000", b"grad norm: 0.000")


@pytest.mark.parametrize(("baseline", "candidate", "reason", "warning"), [
    (EQUAL, ALL_NAN, "nonfinite_grad_norm", "Candidate: 100 of 100 gradient norms are NaN or Inf"),
    (ALL_NAN, EQUAL, "nonfinite_grad_norm", "Baseline: 100 of 100 gradient norms are NaN or Inf"),
    (EQUAL, ALL_ZERO, "no_update_shown", "Candidate: All 100 gradient norms are 0"),
])
def test_equal_losses_beside_broken_gradients_do_not_pass(
        judged, baseline, candidate, reason, warning):
    found = judged(baseline, candidate)
    assert (found["verdict"], found["reason"], found["figure"]) == ("not_provable", reason, 0)
    assert "losses meet the threshold, but" in found["sentence"]
    assert found["warnings"][0]["message"].startswith(warning)
    assert judged(EQUAL, EQUAL)["verdict"] == "passed"


def test_a_skipped_update_hinders_no_pass_but_is_told(judged):
    lines = EQUAL.splitlines(keepends=True)
    lines[4] = lines[4].replace(b"grad norm: 1.000", b"grad norm: nan").replace(
        b" |\n", b" | number of skipped iterations:   1 |\n")
    found = judged(EQUAL, b"".join(lines))
    assert found["verdict"] == "passed"
    assert [w["message"] for w in found["warnings"]] == [
        "Candidate: 1 of 100 iterations were skipped: their gradients overflowed.",
        "Candidate: 1 of 100 gradient norms are NaN or Inf, explained by the log (update skipped "
        "or loss scale lowered): step 5."]


def test_updates_that_were_all_skipped_show_no_training(judged):
    skipped = ALL_NAN.replace(b" |\n", b" | number of skipped iterations:   1 |\n")
    assert judged(EQUAL, skipped)["reason"] == "no_update_shown"


def test_losses_that_differ_stay_failed(judged):
    other = ALL_NAN.replace(b"lm loss: 2.5", b"lm loss: 3.5")
    assert judged(EQUAL, other)["verdict"] == "failed"


def test_exactly_two_percent_is_not_below_two_percent(capsys, tmp_path):
    for name, loss in (("gpu.log", 5.0), ("npu.log", 5.1)):
        (tmp_path / name).write_bytes(megatron_log([loss] * 30))
    call_command("compare-curves", str(tmp_path / "gpu.log"), str(tmp_path / "npu.log"), "--json")
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["figures"]["mean_relative_error"]) == ("failed", 0.02)


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\x00\x01\x02" * 50])
def test_a_bad_file_is_an_error_that_names_it(tmp_path, content):
    bad = tmp_path / "bad.log"
    bad.write_bytes(content)
    with pytest.raises(CommandError, match=r"bad\.log"):
        call_command("compare-curves", str(SAMPLES / "ng_fp32.log.gz"), str(bad))


@pytest.mark.parametrize("threshold", ["abc", "nan", "-1", "inf"])
def test_a_senseless_threshold_is_refused(threshold):
    file = str(SAMPLES / "ng_fp32.log.gz")
    with pytest.raises(CommandError):
        call_command("compare-curves", file, file, f"--threshold={threshold}")
