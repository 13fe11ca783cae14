"""Serving with vLLM-Ascend and MindIE: what the fields become, and what is refused."""

import json

import pytest
from django.utils.translation import override

from engagements.errors import InvalidInput
from tests.workers.kinds.outputs import good, text_of
from workers import kinds
from workers.kinds.inference.vllm_ascend import points
from workers.labels import benchmark_points

kinds.load_all()


def settings(code: str, **values) -> dict:
    with override("en"):
        kind = kinds.get(code)
        return kind.settings(kind.clean({"weights": "/w", "model_name": "Qwen", **values}))


def test_vllm_gets_its_options():
    words = settings("inf.vllm_serve", cards=4, tensor_parallel=2, data_parallel=2,
                     max_num_seqs=64, quantised=True, prefix_cache=False)["command"]
    text = " ".join(words)
    assert text.startswith("vllm serve /w --host 127.0.0.1 --served-model-name Qwen --port 8000 ")
    for option in ("--tensor-parallel-size 2", "--data-parallel-size 2", "--max-num-seqs 64",
                   "--quantization ascend", "--no-enable-prefix-caching", "--block-size 128"):
        assert option in text
    assert "--max-model-len" not in text


def test_mindie_s_configuration_takes_what_was_given_only():
    assert settings("inf.mindie_serve", cards=1, block_size=64, max_batch=100,
                    max_prefill_batch=20, max_seq_len=4096, npu_memory=-1)["config"] == {
        "schedule": {"cacheBlockSize": 64, "maxBatchSize": 100, "maxPrefillBatchSize": 20},
        "deploy": {"maxSeqLen": 4096}, "model": {"npuMemSize": -1}}
    assert settings("inf.mindie_serve", cards=1)["config"] == {}


@pytest.mark.parametrize(("code", "values", "why"), [
    ("inf.vllm_serve", {"cards": 4}, "Tensor parallel 1 times data parallel 1 is not 4 cards"),
    ("inf.mindie_serve", {"max_prefill_batch": 300, "max_batch": 200}, "must not exceed"),
    ("inf.mindie_serve", {"max_input": 4096, "max_seq_len": 2048}, "must not exceed")])
def test_contradictions_are_refused(code, values, why):
    with pytest.raises(InvalidInput, match=why):
        settings(code, **values)


def test_every_concurrency_is_measured_at_every_pair_of_lengths():
    assert points({"concurrencies": "1, 8", "lengths": "128/32,256/64"}) == [
        (1, 128, 32), (8, 128, 32), (1, 256, 64), (8, 256, 64)]


@pytest.mark.parametrize(("concurrencies", "lengths"), [
    ("", "128/128"), ("0", "128/128"), ("1", "128"), ("1 2 3 4 5 6 7", "1/1 " * 9)])
def test_wrong_points_are_refused(concurrencies, lengths):
    with override("en"), pytest.raises(InvalidInput):
        points({"concurrencies": concurrencies, "lengths": lengths})


def test_points_are_told_by_lengths_and_concurrency(judge):
    judgement = judge("inf.vllm_bench", good("inf.vllm_bench"), concurrencies="1, 4",
                      lengths="16/8")
    rows = judgement.results["benchmark_points"]
    assert [(row["input"], row["output"], row["concurrency"]) for row in rows] == [
        (16, 8, 1), (16, 8, 4)]
    assert text_of(judgement).startswith("2 points, 8 requests, all answered; at most 456.1 tokens")
    shown = benchmark_points.of_job(judgement.results)
    assert [chart.x_ticks[-1].text for chart in shown["charts"]] == ["4", "4"]
    assert [line.name for line in shown["charts"][0].lines] == ["input/output 16/8"]


def test_a_point_with_failed_requests_fails(judge):
    files = good("inf.vllm_bench")
    name = "bench/c4_i16_o8.json"
    files[name] = json.dumps({**json.loads(files[name]), "failed": 1, "completed": 3}).encode()
    judgement = judge("inf.vllm_bench", files, concurrencies="1, 4", lengths="16/8")
    assert (judgement.is_success, text_of(judgement)) == (False, "1 of 8 requests failed.")


LINE = ("Model = m.mindir, numThreads = 2, MinRunTime = 72.228996 ms, MaxRuntime = 73.094002 ms, "
        "AvgRunTime = 72.556000 ms\n")


@pytest.mark.parametrize(("bias", "is_success", "text"), [
    ("Mean bias of all nodes: 0.2%\n", True, "the outputs deviate by 0.2 % on the mean"),
    ("Mean bias of all nodes: 0.7%\n", False, "deviate by 0.7 % on the mean, limit 0.5 %"),
    ("", False, "no deviation was printed")])
def test_outputs_of_a_lite_model_are_compared_where_a_reference_is_given(judge, bias, is_success,
                                                                         text):
    log = LINE + bias + "desk: device npu 0: process 7 holds it open\n"
    judgement = judge("inf.lite_bench", {"log.txt": log.encode()}, cards=1, input="/in.bin",
                      golden="/out.txt")
    assert judgement.is_success is is_success
    assert text in text_of(judgement)


AIPP = (b"aipp_op {\n  aipp_mode: static\n  input_format: YUV420SP_U8 # as DVPP writes it\n"
        b"  src_image_size_w: %d\n  src_image_size_h: 224\n}\n")


@pytest.mark.parametrize(("content", "text"), [
    (AIPP % 223, "needs an even size; it is 223"), (b"aipp_op {\n aipp_mode: static\n", "cannot")])
def test_an_aipp_configuration_is_read_beside_the_conversion(judge, content, text):
    files = {**good("inf.atc"), "aipp.cfg": content}
    judgement = judge("inf.atc", files, aipp="~/aipp.cfg")
    assert not judgement.is_success
    assert text in text_of(judgement)
    right = judge("inf.atc", {**files, "aipp.cfg": AIPP % 224}, aipp="~/aipp.cfg")
    assert right.is_success


def summary(batch: int, milliseconds: float) -> bytes:
    return json.dumps({"filesinfo": {}, "NPU_compute_time": {
        "mean": milliseconds, "percentile(99%)": 2 * milliseconds},
        "throughput": 1000 * batch / milliseconds}).encode()


def test_an_offline_model_over_batches_is_a_table(judge):
    files = {"bench/bs1/a_summary.json": summary(1, 2.0), "bench/bs8/b_summary.json": summary(8, 4)}
    found = judge("inf.om_bench", files, batches="1,8", cards=1)
    assert found.results["benchmark_points"] == [
        {"batch": 1, "latency": 2.0, "p99": 4.0, "samples_per_second": 500.0},
        {"batch": 8, "latency": 4, "p99": 8, "samples_per_second": 2000.0}]
    with override("en"):
        assert text_of(found).startswith("2 batch sizes measured: at most 2000 per second, at")
        shown = benchmark_points.of_job(found.results)
        assert [chart.title for chart in shown["charts"]] == [
            "Throughput over batch size", "Latency over batch size"]
        missing = judge("inf.om_bench", files, batches="1,4,8", cards=1)
        assert (missing.is_success, text_of(missing)) == (False, "No result for batch size 4.")


def test_a_failed_conversion_names_its_stage(judge):
    log = ("ATC run failed, Please check the detail log\n"
           "EZ3003: No supported Ops kernel and engine are found for [a], optype [B].\n")
    with override("en"):
        assert text_of(judge("inf.atc", {"log.txt": log.encode()}, status=1)) == (
            "The conversion failed while the graph was split, no engine takes an operator: EZ3003.")
