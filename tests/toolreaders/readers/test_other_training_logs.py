"""Training logs as other releases and tools print them: lines in the form of each tool's source."""

import math

import pytest

from toolreaders import read_file
from toolreaders.training.series import read_series

OLD_MEGATRON = ("iteration {i:8d}/  500000 | elapsed time per iteration (ms): 512.3 | "
                "learning rate 1.500E-04 | lm loss {loss:.6E} | loss scale 1.0 |\n")
MEANS = ("[2026-01-01 10:00:00] iteration {i:8d}/    100 | consumed samples: {i} | elapsed time "
         "per iteration (ms): 2716.0/2700.5 | global batch size: 16 | lm loss: {loss:.6E} |\n")
LINES = {
    "Megatron-LM 1": (OLD_MEGATRON, "megatron_log", 1),
    "Megatron means": (MEANS, "megatron_log", 1),
    "MindSpeed-MM": ("[Rank 0 | Local Rank 0] INFO => iteration {i}/ 100 | elapsed time per "
                     "iteration (ms): 7.0 | loss: {loss:.6E} | grad norm: 1.0 |\n",
                     "megatron_log", 1),
    "MindFormers 0.3": ("INFO - Epoch:[  1/  2], step:[ {i:4d}/ 1000], loss:[{loss:.3f}/9.0], "
                        "time:3021.000 ms, lr:0.0, overflow cond: False\n", "mindformers_log", 1),
    "NeMo": ("Epoch 0: 1%| | 1/500 [00:10<00:00, reduced_train_loss={loss:.3f}, "
             "global_step={i}.0, consumed_samples=16.0]\r", "text_training_log", 0),
    "DeepSpeed": ("steps: {i} loss: {loss:.4f} iter time (s): 1.500 samples/sec: 12.97\n",
                  "text_training_log", 1),
    "TF controller": ("I0721 train | step: {i:6d} | steps/sec: 6.0 | output: "
                      "{{'train_loss': {loss}}}\n", "text_training_log", 1),
    "fairseq JSON": ('2026 | INFO | train_inner | {{"epoch": 1, "loss": "{loss:.3f}", "nll_loss": '
                     '"9", "num_updates": "{i}", "gnorm": "3.1"}}\n', "fairseq_log", 1),
    "fairseq text": ("2026 | INFO | train_inner | epoch 001: 1 / 9 loss={loss:.3f}, nll_loss=9, "
                     "num_updates={i}, gnorm=3.1\n", "fairseq_log", 1),
    "PyTorch tutorial": ("[1, {i:5d}] loss: {loss:.3f}\n", "pytorch_tutorial_log", 1),
    "PaddleNLP": ("[2026-01-01 10:00:00,123] [    INFO] - loss: {loss:.6f}, learning_rate: 1e-05, "
                  "global_step: {i}, interval_samples_per_second: 7.6\n", "paddle_log", 1),
    "verl": ("(TaskRunner pid=7) step:{i} - global_seqlen/min:1.0 - actor/pg_loss:{loss:.3f} - "
             "actor/grad_norm:np.float64(0.5) - critic/score/mean:0.25\n", "verl_log", 1),
    "verl fine-tuning": ("step:{i} - train/loss:{loss:.3f} - train/lr(1e-3):0.1\n", "verl_log", 1),
    "Lightning": ("\rEpoch 0:  9%|▉    | {i}/10 [00:01<00:10, 9.0it/s, v_num=0, "
                  "train_loss={loss:.3f}, val_loss=9.0]", "progress_bar_log", 1),
    "diffusers": ("\rSteps:  3%|▎    | {i}/500 [00:01<01:23, 1.10it/s, lr=1e-5, "
                  "step_loss={loss:.3f}]", "progress_bar_log", 1),
    "loss before the bar": ("\rEpoch 1 loss: {loss:.3f}:  3%|▎    | {i}/500 [00:01<01:23]",
                            "progress_bar_log", 1),
    "steps: percent": ("\rsteps:  3%|▎    | {i}/500 [00:01<01:23, 1.1it/s, loss={loss:.3f}]",
                       "progress_bar_log", 1),
    "one line per epoch": ("Epoch {i}: train_loss={loss:.2f}, val_loss=0.8\n",
                           "epoch_training_log", 1),
}


@pytest.mark.parametrize("name", LINES)
def test_lines_of_each_tool(written, name):
    line, reader, base = LINES[name]
    text = "".join(line.format(i=step, loss=3 - step / 8) for step in range(1, 9))
    reading = read_file(written(text))
    loss = reading.values["loss"]
    assert (reading.reader, reading.values["step_base"]) == (reader, base)
    assert (loss["first_step"], loss["last_step"], loss["points"]) == (1, 8, 8)
    assert loss["first"] == pytest.approx(2.875, abs=0.006)
    assert loss["last"] == pytest.approx(2.0, abs=0.006)


@pytest.mark.parametrize(("name", "milliseconds"), [
    ("Megatron means", 2716.0), ("DeepSpeed", 1500.0), ("MindFormers 0.3", 3021.0)])
def test_iteration_times_of_each_tool(written, name, milliseconds):
    text = "".join(LINES[name][0].format(i=step, loss=2.0) for step in range(1, 9))
    assert read_file(written(text)).values["iteration_time_ms"]["mean"] == milliseconds


def test_deepspeed_rate_is_not_its_iteration_time(written):
    text = "".join(LINES["DeepSpeed"][0].format(i=step, loss=2.0) for step in range(1, 9))
    assert read_file(written(text)).values["throughput"]["samples_per_second"] == \
        pytest.approx(12.97)


def test_keras_progress_counts_on_over_the_epochs(written):
    text = "".join(f"Epoch {epoch}/2\n" + "".join(
        f"{batch}/100 [==>.....] - ETA: 1:00 - loss: {3 - batch / 100}\n" for batch in (50, 100))
        for epoch in (1, 2))
    series = read_series(written(text))
    assert series.steps.tolist() == [50, 100, 150, 200]
    assert series.meaning == "running_mean"


@pytest.mark.parametrize("norm", ["np.float64(nan)", "tensor(nan, device='npu:0')"])
def test_wrapped_numbers_of_trainer(written, norm):
    text = "".join(
        f"{{'loss': {0.0 if step > 5 else 2.0}, 'grad_norm': {norm if step > 5 else 1.5}, "
        f"'epoch': {step / 100}, 'step': {step}}}\n" for step in range(1, 9))
    series = read_series(written(text))
    assert [math.isnan(loss) for loss in series.losses] == [False] * 5 + [True] * 3
    assert "hidden_nan" in {warning.code for warning in series.warnings}


def test_a_cut_iteration_names_its_line(written):
    text = "".join(OLD_MEGATRON.format(i=step, loss=2.0) for step in range(1, 5))
    (warning,) = read_series(written(text + "iteration        5/  500000 | elapsed")).warnings
    assert (warning.code, warning.line) == ("truncated_record", 5)


def test_iterations_skipped_for_overflow_are_named(written):
    skipped = "iteration {i}/ 9 | elapsed time per iteration (ms): 5.0 | loss scale: 65536.0 |\n"
    text = "".join((OLD_MEGATRON if step > 2 else skipped).format(i=step, loss=2.0)
                   for step in range(1, 7))
    series = read_series(written(text))
    assert series.steps.tolist() == [3, 4, 5, 6]
    assert [warning.code for warning in series.warnings] == ["skipped_iterations"]


def test_a_wrapped_record_is_one(written):
    text = "".join(
        f" iteration {step}/50 | consumed samples: 1 | elapsed time per iteration (ms): 5.0 |\n"
        f" learning rate: 4.6E-05 | global batch size: 8 | lm loss: {9 - step}.0 | skipped: 0 |\n"
        f" grad norm: 2.475 | number of nan iterations: 0 |\n" for step in range(1, 4))
    series = read_series(written(text + "time (ms)\n"))
    assert (series.losses.tolist(), series.warnings) == ([8.0, 7.0, 6.0], [])
    assert series.norms.values[-1] == 2.475


def test_golden_values_as_a_list(written):
    text = ('{"lm loss": {"start_step": 0, "end_step": 50, "step_interval": 5, '
            '"values": [10.8, 10.7, 10.5]}, "iteration_timing_avg": 0.07}')
    series = read_series(written(text))
    assert (series.steps.tolist(), series.step_base) == ([0, 5, 10], 0)
    assert series.losses.tolist() == [10.8, 10.7, 10.5]


def test_the_table_of_a_notebook(written):
    text = "Step\tTraining Loss\tValidation Loss\n500\t2.5\tNo log\n1000\t2.25\t2.4\n"
    assert read_series(written(text)).losses.tolist() == [2.5, 2.25]


BETWEEN = {
    "PaddleDetection": ("ppdet.engine INFO: Epoch: [{e}] [ {i}/60] learning_rate: 0.1 loss_cls: "
                        "1.03 loss: {loss:.6f} eta: 1:02:03 batch_cost: 0.25 ips: 25.5 images/s\n",
                        "smoothed", 0),
    "PaddleClas": ("ppcls INFO: [Train][Epoch {n}/120][Iter: {i}/60]lr(Step): 0.1, top1: 0.0, "
                   "CELoss: 9.0, loss: {loss:.5f}, batch_cost: 0.25s, ips: 25.5 samples/s\n",
                   "running_mean", 0),
    "YOLOX": ("yolox.core.trainer:270 - epoch: {n}/300, iter: {i}/60, mem: 6Mb, "
              "total_loss: {loss:.3f}, lr: 4e-05, size: 640\n", "point", 0),
    "Lightning": ("\rEpoch {e}:  9%|▉    | {i}/60 [00:01<00:10, v_num=0, train_loss={loss:.3f}]",
                  "point", 0),
    "MindSpore": ("epoch: [{e:3d}/ 90], step:[{i:5d}/   60], loss:[{loss:5.3f}/9.0], time:[3.2]\n",
                  "point", 0),
    "epochs of unknown length": ("epoch[{e}], iter[{i}], loss:{loss:.3f}, fps:20.1 imgs/sec\n",
                                 "point", 0),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_no_record_of_a_later_epoch_is_lost(written, name):
    line, meaning, first = BETWEEN[name]
    text = "".join(line.format(e=epoch, n=epoch + 1, i=step, loss=5 - epoch - step / 100)
                   for epoch in (0, 1) for step in (0, 20, 40))
    series = read_series(written(text))
    known = name != "epochs of unknown length"
    assert series.steps.tolist() == [0, 20, 40, *([60, 80, 100] if known else [41, 61, 81])]
    assert series.losses.tolist() == pytest.approx([5, 4.8, 4.6, 4, 3.8, 3.6])
    assert (series.meaning, int(series.steps[0])) == (meaning, first)


def test_a_bar_printed_again_counts_once_and_validation_never(written):
    bar = "\rEpoch 0:  9%|▉    | {i}/60 [00:01<00:10, v_num=0, train_loss={loss}]"
    text = "".join(bar.format(i=i, loss=1.0) + bar.format(i=i, loss=i / 8) for i in range(1, 6))
    text += "\rValidation DataLoader 0:  9%|▉    | 7/9 [00:01<00:10, loss=7.0]\n"
    series = read_series(written(text))
    assert (series.losses.tolist(), series.warnings) == ([i / 8 for i in range(1, 6)], [])


def test_what_verl_says_beside_its_loss(written):
    line = LINES["verl"][0].replace("{loss:.3f}", "{loss:.3f} - timing_s/step:2.5")
    values = read_file(written("".join(line.format(i=i, loss=1.0) for i in range(1, 9)))).values
    assert values["metrics"]["critic/score/mean"]["mean"] == 0.25
    assert (values["grad_norm"]["last"], values["iteration_time_ms"]["mean"]) == (0.5, 2500)


def test_open_clip_counts_samples(written):
    series = read_series(written("".join(
        f"2026-01-01 | INFO | Train Epoch: 0 [{seen:>5}/25600 ({seen // 256}%)] Data (t): 0.1 LR: "
        f"0.1 Contrastive_loss: 9.0 (9.0) Loss: {5 - seen / 25600} (5.0)\n"
        for seen in (256, 512, 768))))
    assert (series.step_unit, series.steps.tolist()) == ("sample", [256, 512, 768])
    assert [warning.code for warning in series.warnings] == ["steps_are_samples"]


def test_a_first_step_logged_apart_does_not_shorten_the_interval(written):
    lines = "".join(f'{{"loss": 2.5, "epoch": 0.1, "global_step/max_steps": "{step}/100"}}\n'
                    for step in (1, 5, 10))
    assert read_series(written(lines)).interval == 5


def test_a_damaged_iteration_is_not_called_skipped(written):
    text = "".join(OLD_MEGATRON.format(i=step, loss=2.0) for step in range(1, 9))
    series = read_series(written(text.replace("2.000000E+00", "2.0#0000E+00", 1)))
    assert [(w.code, w.line) for w in series.warnings] == [("damaged_lines", 1)]
    inside = text.replace(OLD_MEGATRON.format(i=4, loss=2.0), "")
    assert [(w.code, w.line) for w in read_series(written(inside)).warnings] == [
        ("missing_steps", 4)]


def test_times_and_norms_are_of_the_rank_that_counts(written):
    text = "".join(f"[default{rank}]: iteration {step}/ 9 | elapsed time per iteration (ms): "
                   f"{10 + rank}.0 | lm loss: 2.5 | grad norm: {rank}.5 |\n"
                   for step in range(1, 9) for rank in (0, 1))
    values = read_file(written(text)).values
    assert values["iteration_time_ms"]["mean"] == 10.0
    assert (values["grad_norm"]["points"], values["grad_norm"]["mean"]) == (8, 0.5)
