"""A log is read alike by one pattern and field by field."""

import random

import numpy as np
import pytest

from toolreaders import read_file
from toolreaders.training import megatron_columns
from toolreaders.training.series import read_series

LINE = (" [2026-01-01 00:{m:02d}:{s:02d}] iteration {n:8d}/{total:8d} | consumed samples: {c:12d} "
        "| elapsed time per iteration (ms): {t:.1f} | learning rate: 1.0E-04 | global batch size:"
        "    16 | {key}: {loss} | loss scale: 1.0 | grad norm: {norm:.3f} |\n")

MEMORY = ("[Rank 0] (after 500 iterations) memory (MB) | allocated: 1.5 | max allocated: 2048.25 "
          "| reserved: 4096.0 | max reserved: 4100.0\n")


def written(path, count: int, *, other: str = "", losses=None):
    source = random.Random(3)
    with path.open("w") as file:
        for n in range(1, count + 1):
            loss = (losses or {}).get(n, f"{source.uniform(1e-4, 12):.6E}")
            file.write(LINE.format(n=n, total=count, m=n // 60 % 60, s=n % 60, c=16 * n,
                                   t=source.uniform(80, 1200), key="lm loss", loss=loss,
                                   norm=source.uniform(0.1, 120)))
            if other and n % 500 == 0:
                file.write(other)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(("other", "losses"), [
    ("", None), ("saving checkpoint at iteration 500 | to x\n", None), ("", {700: "NAN"}),
    (MEMORY, None)])
def test_both_ways_give_one_curve(tmp_path, monkeypatch, other, losses):
    path = written(tmp_path / "a.log", 6000, other=other, losses=losses)
    by_pattern = read_series(path)
    monkeypatch.setattr(megatron_columns, "_alike", lambda *_: 0)
    slowly = read_series(path)
    assert np.array_equal(by_pattern.losses, slowly.losses, equal_nan=True)
    assert by_pattern.steps.tolist() == slowly.steps.tolist()
    assert by_pattern.extras == slowly.extras
    assert by_pattern.warnings == slowly.warnings


@pytest.mark.slow
def test_a_record_of_another_layout_among_like_lines_is_passed_over(tmp_path):
    alone = read_series(written(tmp_path / "a.log", 6000))
    among = read_series(written(tmp_path / "b.log", 6000,
                                other=" iteration 9/ 9 | lm loss: 1.0E+00 |\n"))
    assert (among.steps, among.losses) == (alone.steps, alone.losses)
    assert among.extras == alone.extras


def test_memory_lines_among_like_lines_are_read(tmp_path):
    path = written(tmp_path / "a.log", 6000, other=MEMORY)
    assert read_series(path).extras["memory"] == {
        "max_allocated_mb": {"0": 2048.25}, "peak_allocated_mb": 2048.25,
        "peak_reserved_mb": 4100.0}


def test_like_lines_need_no_other_way(tmp_path, monkeypatch):
    path = written(tmp_path / "a.log", 3000, other="saving checkpoint at iteration | x\n")
    monkeypatch.setattr(megatron_columns, "_slowly", None)
    assert len(read_series(path).steps) == 3000


@pytest.mark.slow
def test_records_glued_into_one_long_line_are_told_apart(tmp_path):
    """A search to the line's end for each of them would take minutes."""
    path = tmp_path / "a.log"
    record = "[Rank 0] iteration {n}/ 9 | lm loss: {n}.5E+00 |"
    path.write_text("[rank1] x\n" + " ".join(record.format(n=n) for n in range(1, 60_001)) + "\n")
    series = read_series(path)
    assert series.steps.tolist() == list(range(1, 60_001))
    assert series.losses.tolist() == [n + 0.5 for n in range(1, 60_001)]


def test_mamls_accuracies_are_a_training_log_without_a_loss(tmp_path):
    path = tmp_path / "maml.log"
    path.write_text("".join(f"Iteration {n}: 0.{n // 100}, 0.9\n" for n in range(100, 600, 100)))
    reading = read_file(path)
    assert (reading.kind, reading.values["loss"], reading.values["last_step"]) == (
        "training_log", None, 500)
    assert reading.values["metrics"] == {"accuracy_before": 0.5, "accuracy_after": 0.9}
    assert [warning.code for warning in reading.warnings] == ["no_loss_points"]
