"""Statements of readers that were wrong once: skipped iterations, rates, hidden scores, means."""

from pathlib import Path

from toolreaders import read_file

SAMPLES = Path(__file__).parents[2] / "samples"
MEGATRON = ("iteration {n}0/ 100 | elapsed time per iteration (ms): 5.0 |{loss} loss scale: 1.0 | "
            "number of skipped iterations: {skipped} | number of nan iterations: 0 |\n")
MINDSPORE = ("epoch: [ {n}/350], epoch time: {time}, steps: 625, per step time: {step}, avg loss: "
             "{loss}, lr:[0.1]\n")
PADDLE = ("[2022-08-31 16:19:1{n},008] [    INFO] - loss: 3.2{n}, learning_rate: 3e-05, global_step"
          ": {n}0, interval_runtime: 2.2, interval_samples_per_second: {rate}, "
          "interval_steps_per_second: 4.4, epoch: 0.02\n")
TITAN = ("{label}[titan] 2026-02-24 19:46:17,508 - root - INFO - step:  {n}  loss:  7.{n}  "
         "grad_norm: 2.0  memory: 66.91GiB(37.51%)  tps: {tps}  tflops: 314.7  mfu: 13.9%\n")
BOLD = ("dataset,version,metric,mode,llama\nwiki_0,de81,score,gen,30.95\n"
        "{before}wiki_5,e0f8,score,gen,54.61{after}\n")


def test_skipped_iterations_are_summed_over_the_intervals():
    reading = read_file(SAMPLES / "training" / "megatron_skipped_sums.log")
    assert reading.values["skipped_iterations"] == 19
    assert [w.message for w in reading.warnings if w.code == "skipped_iterations"] == [
        "19 of 200 iterations were skipped: their gradients overflowed; 1 of 20 records print no "
        "loss."]


def test_updates_that_deepspeed_skips_are_told_beside_the_trainer_s_records(written):
    text = "".join(
        f"  {n}%| | {n}0/90 [00:0{n}<00:09, 1.5s/it][INFO] [deepspeed] OVERFLOW! Rank 0 Skipping "
        f"step. Attempted loss scale: {2 ** (17 - n)}, reducing to {2 ** (16 - n)}\n"
        f"{{'loss': 2.{n}5, 'learning_rate': 1e-05, 'epoch': 0.{n}}}\n" for n in (1, 2, 3))
    reading = read_file(written(text))
    assert reading.values["skipped_iterations"] == 3
    assert ("DeepSpeed skipped 3 updates: their gradients overflowed; the loss scale fell from "
            "65536 to 16384.") in [warning.message for warning in reading.warnings]


def test_a_column_of_zeros_blames_no_overflow(written):
    log = "".join(MEGATRON.format(n=n, skipped=0, loss="" if n == 2 else f" lm loss: {n}.5 |")
                  for n in range(1, 5))
    reading = read_file(written(log))
    assert reading.values.get("skipped_iterations") is None
    assert [w.message for w in reading.warnings] == [
        "1 of 4 records print no loss, although no iteration was skipped."]


def test_marks_of_bold_and_bullets_hide_no_score(written):
    for before, after in (("**", "**"), ("- ", ""), ("`", "`"), ("* **", "**"), ("<b>", "</b>")):
        reading = read_file(written(BOLD.format(before=before, after=after)))
        assert [(s["task"], s["value"]) for s in reading.values["scores"]] == [
            ("wiki_0", 30.95), ("wiki_5", 54.61)], before
        assert reading.warnings == []


def test_bold_metrics_of_an_evaluation_are_read(written):
    reading = read_file(written("***** eval metrics *****\n  **eval_accuracy** = **0.85**\n"
                                "  eval_loss = 0.4\n"))
    assert reading.values["metrics"] == {"eval_accuracy": 0.85, "eval_loss": 0.4}


def test_an_average_loss_is_the_mean_of_its_epoch(written):
    log = "".join(MINDSPORE.format(n=n, time=f"{625 * 378.0 / n:.3f}", step=f"{378.0 / n:.3f}",
                                   loss=5.4 - n) for n in range(1, 5))
    values = read_file(written(log)).values
    assert (values["meaning"], values["steps_proven"]) == ("window_mean", True)
    assert (values["loss"]["first_step"], values["loss"]["last_step"]) == (625, 2500)
    assert values["iteration_time_ms"]["first"] == 378.0


def test_a_rate_of_samples_below_that_of_steps_is_told_and_used_nowhere(written):
    reading = read_file(written("".join(PADDLE.format(n=n, rate=5.162) for n in range(1, 4))))
    assert reading.values["throughput"] == {"samples_per_second": 5.162}
    reading = read_file(written("".join(PADDLE.format(n=n, rate=3.541) for n in range(1, 4))))
    assert not reading.values.get("throughput")
    assert [w.code for w in reading.warnings] == ["contradicting_rates"]


def test_the_summary_of_a_run_is_not_that_of_the_next_one(written):
    run = "".join(f"{{'loss': {3 - n / 10}, 'learning_rate': 1e-05, 'epoch': {n / 2}}}\n"
                  for n in range(1, 5))
    end = "{'train_runtime': 100.5, 'train_samples_per_second': 9.5, 'epoch': 2.0}\n"
    assert read_file(written(run + end)).values["train_runtime_s"] == 100.5
    values = read_file(written(run + end + run)).values
    assert (values.get("train_runtime_s"), values.get("throughput")) == (None, None)


def test_the_rate_of_one_run_is_not_that_of_another(written):
    lines = [TITAN.format(label=label, n=n, tps=tps) for n in range(1, 5)
             for label, tps in (("", "10,000"), ("[rank0]:", "5,000"))]
    lines.append(TITAN.format(label="[rank0]:", n=5, tps="5,000"))
    values = read_file(written("".join(lines))).values
    assert (values["loss"]["points"], values["throughput"]["tokens_per_second"]) == (5, 5000.0)
