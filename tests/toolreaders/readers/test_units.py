"""Units, anchored names and several results in outputs of benchmarks and evaluations."""

import json

import pytest

from toolreaders import ReadError, read_file

STAMP = "[05/29/2022-21:55:54] [I] "


def statistics(mean):
    return f"min = 0.5 ms, max = 99 ms, mean = {mean} ms, median = 2.5 ms, percentile(99%) = 9 ms\n"


def trtexec(rate, compute, stamp=STAMP):
    return "".join((
        f"{stamp}Throughput: {rate} qps\n", f"{stamp}Latency: {statistics(35)}",
        f"{stamp}End-to-End Host Latency: {statistics(40)}", f"{stamp}H2D Latency: {statistics(7)}",
        f"{stamp}GPU Compute Time: {statistics(compute)}", f"{stamp}D2H Latency: {statistics(8)}",
        f"{stamp}Total GPU Compute Time: 2.9961 s\n"))


def codes(reading):
    return [warning.code for warning in reading.warnings]


@pytest.mark.parametrize("stamp", [STAMP, "    " + STAMP, "[I] "])
def test_latency_is_not_that_of_a_copy(stamp, written):
    reading = read_file(written(trtexec(28.9757, 33.664, stamp)))
    metrics = reading.values["metrics"]
    assert {name: found["mean"] for name, found in metrics.items()} == {
        "Latency": 35, "End-to-End Host Latency": 40, "H2D Latency": 7,
        "GPU Compute Time": 33.664, "D2H Latency": 8}
    measured = reading.values["latency_ms"]
    assert (measured["inference"]["mean"], measured["e2e"]["mean"]) == (33.664, 35)


def test_a_latency_with_copies_is_no_time_of_the_device(written):
    lines = trtexec(28.5, 33).splitlines(keepends=True)
    text = "".join(line for line in lines if "GPU Compute" not in line)
    assert set(read_file(written(text)).values["latency_ms"]) == {"e2e"}


def test_a_template_of_a_result_holds_no_values(written):
    text = SERVED.format("s", "xx.xx", "req/s", "ms", "xx.xx").replace("10.00", "x.xx").replace(
        "100.00", "xxx.xx")
    with pytest.raises(ReadError, match="no_values"):
        read_file(written(text))


AIS = ("[INFO] H2D_latency (ms): min = 0.5, max = 3.5, mean = {1}, median = 0.7, "
       "percentile(99%) = 1\n"
       "[INFO] NPU_compute_time (ms): min = 0.5, max = 3, mean = {0}, median = 0.7, "
       "percentile(99%) = 1\n"
       "[INFO] throughput 1000*batchsize{2}(8)/NPU_compute_time.mean({0}): {3}\n")
BATCH = "Avg latency: {0} seconds\n10% percentile latency: {1} seconds\n"
RATE = "Throughput: {0} requests/s, 4656.5 total tokens/s, 1072.5 output tokens/s\n"


@pytest.mark.parametrize(("text", "path", "value"), [
    (trtexec(20.5, 50) + trtexec(28.5, 33), ("throughput", "batches_per_second"), 28.5),
    (AIS.format(4.0, 2.0, "", 2000) + AIS.format(2.0, 1.0, ".mean", 4000),
     ("throughput", "samples_per_second"), 4000),
    (BATCH.format(2.5, 2.0) + BATCH.format(1.25, 1.0), ("latency_ms", "inference"),
     {"mean": 1250, "p10": 1000}),
    (RATE.format(5.5) + RATE.format(7.5), ("throughput", "requests_per_second"), 7.5)])
def test_the_last_of_several_results_counts_and_is_told(text, path, value, written):
    reading = read_file(written(text))
    assert reading.values[path[0]][path[1]] == value
    assert codes(reading) == ["several_results"]


def test_a_run_without_its_throughput_is_refused(written):
    cut = AIS.format(2.0, 1.0, "", 4000).partition("[INFO] throughput")[0]
    with pytest.raises(ReadError, match="no_throughput"):
        read_file(written(AIS.format(4.0, 2.0, "", 2000) + cut))


SERVED = """\
============ Serving Benchmark Result ============
Successful requests:                     100
Benchmark duration ({0}):                  {1}
Total generated tokens:                  1000
Request throughput ({2}):              10.00
Output token throughput (tok/s):         100.00
Mean TTFT ({3}):                          {4}
Mean TPOT ({3}):                          {4}
==================================================
"""


@pytest.mark.parametrize(("text", "ttft", "seconds", "rate"), [
    (SERVED.format("s", "10.00", "req/s", "ms", "55.50"), 55.5, 10, 10),
    (SERVED.format("ms", "10000", "req/s", "s", "0.0555"), 55.5, 10, 10),
    (SERVED.format("s", "10.00", "req/min", "ticks", "55.50"), None, 10, None)])
def test_units_of_a_serving_benchmark(text, ttft, seconds, rate, written):
    values = read_file(written(text)).values
    found = values["latency_ms"].get("ttft", {}).get("mean")
    assert found == (None if ttft is None else pytest.approx(ttft))
    assert values["duration_s"] == pytest.approx(seconds)
    assert values["throughput"].get("requests_per_second") == rate


METRICS = """\
+----------------+-------------+-------------+---+
|         Metric |     average |         max | N |
+----------------+-------------+-------------+---+
| FirstTokenTime | {0} | 425.23 ms | 1 |
|     DecodeTime | 187.5 ms | 228.2 ms | 1 |
| GeneratedTokens | 50 | 50 | 1 |
+----------------+-------------+-------------+---+
"""
COMMON = """\
+------------------------+-------------------------------+
|          Common Metric |                         Value |
+------------------------+-------------------------------+
|            TimeElapsed |                      9.5827 s |
|               Returned |                   1( 100.0% ) |
|             Throughput |                  {0} |
{1}
| GenerateSpeedPerClient |                0.0416 token/s |
+------------------------+-------------------------------+
"""
OLD_SPEED = "|          GenerateSpeed |                5.2177 token/s |"
NEW_SPEED = ("|    OutputGenerateSpeed |                5.2177 token/s |\n"
             "|     InputGenerateSpeed |               32.6631 token/s |\n"
             "|     TotalGenerateSpeed |               37.8808 token/s |")


@pytest.mark.parametrize("speed", [OLD_SPEED, NEW_SPEED])
def test_speeds_of_both_releases_of_mindie(speed, written):
    text = METRICS.format("425.5 ms") + COMMON.format("0.1044 req/s", speed)
    reading = read_file(written(text))
    throughput = reading.values["throughput"]
    assert (throughput["output_tokens_per_second"], throughput["requests_per_second"]) == (
        5.2177, 0.1044)
    assert throughput.get("total_tokens_per_second") == (37.8808 if speed == NEW_SPEED else None)
    assert codes(reading) == []
    twice = read_file(written(text + text))
    assert codes(twice) == ["several_results"]


def test_a_unit_that_nothing_converts_gives_no_value(written):
    text = METRICS.format("1.5 min") + COMMON.format("6.2 req/min", OLD_SPEED)
    values = read_file(written(text)).values
    assert "mean" not in values["latency_ms"]["ttft"]
    assert "requests_per_second" not in values["throughput"]
    seconds = read_file(written(METRICS.format("1.5 s") + COMMON.format("/", OLD_SPEED))).values
    assert seconds["latency_ms"]["ttft"]["mean"] == 1500


def test_tables_of_different_runs_are_not_joined(written):
    with pytest.raises(ReadError, match="damaged_file"):
        read_file(written(METRICS.format("1.5 s") * 2 + COMMON.format("/", OLD_SPEED)))


CONSOLE = ("|  Tasks  |Version|Filter|n-shot|  Metric  |   |Value |   |Stderr|\n"
           "|---------|------:|------|-----:|----------|---|-----:|---|-----:|\n"
           "|gsm8k    |      3|none  |     5|acc       |↑  |{0}|±  |0.01|\n"
           "|truthful |      3|none  |     0|{1}  |↑  |25.375|±  |0.5|\n")


@pytest.mark.parametrize("metric", ["bleu_max", "rouge1_max", "word_perplexity"])
def test_a_score_of_another_scale_beside_fractions(metric, written):
    assert read_file(written(CONSOLE.format("0.375", metric))).values["scale"] == "fraction"
    assert read_file(written(CONSOLE.format("37.5", metric))).values["scale"] == "percent"


@pytest.mark.parametrize("text", [
    CONSOLE.format("0.375", "acc_norm"),
    json.dumps({"eval_accuracy": 0.875, "eval_f1": 88.5, "eval_loss": 0.5})])
def test_shares_of_two_scales_are_refused(text, written):
    with pytest.raises(ReadError, match="mixed_scales"):
        read_file(written(text))


@pytest.mark.parametrize(("metrics", "scale", "names"), [
    ({"eval_accuracy": 0.875, "eval_gen_len": 20.5, "eval_total": 872}, "fraction", ["accuracy"]),
    ({"eval_exact_match": 81.5, "eval_f1": 88.5, "eval_total": 10570,
      "eval_HasAns_total": 5928, "eval_best_f1_thresh": 0.25}, "percent", ["exact_match", "f1"])])
def test_counts_are_no_scores(metrics, scale, names, written):
    values = read_file(written(json.dumps(metrics))).values
    assert values["scale"] == scale
    assert [score["metric"] for score in values["scores"]] == names


SUBJECTS = "subject_name  question_n  acc\nlaw  100  {0}\nart  50  {1}\ntotal  150  {2}\n"


@pytest.mark.parametrize(("text", "scale"), [
    (SUBJECTS.format(0.5, 0.25, 0.416), "fraction"),
    (SUBJECTS.format(50.5, 25.5, 41.6), "percent")])
def test_subjects_in_either_scale(text, scale, written):
    assert read_file(written(text)).values["scale"] == scale


CARDS = "| 卡数 | 名称 | {0} |\n|---|---|---|\n| 1p | npu 1p | 100.5 |\n| 8p | npu 8p | 96.5 |\n"


@pytest.mark.parametrize("header", ["tokens/p/s", "tokens/s/p", "吞吐 tokens/s/卡", "每卡吞吐",
                                    "samples per second per card", "throughput per-device"])
def test_a_rate_per_card_is_of_one_card(header, written):
    [one, eight] = read_file(written(CARDS.format(header))).values["rows"]
    assert (one["throughput"], eight["throughput"]) == (100.5, 772)
    assert eight["throughput_per_card"] == 96.5


@pytest.mark.parametrize("header", ["FPS", "tokens/s", "samples per second", "性能(samples/s)"])
def test_a_rate_of_the_whole_job(header, written):
    assert read_file(written(CARDS.format(header))).values["rows"][1]["throughput"] == 96.5


@pytest.mark.parametrize("header", ["性能(ms)", "性能（s/step）", "性能 s",
                                    "throughput time (ms)"])
def test_a_time_is_no_throughput(header, written):
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written(CARDS.format(header)))


@pytest.mark.parametrize("device", ["NPU", "CUDA"])
def test_every_message_of_exhausted_memory_is_counted(device, written):
    line = (f"RuntimeError: {device} out of memory. Tried to allocate 20.00 MiB ({device} 0; "
            "31.00 GiB total capacity; 28.00 GiB already allocated)\n")
    values = read_file(written(line + "[rank1]: " + line)).values
    assert (values["ooms"], values["requested_bytes"]) == (2, 20 * 1024**2)
