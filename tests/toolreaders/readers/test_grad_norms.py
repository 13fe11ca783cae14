"""Gradient norms that are not finite, or zero throughout, are told; what the log explains too."""

import math

import pytest

from toolreaders import read_file
from toolreaders.base import ReadError
from toolreaders.training.series import read_series
from toolreaders.verdicts.quantities import quantities

MEGATRON = (" iteration {i:8}/     100 | consumed samples: 8 | elapsed time per iteration (ms): 7 "
            "| lm loss: 2.5E+00 | loss scale: {scale} | grad norm: {norm} |"
            " number of skipped iterations:   {skipped} | number of nan iterations:   0 |\n")
NO_LOSS = MEGATRON.replace("| lm loss: 2.5E+00 ", "").replace("\n", " TFLOPs: 78.5 |\n")
MMENGINE = ("10/30 22:19:57 - mmengine - INFO - Epoch(train) [1][{i}/735]  lr: 1.9e-04  eta: 2:44"
            ":49  time: 2.8874  data_time: 0.0042  memory: 10762  loss: 2.5128  grad_norm: {norm}"
            "{scale}\n")
HF = "{{'loss': 2.5, 'grad_norm': {norm}, 'learning_rate': 1e-05, 'step': {i}, 'epoch': 0.1}}\n"
OVERFLOW = ("[2024-09-15 00:13:28,261] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] "
            "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768\n")


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "a.log"
        path.write_text(text)
        return path
    return write


def shown(path) -> list[tuple[str, str, int | None]]:
    return [(w.code, w.message, w.line) for w in read_file(path).warnings]


@pytest.mark.parametrize("line", [
    MEGATRON.replace("{scale}", "1.0").replace("{skipped}", "0"), MMENGINE.replace("{scale}", ""),
    HF])
def test_norms_that_are_not_finite_name_their_steps(written, line):
    path = written("".join(line.format(i=i, norm="nan" if i > 2 else "1.5") for i in (1, 2, 3, 4)))
    assert shown(path) == [("nonfinite_grad_norm", (
        "2 of 4 gradient norms are NaN or Inf, not explained by the log: steps 3, 4."), 3)]
    norms = read_file(path).values["grad_norm"]
    assert (norms["nonfinite"], norms["explained"], norms["first"]) == (2, 0, 1.5)


def test_many_steps_are_named_by_the_first_ones_and_the_last(written):
    path = written("".join(HF.format(i=i, norm="nan") for i in range(1, 13)))
    assert shown(path)[0][1].endswith(
        "by the log: steps 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, … 12 (12 in all).")


@pytest.mark.parametrize("text", [
    # the loss scale is lowered at that step
    "".join(MEGATRON.format(i=i, norm=n, scale=s, skipped=0)
            for i, n, s in ((1, 1.5, 65536.0), (2, "nan", 32768.0), (3, 1.5, 32768.0))),
    "".join(MMENGINE.format(i=i, norm=n, scale=f"  loss_scale: {s}")
            for i, n, s in ((1, 1.5, 65536.0), (2, "nan", 32768.0), (3, 1.5, 32768.0))),
    # the iteration is counted as skipped
    "".join(MEGATRON.format(i=i, norm=n, scale=1.0, skipped=k)
            for i, n, k in ((1, 1.5, 0), (2, "inf", 1), (3, 1.5, 0))),
    # a line says so before the record
    HF.format(i=1, norm=1.5) + OVERFLOW + HF.format(i=2, norm="nan") + HF.format(i=3, norm=1.5),
])
def test_a_skipped_update_explains_its_norm(written, text):
    path = written(text)
    (message,) = (text for code, text, _line in shown(path) if code == "nonfinite_grad_norm")
    assert message == ("1 of 3 gradient norms are NaN or Inf, explained by the log (update skipped "
                       "or loss scale lowered): step 2.")
    values = read_file(path).values
    assert (values["grad_norm"]["explained"], values["loss"]["nonfinite"]) == (1, 0)
    assert [q.value for q in quantities("training_log", values)
            if q.name == "grad_norm_mean"] == [1.5]


def test_an_explained_norm_is_no_hidden_nan_of_the_trainer(written):
    """Where a record stands for ten steps, a NaN norm that nothing explains makes its loss NaN."""
    records = [HF.format(i=10 * n, norm="nan" if n == 2 else 1.5) for n in (1, 2, 3)]
    assert read_series(written("".join(records))).losses.tolist()[0::2] == [2.5, 2.5]
    assert math.isnan(read_series(written("".join(records))).losses[1])
    records.insert(1, OVERFLOW)
    assert read_series(written("".join(records))).losses.tolist() == [2.5] * 3


def test_another_steps_overflow_explains_nothing(written):
    text = (OVERFLOW + HF.format(i=1, norm=1.5) + HF.format(i=2, norm="nan")
            + MEGATRON.format(i=3, norm=1.5, scale=1.0, skipped=1))
    assert read_file(written(text)).values["grad_norm"]["explained"] == 0


def test_zero_at_every_step_is_told(written):
    path = written("".join(HF.format(i=i, norm="0.0") for i in (1, 2, 3)))
    assert shown(path) == [("zero_grad_norm", (
        "All 3 gradient norms are 0: nothing shows that a weight was changed."), 1)]
    path = written("".join(HF.format(i=i, norm=0.5 if i == 2 else 0.0) for i in (1, 2, 3)))
    assert shown(path) == []


def test_the_mean_of_norms_of_which_one_is_nan_is_not_finite(written):
    values = read_file(written(HF.format(i=1, norm=1.5) + HF.format(i=2, norm="nan"))).values
    found, = (q.value for q in quantities("training_log", values) if q.name == "grad_norm_mean")
    assert math.isnan(found)


def test_a_log_without_a_loss_column_keeps_what_it_tells(written):
    path = written("".join(NO_LOSS.format(i=i, norm="nan", scale=1.0, skipped=0)
                           for i in (1, 2, 3)))
    values = read_file(path).values
    assert (values["loss"]["points"], values["loss"]["first"]) == (0, None)
    assert values["grad_norm"]["nonfinite"] == 3
    assert values["iteration_time_ms"]["mean"] == 7.0
    assert values["throughput"]["tflops"] == 78.5
    assert [(code, line) for code, _message, line in shown(path)] == [
        ("no_loss_points", 1), ("nonfinite_grad_norm", 1)]
    assert "loss_curve" not in {q.name for q in quantities("training_log", values)}
    with pytest.raises(ReadError, match="prints no loss column"):
        read_series(path)


def test_fp16_is_named_where_the_log_counts_skipped_iterations(written):
    text = "".join(NO_LOSS.format(i=i, norm="nan", scale=1.0, skipped=1) for i in (1, 2, 3))
    with pytest.raises(ReadError, match="fp16 skips an iteration"):
        read_file(written(text))
    cut = "".join(f" iteration {i}/ 9 | learning rate: 1.0E-04 |\n" for i in (1, 2, 3))
    with pytest.raises(ReadError, match="No iteration of the log prints a loss"):
        read_file(written(cut))


@pytest.mark.parametrize(("reader", "line"), [
    ("imagenet_style_log", "Train: [0/300][{i}/1251]\teta 2:00:00 lr 0.000001\t wd 0.0500\ttime "
     "0.3 (0.4)\tloss 6.9082 (6.9312)\tgrad_norm nan (nan)\tloss_scale 65536.0 (65536.0) mem 9M\n"),
    ("imagenet_style_log", "Epoch: [0]  [{i}/625]  eta: 0:10:00  lr: 0.000001  loss: 6.9 (6.9)  "
     "grad_norm: nan (nan)  time: 0.5  data: 0.1  max mem: 900\n"),
    ("progress_bar_log", "Training steps:   {i}%|█ | {i}/100 [01:54<00:59, 1.2s/it, "
     "train_grad_norm=nan, train_lr=0, train_loss=1.57]\n"),
    ("wenet_log", "2024-01-02 03:04:05,678 DEBUG TRAIN Batch 0/{i}00 loss 12.3 loss_att 10.1 lr "
     "0.00010000 grad_norm nan rank 0\n"),
    ("text_training_log", "step {i} | loss: 10.955 | lr 6.0e-04 | norm: nan | dt: 338ms\n"),
    ("text_training_log", "step: {i} loss: 2.5 Grad Norm: nan lr: 0.1\n"),
    ("epoch_and_batch_log", "Epoch:[0/1] [{i}/128028] lr:0.1 loss: 0.17 grad_norm=nan\n"),
    ("dllogger_log", 'DLLL {{"timestamp": "1", "type": "LOG", "step": [0, {i}], "data": '
     '{{"train.loss": 8.5, "grad_norm": nan}}}}\n'),
])
def test_line_readers_read_the_norm_where_the_tool_prints_one(written, reader, line):
    reading = read_file(written("".join(line.format(i=i) for i in (1, 2, 3))))
    assert (reading.reader, reading.values["grad_norm"]["nonfinite"]) == (reader, 3)


def test_a_limit_for_the_norm_is_none(written):
    line = "step: {i} loss: 2.5 max_grad_norm: 1.0 grad_norm_clip: 1.0 layernorm: 2\n"
    reading = read_file(written("".join(line.format(i=i) for i in (1, 2, 3))))
    assert reading.values["grad_norm"] is None


@pytest.mark.parametrize("text", [
    "step,loss,grad_norm\n1,2.5,nan\n2,2.25,1.5\n",
    '{"step": 1, "loss": 2.5, "grad_norm": NaN}\n{"step": 2, "loss": 2.25, "grad_norm": 1.5}\n',
    '{"lm loss": [2.5, 2.25], "grad norm": [NaN, 1.5]}',
])
def test_tables_and_json_tell_their_norms(written, text):
    assert [code for code, *_rest in shown(written(text))] == ["nonfinite_grad_norm"]
