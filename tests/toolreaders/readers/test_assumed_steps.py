"""Step numbers that a log does not print: taken where they are proven, else only as an order."""

import time
import tracemalloc

import pytest

from toolreaders import read_file
from toolreaders.base import READERS, open_source
from toolreaders.training.series import read_series

PROVEN = {
    "epochs of printed length": (
        "Epoch [{e}/10], Step [{i}/600], Loss: {loss}\n", (1, 2), (200, 600),
        [200, 600, 800, 1200]),
    "epochs of printed length, from 0": (
        "Epoch: [{e}][{i}/100]  Time 0.3 (0.3)  Loss {loss} (2.5)\n", (0, 1), (0, 50),
        [0, 50, 100, 150]),
    "Keras": ("Epoch {e}/5\n{i}/100 [==>.....] - ETA: 1:00 - loss: {loss}\n", (3, 4), (50, 100),
              [250, 300, 350, 400]),
    "Lightning": ("\rEpoch {e}:  9%|▉    | {i}/60 [00:01<00:10, v_num=0, train_loss={loss}]",
                  (3, 4), (20, 60), [200, 240, 260, 300]),
}
ASSUMED = {
    "epochs of unknown length": ("epoch: {e} step: {i}, loss is {loss}\n", (1, 2), (100, 200)),
    "a cut log of epochs": ("Epoch [{e}/10], Step [{i}/600], Loss: {loss}\n", (4, 5), (200, 600)),
    "a cut log of batches": (
        "Epoch: [{e}][{i}/100]  Time 0.3 (0.3)  Loss {loss} (2.5)\n", (3, 4), (0, 50)),
    "PyTorch's tutorial": ("[{e}, {i:5d}] loss: {loss}\n", (1, 2), (2000, 4000)),
    "a bar of a script": (
        "\rEpoch {e}:  9%|▉    | {i}/60 [00:01<00:10, loss={loss}]", (0, 1), (20, 40)),
    "Keras without its epochs": (
        "{i}/100 [==>.....] - ETA: 1:00 - loss: {loss}\n", (1, 2), (50, 90)),
    "mmcv's JSON": ('{{"mode": "train", "epoch": {e}, "iter": {i}, "lr": 0.1, "loss": {loss}}}\n',
                    (1, 2), (50, 100)),
}


def text(form, epochs, steps):
    return "".join(form.format(e=e, i=i, loss=round(9 - e - i / 8000, 4))
                   for e in epochs for i in steps)


@pytest.mark.parametrize("name", PROVEN)
def test_steps_that_follow_from_the_log(written, name):
    form, epochs, steps, expected = PROVEN[name]
    series = read_series(written(text(form, epochs, steps)))
    assert (series.steps.tolist(), series.unprovable) == (expected, None)


@pytest.mark.parametrize("form", [
    "epoch {e} global_step {i} loss 2.5\n", "epoch: {e} step: {i}, loss is 2.5\n"])
def test_steps_that_count_over_the_epochs_are_proven(written, form):
    places = ((4, 700), (4, 800), (5, 900), (5, 1000))
    series = read_series(written("".join(form.format(e=e, i=i) for e, i in places)))
    assert (series.steps.tolist(), series.unprovable) == ([700, 800, 900, 1000], None)


@pytest.mark.parametrize("name", ASSUMED)
def test_steps_that_are_assumed_are_said_to_be(written, name):
    content = text(*ASSUMED[name])
    reading, series = read_file(written(content)), read_series(written(content))
    assert (len(series.steps), series.unprovable) == (4, "steps_unproven")
    assert reading.values["steps_proven"] is False
    assert {"steps_unproven", "steps_counted_on", "epochs_counted"} & {
        warning.code for warning in reading.warnings}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "line"), [
    ("text_training_log", "step {i}: loss = 2.5\n"),
    ("hf_trainer_console", "{{'loss': 2.5, 'epoch': 0.5, 'step': {i}}}\n"),
    ("megatron_log", "iteration {i}/ 900 | lm loss: 2.5 |\n"),
    ("nanogpt_log", "iter {i}: loss 2.5000, time 5.00ms\n"),
])
def test_losses_behind_much_chatter_are_found_in_little_memory(written, name, line):
    chatter = "INFO [worker.py:77] loading shard 5/9 of the data set, step by step\n" * 80_000
    path = written(chatter + "".join(line.format(i=i) for i in range(1, 801)))
    began = time.process_time()
    series = READERS[name].whole_series(open_source(path))
    seconds = time.process_time() - began
    tracemalloc.start()
    series = READERS[name].whole_series(open_source(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(series.steps), series.unprovable) == (800, None)
    assert peak < 16 * 1024**2
    assert seconds < 10
