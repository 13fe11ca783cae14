"""Training logs of toolkits and examples that print in a form of their own."""

import pytest

from toolreaders import ReadError, read_file
from toolreaders.training.series import read_series

WORDS = "iter_time=0.003, loss_ctc=57.480, loss_att=22.114, acc=4.043e-04"
LOGS = {
    "espnet": (
        "[h] 2026-04-23 04:59:09,396 (trainer:318) INFO: 1/30epoch started\n"
        f"[h] 2026-04-23 04:59:25,764 (trainer:793) INFO: 1epoch:train:1-90batch: {WORDS}, "
        "loss=80.856, grad_norm=5.5, train_time=0.504\n"
        f"[h] 2026-04-23 04:59:25,764 (trainer:793) INFO: 1epoch:train:91-180batch: {WORDS}, "
        "loss=70.5, grad_norm=4.5, train_time=0.404\n"
        f"[h] 2026-04-23 04:59:25,764 (trainer:793) INFO: 2epoch:train:1-90batch:90num_updates: "
        f"{WORDS}, loss=60.25, grad_norm=3.5, train_time=0.404\n"),
    "wenet": (
        "2026-06-01 10:00:00,1 DEBUG TRAIN Batch 0/0 loss 314.5 loss_att 92.1 lr 0.1 rank 0\n"
        "2026-06-01 10:00:00,2 DEBUG TRAIN Batch 0/0 loss 310.5 loss_att 92.1 lr 0.1 rank 1\n"
        "2026-06-01 10:01:00,1 DEBUG TRAIN Batch 0/100 loss 214.5 loss_att 92.1 lr 0.1 rank 0\n"
        "2026-06-01 10:01:00,1 DEBUG CV Batch 0/0 loss 14.5 history loss 14.5 rank 0\n"
        "2026-06-01 10:01:00,1 DEBUG TRAIN Batch 1/0 loss 114.5 loss_att 92.1 lr 0.1 rank 0\n"),
    "darknet": (
        "Loaded: 0.000027 seconds\n\n"
        " 1: 4173.5, 4173.5 avg loss, 0.000000 rate, 12.09 seconds, 32 images, -1.0 hours left\n"
        " 2: 4149.25, 4171.4 avg, 0.000000 rate, 11.80 seconds, 64 images\n"
        " 3: -nan, -nan avg loss, 0.001000 rate, 12.40 seconds, 96 images, 5.0 hours left\n"),
    "nnunet": (
        "2026-03-01 22:05:50.045034: Epoch 0 \n"
        "2026-03-01 22:08:05.183549: train_loss -0.6752 \n"
        "2026-03-01 22:08:05.183808: val_loss -0.4224 \n"
        "2026-03-01 22:08:05.045034: Epoch 1 \n"
        "2026-03-01 22:10:05.183549: train_loss -0.6852 \n"
        "2026-03-01 22:10:05.183808: val_loss -0.4324 \n"),
    "nnunet of 2021": (
        "2026-03-01 22:05:50.045034: \nepoch:  0\n"
        "2026-03-01 22:08:05.183549: train loss : 4.1443\n"
        "2026-03-01 22:08:05.183808: validation loss: 2.6799\n"
        "2026-03-01 22:08:06.045034: \nepoch:  1\n"
        "2026-03-01 22:10:05.183549: train loss : 3.5\n"
        "2026-03-01 22:10:05.183808: validation loss: 2.5\n"),
    "arcface": "".join(
        f"Training: 2026-01-01 00:00:00,1-Speed 2271.5 samples/sec   Loss {loss}   LearningRate "
        f"0.2000   Epoch: 0   Global Step: {step}   Fp16 Grad Scale: 65536\n"
        for step, loss in ((100, 30.5), (150, 29.25), (200, 28.0))),
    "language model": (
        "| epoch   1 |   200/  400 batches | lr 20.00 | ms/batch  7.91 | loss  7.63 | ppl  2064\n"
        "| epoch   1 |   400/  400 batches | lr 20.00 | ms/batch  7.93 | loss  6.86 | ppl   950\n"
        "| end of epoch   1 | time:  5.00s | valid loss  6.25 | valid ppl   518\n"
        "| epoch   2 |   200/  400 batches | lr 20.00 | ms/batch  7.91 | loss  6.47 | ppl   645\n"),
    "transformer xl": (
        "| epoch   1 step      499 | batches    499 / 16802 | lr 4.990e-03 | ms/batch 219.9 | "
        "tok/s   27947 | loss  6.43 | ppl    620.80\n"
        "| epoch   1 step     1000 |   1000 batches | lr 0.00025 | ms/batch 221.4 | loss  6.25\n"),
    "dlrm": (
        "Finished training it 1024/2048 of epoch 0, 25.30 ms/it, loss 0.451893, accuracy 0.000%\n"
        "Finished training it 2048/2048 of epoch 0, 24.30 ms/it, loss 0.402002, accuracy 0.000%\n"
        "Finished training it 1024/2048 of epoch 1, 24.20 ms/it, loss 0.275460, accuracy 0.000%\n"),
    "brackets": (
        "Epoch:[0/2] [200/400]  eta: 1:28:44  loss: 0.1782  step_time: 0.041657  lr: 0.8794\n"
        "Epoch:[0/2] [400/400]  eta: 1:25:15  loss: 0.1403  step_time: 0.038504  lr: 1.7544\n"
        "Epoch:[1/2] [200/400]  eta: 1:23:56  loss: 0.1384  step_time: 0.038422  lr: 2.6294\n"),
    "batches": "".join(
        f"[Epoch {epoch}/200 Batch {batch}/97] Loss={loss}.\n"
        for epoch, batch, loss in ((1, 10, 1.00723), (1, 20, 0.89159), (2, 10, 0.8209))),
    "dllogger": "".join(
        f'DLLL {{"timestamp": "1.5", "type": "LOG", "step": {step}, "data": {data}}}\n'
        for step, data in (
            ('"PARAMETER"', '{"lr": 0.1}'), ("[0, 5]", '{"train.loss": 8.5, "train.total_ips": 9}'),
            ("[0, 10]", '{"train.loss": 8.25, "train.total_ips": 9.0}'),
            ("[1, 5]", '{"train.loss": 7.5, "train.total_ips": 9.0}'), ("[0]", '{"val.loss": 1}'))),
    "keras of one line an epoch": (
        "Epoch 1/50\n391/391 - 235s - loss: 0.3362 - val_loss: 0.1427\n"
        "Epoch 2/50\n391/391 - 58s - loss: 0.0232 - val_loss: 0.0094\n"),
    "validation behind": "".join(
        f"Iter: {step:6}, Train Loss: {loss:6}, Train Acc: 10.94%, Val Loss: 2.5, Val Acc: 8%\n"
        for step, loss in ((0, 2.25), (100, 0.88), (200, 0.38))),
    "several losses": "".join(
        f"Epoch: {i:04} | kl-loss: 5.6560 + rec-loss: 0.0371 = total-loss: {loss}\n"
        for i, loss in ((0, 0.044), (1, 0.0427))),
    "tensors of MindSpore": "".join(
        f"epoch[0], iter[{step}], loss:(Tensor(shape=[], dtype=Float32, value= {loss}), Tensor("
        "shape=[], dtype=Bool, value= False)), cur_lr:0.000660\n"
        for step, loss in ((100, 50.25), (200, 49.5), (300, 48.75))),
}
EXPECTED = {
    "espnet": ("espnet_log", [90, 180, 270], [80.856, 70.5, 60.25]),
    "wenet": ("wenet_log", [0, 100, 101], [314.5, 214.5, 114.5]),
    "darknet": ("darknet_log", [1, 2, 3], [4173.5, 4149.25, float("nan")]),
    "nnunet": ("nnunet_log", [0, 1], [-0.6752, -0.6852]),
    "nnunet of 2021": ("nnunet_log", [0, 1], [4.1443, 3.5]),
    "arcface": ("arcface_log", [100, 150, 200], [30.5, 29.25, 28.0]),
    "language model": ("word_language_model_log", [200, 400, 600], [7.63, 6.86, 6.47]),
    "transformer xl": ("transformer_xl_log", [499, 1000], [6.43, 6.25]),
    "dlrm": ("dlrm_log", [1024, 2048, 3072], [0.451893, 0.402002, 0.27546]),
    "brackets": ("epoch_and_batch_log", [200, 400, 600], [0.1782, 0.1403, 0.1384]),
    "batches": ("epoch_and_batch_log", [10, 20, 107], [1.00723, 0.89159, 0.8209]),
    "dllogger": ("dllogger_log", [5, 10, 15], [8.5, 8.25, 7.5]),
    "keras of one line an epoch": ("keras_progress_log", [391, 782], [0.3362, 0.0232]),
    "validation behind": ("text_training_log", [0, 100, 200], [2.25, 0.88, 0.38]),
    "several losses": ("epoch_training_log", [0, 1], [0.044, 0.0427]),
    "tensors of MindSpore": ("text_training_log", [100, 200, 300], [50.25, 49.5, 48.75]),
}


@pytest.mark.parametrize("name", LOGS)
def test_the_losses_of_a_log(written, name):
    path = written(LOGS[name])
    reader, steps, losses = EXPECTED[name]
    series = read_series(path)
    assert (read_file(path).reader, series.steps.tolist()) == (reader, steps)
    assert series.losses.tolist() == pytest.approx(losses, nan_ok=True)


@pytest.mark.parametrize(("name", "codes"), [
    ("espnet", ["steps_counted_on"]), ("dllogger", ["steps_counted_on"]),
    ("wenet", ["interleaved_ranks", "steps_counted_on"]), ("darknet", ["nonfinite_loss"])])
def test_what_was_assumed_is_told(written, name, codes):
    assert [warning.code for warning in read_series(written(LOGS[name])).warnings] == codes


def test_times_of_a_log(written):
    times = {name: read_file(written(LOGS[name])).values["iteration_time_ms"]["mean"]
             for name in ("dlrm", "brackets", "language model")}
    assert times == pytest.approx({"dlrm": 24.6, "brackets": 39.527667, "language model": 7.916667})


EXPORT = "Wall time,Step,Value\n1.5,0,0.25\n2.5,1,0.5\n3.5,2,0.75\n"


@pytest.mark.parametrize("name", ["export.csv", "run-1-tag-HR.csv", "run-1-tag-val_loss.csv"])
def test_an_export_of_tensorboard_that_no_tag_calls_a_loss_is_none(tmp_path, name):
    (tmp_path / name).write_text(EXPORT)
    with pytest.raises(ReadError, match="unnamed_values"):
        read_file(tmp_path / name)


@pytest.mark.parametrize("name", ["run-1-tag-train_loss.csv", "run-a-tag-loss.csv"])
def test_an_export_of_tensorboard_is_a_loss_by_its_tag(tmp_path, name):
    (tmp_path / name).write_text(EXPORT)
    reading = read_file(tmp_path / name)
    assert (reading.values["loss"]["first"], reading.warnings) == (0.25, [])


@pytest.mark.parametrize("text", [
    "INFO:tensorflow:Eval results: {'loss': 2.10, 'top_1': 0.76, 'global_step': 218750}.\n",
    "root@h:~# ./fmk -b 8 -m ./TensorFlow_8.om -i ./a_1.5.bin,./pytorch_2.5.bin,./b -o ./"
    + "c" * 60 + "\n2026-03-31 11:25:01.856 - I: Model file is 1.5, read from 2.5, to 3.5\n"])
def test_neither_a_training_log_nor_a_table_of_versions(written, text):
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written(text))
