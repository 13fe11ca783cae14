"""Loss curves of genuine logs, and what real runs do to them."""

import math

import numpy as np
import pytest

from toolreaders import ReadError, read_file
from toolreaders.training.series import read_series

# file: points, first step, last step, first, last, mean of the finite values
GENUINE = {
    "megatron_r0.10_llama2-7b_4090x8_1node.log": (10, 1, 10, 10.45013, 9.619979, 10.2311214),
    "flagscale_qwen3_ascend_1card_excerpt.log": (2, 3, 4, 11.07468, 10.44366, 10.75917),
    "mindspeed_llm_fsdp2_excerpt.log": (3, 1, 3, 1.304194, 1.134654, 1.223688333),
    "v4_gpt2_fp32.stdout.log": (251, 1, 2500, 4.126, 1.8527, 2.1449183266932277),
    "lightning_plS.metrics.csv": (470, 4, 2349, 2.2791717052, 0.0341516845, 0.1996112117306032),
    "imagenet_S_bf16.log": (230, 0, 2110, 2.4097, 0.00022105, 0.028356507726086957),
    "mmS.scalars.json": (180, 10, 2108, 2.144498121738434, 0.5184881925582886, 0.5530363138847881),
    "qwen3_8b_tp2_pp4_vpp2_swap.json": (15, 1, 15, 16.60145, 15.80348, 16.217844),
    "ng_bf16_int10.log": (301, 0, 3000, 4.1818, 1.818, 2.053974418604651),
    "mindformers_r1.x_llama2_13b_worker0_excerpt.log": (5, 1, 5, 10.649, 8.867, 9.8218),
    "mindformers_2026_dynamic_graph_excerpt.log": (2, 1, 2, 11.813965, 11.755612, 11.7847885),
}


@pytest.mark.parametrize("name", GENUINE)
def test_genuine_curves(sample, name):
    reading = read_file(sample(f"training/{name}"))
    loss = reading.values["loss"]
    points, first_step, last_step, first, last, mean = GENUINE[name]
    assert reading.kind == "training_log"
    assert (loss["points"], loss["first_step"], loss["last_step"]) == (
        points,
        first_step,
        last_step,
    )
    assert (loss["first"], loss["last"], loss["mean"]) == pytest.approx(
        (first, last, mean), rel=1e-9
    )
    assert (loss["nonfinite"], loss["first_nonfinite_step"]) == (0, None)


@pytest.mark.parametrize(
    ("name", "meaning", "interval", "base"),
    [
        ("v4_gpt2_fp32.stdout.log", "window_mean", 10, 1),
        ("ng_bf16_int10.log", "point", 10, 0),
        ("mmS.scalars.json", "smoothed", 10, 1),
        ("imagenet_S_bf16.log", "point", 10, 0),
        ("lightning_plS.metrics.csv", "point", 5, 0),
    ],
)
def test_what_a_record_means(sample, name, meaning, interval, base):
    series = read_series(sample(f"training/{name}"))
    assert (series.meaning, series.interval, series.step_base) == (meaning, interval, base)


def test_megatron_times_and_glued_memory_lines(sample):
    values = read_file(sample("training/megatron_r0.10_llama2-7b_4090x8_1node.log")).values
    assert values["iteration_time_ms"]["mean"] == pytest.approx(25830.66)
    assert values["iteration_time_ms"]["warm_up_excluded"] == 5
    assert values["throughput"]["samples_per_second"] == pytest.approx(4.9554, abs=1e-4)
    assert values["memory"]["max_allocated_mb"] == pytest.approx(
        {"0": 30227.646, "2": 25079.267, "4": 20931.012, "6": 20115.083}, abs=1e-3
    )


def test_fsdp2_prints_gigabytes(sample):
    values = read_file(sample("training/mindspeed_llm_fsdp2_excerpt.log")).values
    assert values["memory"]["peak_allocated_mb"] == pytest.approx(19.65 * 1024)


def test_fp16_iterations_without_loss_are_no_curve(sample):
    with pytest.raises(ReadError) as error:
        read_file(sample("training/megatron_core_fp16_all_skipped_no_loss.log"))
    assert error.value.code == "no_loss_points"


def test_the_nan_that_trainer_prints_as_zero(sample):
    reading = read_file(sample("training/v4_gpt2_hidden_nan.stdout.log"))
    loss = reading.values["loss"]
    assert (loss["nonfinite"], loss["first_nonfinite_step"], loss["last"]) == (201, 400, "nan")
    assert loss["mean"] > 1
    assert {"hidden_nan", "nonfinite_loss"} <= {warning.code for warning in reading.warnings}


def test_positions_of_mnist_logs_are_samples(sample):
    reading = read_file(sample("training/mnist_S_fp32.log"))
    assert reading.values["step_unit"] == "sample"
    assert reading.values["loss"]["points"] == 230
    assert [warning.code for warning in reading.warnings] == ["steps_are_samples"]


def test_imagenet_accuracy(sample):
    evaluation = read_file(sample("training/imagenet_S_bf16.log")).values["evaluation"]
    assert (evaluation["acc1"]["last"], evaluation["acc1"]["max"]) == (97.98, 98.316)


def megatron_line(step, loss="2.000000E+00", *, prefix="", end="\n"):
    return (
        f"{prefix} [2026-01-01 10:00:00] iteration {step:8d}/     100 | consumed samples: {step:8d}"
        " |"
        f" elapsed time per iteration (ms): 50.0 | learning rate: 1.0E-05 | lm loss: {loss} |"
        f" loss scale: 1.0 | grad norm: 0.500 | number of nan iterations:   0 |{end}"
    )


def codes(series):
    return [warning.code for warning in series.warnings]


def test_a_resumed_run_replaces_what_it_repeats(written):
    text = "".join(megatron_line(step, f"{step}.0") for step in range(1, 8))
    text += "".join(megatron_line(step, f"{step}.5") for step in range(5, 10))
    series = read_series(written(text))
    assert series.steps.tolist() == list(range(1, 10))
    assert series.losses.tolist() == [1, 2, 3, 4, 5.5, 6.5, 7.5, 8.5, 9.5]
    (warning,) = series.warnings
    assert (warning.code, warning.line) == ("repeated_steps", 8)
    assert "lines 5 and 8" in warning.message


@pytest.mark.parametrize("text", ["nan", "NaN", "inf", "-inf", "Infinity"])
def test_nonfinite_values_stay_in_the_series(written, text):
    series = read_series(written(megatron_line(1) + megatron_line(2, text) + megatron_line(3)))
    assert np.isfinite(series.losses).tolist() == [True, False, True]
    assert codes(series) == ["nonfinite_loss"]
    assert series.warnings[0].line == 2


def test_a_cut_off_last_record_is_no_value(written):
    cut = megatron_line(3, "2.123456E+00").split("3456E+00")[0]
    series = read_series(written(megatron_line(1) + megatron_line(2) + cut))
    assert series.steps.tolist() == [1, 2]
    assert codes(series) == ["truncated_record"]


def test_glued_records_are_all_found(written):
    series = read_series(written(megatron_line(1, end="") + megatron_line(2) + megatron_line(3)))
    assert series.steps.tolist() == [1, 2, 3]


def test_keys_and_numbers_broken_by_a_wrapping_console(written):
    line = megatron_line(1, "2.5").replace("lm loss", "lm l     oss").replace("2.5", "2.   5")
    assert read_series(written(line)).losses.tolist() == [2.5]


def test_interleaved_ranks_are_read_as_one(written):
    lines = [
        megatron_line(step, f"{step}.{rank}", prefix=f"[rank{rank}]:")
        for step in range(1, 4)
        for rank in (3, 7)
    ]
    series = read_series(written("".join(lines)))
    assert series.losses.tolist() == [1.3, 2.3, 3.3]
    assert codes(series) == ["interleaved_ranks"]


def test_seconds_and_equal_signs_of_forks(written):
    line = (
        " iteration=       7/     100 | consumed_samples=  70 |"
        " elapsed time per iteration (s): 2.5 |"
        " lm loss=3.25 | grad norm: 1.0 |\n"
    )
    values = read_file(written(line)).values
    assert values["loss"]["first"] == 3.25
    assert values["iteration_time_ms"]["mean"] == 2500


def test_skipped_iterations_between_others(written):
    skipped = megatron_line(2).replace(" lm loss: 2.000000E+00 |", "")
    reading = read_file(written(megatron_line(1) + skipped + megatron_line(3)))
    assert reading.values["loss"]["points"] == 2
    assert reading.values["skipped_iterations"] == 1


def test_many_lines_take_the_quick_way_to_the_same_values(written):
    text = "".join(megatron_line(step, f"{1 + 1 / step:.6E}") for step in range(1, 8001))
    series = read_series(written(text))
    assert len(series.steps) == 8000
    assert series.losses[-1] == pytest.approx(1.000125)


def test_a_window_that_ends_with_a_nan_norm_is_not_trusted(written):
    rows = [
        f'{{"current_steps": {step}, "total_steps": 30, "loss": {loss}, "grad_norm": {norm}}}'
        for step, loss, norm in [(10, 2.0, 1.0), (20, 1.2, "NaN"), (30, 0.0, "NaN")]
    ]
    series = read_series(written("\n".join(rows) + "\n"))
    assert [math.isnan(loss) for loss in series.losses] == [False, True, True]


def test_a_loss_that_is_really_zero_stays_zero(written):
    rows = "".join(
        f"{{'loss': {loss}, 'grad_norm': 0.01, 'learning_rate': 1e-05, 'epoch': 0.1}}\n"
        for loss in (0.1, 0.0)
    )
    assert read_series(written(rows)).losses.tolist() == [0.1, 0.0]


def test_v5_prints_strings_and_the_progress_bar_tells_the_steps(written):
    text = "".join(
        f"\r {n}%|  | {n}/40 [00:01<00:01]\r{{'loss': '{5 - n / 10:.4g}', 'grad_norm': '1', "
        f"'epoch': '{n / 40:.4g}'}}\n"
        for n in (10, 20, 30, 40)
    )
    text += "{'train_runtime': '8', 'train_steps_per_second': '5', 'epoch': '1'}\n"
    series = read_series(written(text))
    assert series.steps.tolist() == [10, 20, 30, 40]
    assert codes(series) == ["steps_inferred"]


def test_without_any_hint_records_are_numbered_and_it_is_said(written):
    series = read_series(written("{'loss': 2.0, 'epoch': 0.1}\n{'loss': 1.0, 'epoch': 0.2}\n"))
    assert (series.steps.tolist(), series.step_unit) == ([1, 2], "record")
    assert codes(series) == ["steps_unknown"]


def test_trainer_state_with_bare_nan(written):
    state = (
        '{"global_step": 3, "max_steps": 3, "logging_steps": 1, "log_history": ['
        '{"loss": 2.0, "grad_norm": 1.0, "step": 1}, {"loss": 0.0, "grad_norm": NaN, "step": 2},'
        '{"eval_loss": 2.0, "step": 2}, {"loss": NaN, "grad_norm": NaN, "step": 3}]}'
    )
    series = read_series(written(state))
    assert series.steps.tolist() == [1, 2, 3]
    assert np.isnan(series.losses).tolist() == [False, True, True]


def test_golden_values_that_were_not_recorded(written):
    golden = (
        '{"lm loss": {"start_step": 1, "end_step": 10, "step_interval": 5, '
        '"values": {"1": 10.5, "5": 9.5, "10": "nan"}}}'
    )
    reading = read_file(written(golden))
    assert reading.values["loss"]["nonfinite"] == 1
    assert {"not_recorded", "nonfinite_loss"} == {warning.code for warning in reading.warnings}


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("step,loss\n1,2.5\n2,2.25\n3,2", [1, 2]),
        ("step,loss,lr\n1,2.5,0.1\n2,2.25,0.1\n3,2.1", [1, 2]),
        ("Step\tLoss\tLR\n1\t2.5\t0.1\n2\t2.25\t0.1\n", [1, 2]),
        ("epoch,accuracy,loss\n0,0.5,2.5\n1,0.6,2.0\n", [0, 1]),
    ],
)
def test_csv_tables(written, text, steps):
    assert read_series(written(text)).steps.tolist() == steps


def test_a_table_without_any_value_is_an_error(written):
    with pytest.raises(ReadError) as error:
        read_series(written("step,loss\n1,\n2,\n"))
    assert error.value.code == "no_loss_points"


@pytest.mark.parametrize(
    ("line", "last"),
    [
        ("step {n}, total loss = 0.{n}, batch loss = 0.5 ( 12.5 examples/sec; 0.1 sec/batch)", 0.3),
        ("epoch 0, total_step {n}, total loss is 0.{n} , time 54.3 samples/sec", 0.3),
        ("INFO:tensorflow:loss = 0.{n}, step = {n} (1.2 sec)", 0.3),
        ("epoch: 1 step: {n}, loss is 0.{n}", 0.3),
        ("[2026-01-01] step={n}/100 lr=1e-4 loss=0.{n} throughput=5", 0.3),
    ],
)
def test_logs_of_scripts(written, line, last):
    series = read_series(written("".join(line.format(n=n) + "\n" for n in (1, 2, 3))))
    assert series.steps.tolist() == [1, 2, 3]
    assert series.losses[-1] == last


def test_steps_that_start_again_in_every_epoch(written):
    lines = [
        f"epoch {e}  step {n}  loss 0.5 - time per batch 1.5\n" for e in (1, 2) for n in (1, 2)
    ]
    series = read_series(written("".join(lines)))
    assert series.steps.tolist() == [1, 2, 3, 4]
    assert codes(series) == ["steps_counted_on"]


def test_read_series_refuses_other_kinds(sample):
    with pytest.raises(ReadError) as error:
        read_series(sample("node/driver_version.info"))
    assert error.value.code == "not_a_training_log"
