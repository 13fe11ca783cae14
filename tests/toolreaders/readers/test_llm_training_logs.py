"""NeMo 2, XTuner and the stages of DeepSpeed-Chat; times of a step as each tool prints them."""

import gzip

import pytest

from toolreaders import ReadError, read_file
from toolreaders.training.series import read_series

NEMO = ("Training epoch {e}, iteration {i}/4 | lr: 0.0006 | consumed_samples: 32 | "
        "global_batch_size: 8 | global_step: {g} | reduced_train_loss: {loss} | "
        "train_step_timing in s: {t} | val_loss: 9.5\n")
XTUNER = ("[XTuner][RANK {rank}][2026-01-02 03:04:05][INFO] [Train] (Epoch {e}) Step {i}/30  lr: "
          "0.00002  loss: {loss}  loss(reduced): 9.125  grad_norm: 1.25  max_memory: 31.5GB  "
          "text_tokens: 4096  tgs: 1500  data_time: 9.01s  time: {t}s  eta: 0:11:10\n")
LATENCY = ("End-to-End => Latency: 2.50s, TFLOPs: 10.1, Samples/sec: 12.8, Time/seq 0.08s\n"
           "Generation => Latency: 9.50s, Per-token Latency 9.10 ms\n")


def codes(reading):
    return [warning.code for warning in reading.warnings]


def test_nemo_counts_its_steps_over_the_epochs(written):
    text = "".join(
        NEMO.format(e=e, i=i, g=5 * e + i, loss=9 - e - i / 8, t=0.5)
        for e in (0, 1) for i in range(5))
    reading = read_file(written(text))
    series = read_series(written(text))
    assert (reading.reader, reading.tool, series.steps.tolist()) == (
        "nemo_log", "NeMo", list(range(10)))
    assert series.losses[5] == 8
    assert (series.step_base, series.unprovable, codes(reading)) == (0, None, [])
    assert reading.values["iteration_time_ms"]["mean"] == 500
    assert "total_steps" not in reading.values
    first = read_file(written(text[: text.index("Training epoch 1")]))
    assert first.values["total_steps"] == 5


def test_nemo_without_a_global_step_is_proven_from_its_first_epoch_alone(written):
    line = NEMO.replace(" | global_step: {g}", "")
    def text(epochs):
        return "".join(line.format(e=e, i=i, loss=2.5, t=1) for e in epochs for i in range(5))
    whole, cut = read_series(written(text((0, 1)))), read_series(written(text((1, 2))))
    assert (whole.steps.tolist(), whole.unprovable) == (list(range(10)), None)
    assert cut.unprovable == "steps_unproven"


def test_nemo_behind_the_prefix_of_torchx(written):
    text = "".join(f"pretraining/0 [default{rank}]:" + NEMO.format(e=0, i=i, g=i, loss=rank, t=1)
                   for i in range(5) for rank in (0, 1))
    series = read_series(written(text))
    assert (series.steps.tolist(), set(series.losses)) == (list(range(5)), {0.0})


def test_xtuner(written):
    text = "".join(XTUNER.format(rank=rank, e=1 + i // 11, i=i, loss=f"{3 - i / 10:.2f}", t=1.5)
                   for i in range(1, 21) for rank in (0, 1))
    reading = read_file(written(text))
    values = reading.values
    assert (reading.reader, values["loss"]["last_step"], values["loss"]["last"]) == (
        "xtuner_log", 20, 1.0)
    assert (values["iteration_time_ms"]["mean"], values["total_steps"]) == (1500, 30)
    assert values["memory"]["peak_allocated_mb"] == 31.5 * 1024
    assert values["throughput"]["tokens_per_second"] == 1500
    assert codes(reading) == ["interleaved_ranks"]


def test_xtuner_of_mmengine(written):
    text = "".join(
        f"2026/01/02 03:04:05 - mmengine - INFO - Iter(train) [ {i:3}/1000]  lr: 1.0e-05  eta: "
        f"1:00:00  time: 3.25  data_time: 0.01  memory: 9000  loss: {3 - i / 100}\n"
        for i in range(10, 101, 10))
    values = read_file(written(text)).values
    assert (values["loss"]["last_step"], values["iteration_time_ms"]["mean"]) == (100, 3250)


SUPERVISED = ("***** Running training *****\nBeginning of Epoch 1/2, Total Micro Batches 4\n"
              + "".join(f"Epoch: 0, Step: {i}, Rank: {r}, loss = {3 - i / 4 + r}\n"
                        f"Model Parameters: 1.3 B, Latency: 0.50s, TFLOPs: 9.1\n"
                        for i in range(4) for r in (0, 1))
              + "ppl: 4.5, loss: 1.5\nBeginning of Epoch 2/2, Total Micro Batches 4\n"
              + "".join(f"Epoch: 1, Step: {i}, Rank: {r}, loss = tensor({2 - i / 4 + r}, "
                        "device='npu:0')\n" for i in range(4) for r in (0, 1)))
REWARD = ("Beginning of Epoch 1/2, Total Micro Batches 900\nEpoch 1/2 with loss 0.625\n"
          "***** Evaluating reward, Epoch 1/2 *****\n"
          "chosen_last_scores (higher is better) : 1.5, acc (higher is better) : 0.75\n"
          "Epoch 2/2 with loss 0.5\n")
ACTOR_2023 = "".join(
    f"epoch: 0|step: {i}|ppo_ep: 1|act_loss: {0.5 - i / 8}|cri_loss: 0.25|unsuper_loss: 0.0\n"
    f"average reward score: {i}\n" for i in range(4)) + (
    "|E2E latency=2.50s |Gather latency=0.00s (0.00%) |Generate time=1.59s (75.13%)\n")
ACTOR = "".join(
    f"Epoch: 0 | Step: {i} | PPO Epoch: 1 | Actor Loss: {0.5 - i / 8} | Critic Loss: 0.25 | "
    f"Unsupervised Loss: 0.0\n{LATENCY}Average reward score: {i} | EMA reward score: 9\n"
    for i in range(4))


def test_supervised_stage_of_deepspeed_chat(written):
    reading, series = read_file(written(SUPERVISED)), read_series(written(SUPERVISED))
    assert (reading.reader, series.steps.tolist()) == ("deepspeed_chat_log", list(range(8)))
    assert series.losses.tolist() == [3, 2.75, 2.5, 2.25, 2, 1.75, 1.5, 1.25]
    assert series.unprovable is None
    assert reading.values["iteration_time_ms"]["mean"] == 500


def test_reward_stage_of_deepspeed_chat(written):
    reading, series = read_file(written(REWARD)), read_series(written(REWARD))
    assert (series.steps.tolist(), series.losses.tolist()) == ([1, 2], [0.625, 0.5])
    assert (series.step_unit, series.meaning) == ("epoch", "window_mean")
    assert reading.values["evaluation"] == {"chosen_score": 1.5, "accuracy": 0.75}


@pytest.mark.parametrize("text", [ACTOR, ACTOR_2023])
def test_actor_of_deepspeed_chat(written, text):
    reading, series = read_file(written(text)), read_series(written(text))
    assert (series.steps.tolist(), series.losses.tolist()) == (
        [0, 1, 2, 3], [0.5, 0.375, 0.25, 0.125])
    metrics = reading.values["metrics"]
    assert (metrics["critic_loss"]["mean"], metrics["reward_score"]["last"]) == (0.25, 3)
    assert reading.values["iteration_time_ms"]["mean"] == 2500


def test_a_stage_that_prints_no_loss_of_a_step(written):
    text = ("Beginning of Epoch 1/1, Total Micro Batches 9\nModel Parameters: 1.3 B, "
            "Latency: 0.52s, TFLOPs: 120\n***** Evaluating perplexity, Epoch 1/1 *****\n"
            "ppl: 4.5, loss: 1.5\n")
    reading = read_file(written(text))
    assert (reading.values["loss"], reading.values["evaluation"]) == (
        None, {"perplexity": 4.5, "eval_loss": 1.5})
    assert codes(reading) == ["no_loss_points"]
    with pytest.raises(ReadError, match="no_loss_points"):
        read_series(written(text))


def lines(form, steps):
    return "".join(form.format(i=i, loss=3 - i / 1000) for i in steps)


TIMES = {
    "tf.estimator, time since the last record": (
        lines("INFO:tensorflow:loss = {loss}, step = {i} (2.5 sec)\n", range(100, 1001, 100)), 25),
    "TF-slim": (lines("INFO:tensorflow:global step {i}: loss = {loss} (0.604 sec/step)\n",
                      range(10, 101, 10)), 604),
    "DeepLab": (lines("step {i} \t loss = {loss}, (1.019 sec/step)\n", range(1, 9)), 1019),
    "MindSpore": (lines("epoch: 1 step: {i}, loss is {loss}\n", range(1, 9))
                  + "Train epoch time: 660.0 ms, per step time: 82.5 ms\n", 82.5),
    "MindFormers": (lines("INFO - {{ Epoch:[  1/  2], step:[ {i}/ 1000], loss: {loss:.3f}, "
                          "per_step_time: 82ms, lr: 0.0 }}\n", range(20, 201, 20)), 82),
    "MindFormers, both times": (
        lines("INFO - Epoch:[  1/  2], step:[ {i}/ 1000], loss:[{loss:.3f}/9.0], time:1640.0 ms, "
              "lr:0.0\n", range(20, 201, 20))
        + "INFO - epoch time: 82500.0 ms, per step time: 82.5 ms\n", 82.5),
    "OpenPCDet, batch time behind data time": (
        lines("INFO  Train: 1/3 ( 33%) [ {i}/323 ( 15%)]  Loss: {loss} (9.7)  LR: 1.3e-04  Data "
              "time: 0.01(0.02)  Forward time: 0.31(0.29)  Batch time: 0.32(0.31)\n",
              range(0, 300, 50)), 320),
    "LiBai": (lines("[01/02 03:04:05 lb.utils.events]:  eta: 1:00:38  iteration: {i}/1000  "
                    "consumed_samples: 80  total_loss: {loss}  time: 7.5 s/iter  data_time: 9.0021 "
                    "s/iter total_throughput: 0.53 samples/s lr: 1.50e-04\n", range(19, 200, 20)),
              7500),
}


@pytest.mark.parametrize("name", TIMES)
def test_the_time_is_that_of_one_step(written, name):
    text, milliseconds = TIMES[name]
    times = read_file(written(text)).values["iteration_time_ms"]
    assert times["mean"] == pytest.approx(milliseconds)


def test_a_time_that_may_be_of_one_step_or_of_many_is_none(written):
    text, _milliseconds = TIMES["MindFormers, both times"]
    reading = read_file(written(text[: text.index("INFO - epoch time")]))
    assert "iteration_time_ms" not in reading.values
    assert codes(reading) == ["time_span_unknown"]


def test_the_length_of_an_epoch_follows_from_its_times(written):
    epoch = "".join(f"epoch: {{e}} step: {i}, loss is 2.5\n" for i in (4, 8))
    time = "Train epoch time: 831.0 ms, per step time: 83.1 ms\n"
    proven = "".join(epoch.format(e=e) + time for e in (1, 2))
    series = read_series(written(proven))
    assert (series.steps.tolist(), series.unprovable) == ([4, 8, 14, 18], None)
    assumed = read_series(written(proven.replace(time, "")))
    assert assumed.unprovable == "steps_unproven"
    late = read_series(written("".join(epoch.format(e=e) + time for e in (3, 4))))
    assert late.unprovable == "steps_unproven"


@pytest.mark.parametrize("text", [SUPERVISED, REWARD, ACTOR, TIMES["TF-slim"][0]])
def test_packed_logs(written, text):
    packed = read_file(written(gzip.compress(text.encode()), "packed"))
    assert packed.values == read_file(written(text)).values
