"""Benchmarks and evaluations as other releases and tools print them."""

import pytest

from toolreaders import read_file

SGLANG = """============ Serving Benchmark Result ============
Backend:                                 sglang
Max request concurrency:                 64
Successful requests:                     200
Benchmark duration (s):                  20.00
Total generated tokens:                  2000
Total generated tokens (retokenized):    1990
Output token throughput (tok/s):         100.00
Mean E2E Latency (ms):                   2000.44
==================================================
"""
LM_EVAL = """|Tasks   |Version|Filter|n-shot|Metric         |   |Value |   |Stderr|
|--------|------:|------|-----:|---------------|---|-----:|---|-----:|
|arc_easy|      1|none  |     0|acc            |↑  |0.7500|±  |0.0100|
|wikitext|      2|none  |     0|word_perplexity|↓  |9.1234|±  |   N/A|
"""
OLD_LM_EVAL = """|    Task     |Version| Metric |Value |   |Stderr|
|-------------|------:|--------|-----:|---|-----:|
|arc_challenge|      0|acc     |0.1903|±  |0.0115|
|             |       |acc_norm|0.2270|±  |0.0122|
"""
OPENCOMPASS = """dataset    version    metric    mode      qwen
---------  ---------  --------  ------  ------
gsm8k      1d7fe4     accuracy  gen      82.41

csv format
dataset,version,metric,mode,qwen
gsm8k,1d7fe4,accuracy,gen,82.41
"""
OLD_JSON = ('{"results": {"arc": {"acc": 0.19, "acc_stderr": 0.01}}, "versions": {"arc": 0}, '
            '"config": {"model": "hf"}}')
COCO = (" Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.374\n"
        " Average Precision  (AP) @[ IoU=0.50:0.95 | area= small | maxDets=100 ] = -1.000\n")
SUBJECTS = """      subject_name  question_n       acc
0          anatomy         135  0.466667
1            total       14042  0.457000
"""
STAGES = ("[e2e] throughputRate: 258.495, latency: 193427\n[infer] throughputRate: 259.6, "
          "Interface throughputRate: 314.139, moduleLatency: 3.70\n"
          "[post] throughputRate: 259.588, moduleLatency: 3.85225\n")
THROUGHPUTS = {
    "vllm": ("Throughput: 7.15 requests/s, 4656.00 total tokens/s, 1072.15 output tokens/s\n",
             {"requests_per_second": 7.15, "total_tokens_per_second": 4656.0,
              "output_tokens_per_second": 1072.15}),
    "vllm 0.5": ("Throughput: 9.37 requests/s, 4797.91 tokens/s\n",
                 {"requests_per_second": 9.37, "total_tokens_per_second": 4797.91}),
    "vllm JSON": ('{"elapsed_time": 100.1, "num_requests": 1000, "total_num_tokens": 465600, '
                  '"requests_per_second": 9.99, "tokens_per_second": 4651.3}',
                  {"requests_per_second": 9.99, "total_tokens_per_second": 4651.3}),
    "trtexec": ("[01/01/2024-10:00:00] [I] Throughput: 1234.56 qps\n",
                {"batches_per_second": 1234.56}),
    "benchmark": (STAGES, {"samples_per_second": 314.139,
                           "samples_per_second_310_card": 4 * 314.139}),
    "pure inference": ("[INFO] ave_throughputRate: 644.5samples/s, ave_latency: 1.55ms\n",
                       {"samples_per_second": 644.5, "samples_per_second_310_card": 2578.0}),
}


@pytest.mark.parametrize("name", THROUGHPUTS)
def test_throughputs(written, name):
    text, expected = THROUGHPUTS[name]
    reading = read_file(written(text))
    assert (reading.kind, reading.values["throughput"]) == ("inference_benchmark", expected)


@pytest.mark.parametrize("text", [
    "Avg latency: 1.25 seconds\n10% percentile latency: 1.5 seconds\n",
    '{"avg_latency": 1.25, "latencies": [1.25], "percentiles": {"10": 1.5}}'])
def test_seconds_per_batch_become_milliseconds(written, text):
    latency = read_file(written(text)).values["latency_ms"]["inference"]
    assert latency == {"mean": 1250.0, "p10": 1500.0}


def test_sglang_counts_its_tokens_twice(written):
    reading = read_file(written(SGLANG))
    values = reading.values
    assert (reading.tool, reading.warnings) == ("SGLang", [])
    assert (values["tokens"]["output"], values["requests"]["concurrency"]) == (2000.0, 64.0)
    assert values["latency_ms"]["e2e"] == {"mean": 2000.44}


def test_stated_failures_count(written):
    text = ('{"request_rate": "inf", "num_prompts": 200, "completed": 198, "failed": 2, '
            '"output_throughput": 10.0}')
    assert read_file(written(text)).values["requests"]["failed"] == 2


def test_a_perplexity_is_no_percentage(written):
    assert read_file(written(LM_EVAL)).values["scale"] == "fraction"


@pytest.mark.parametrize(("text", "scores"), [
    (OLD_LM_EVAL, [("arc_challenge", "acc", 0.1903), ("arc_challenge", "acc_norm", 0.227)]),
    (OLD_JSON, [("arc", "acc", 0.19)]), (OPENCOMPASS, [("gsm8k", "accuracy", 82.41)]),
    (COCO, [(None, "AP", 0.374)]), (SUBJECTS, [("anatomy", "acc", 0.466667),
                                               ("total", "acc", 0.457)])])
def test_scores(written, text, scores):
    found = read_file(written(text)).values["scores"]
    assert [(score["task"], score["metric"], score["value"]) for score in found] == scores


PROFILES = {
    "communication_statistic": ("OP Type,Count,Total Time(us),Min Time(us),Avg Time(us),"
                                "Max Time(us),Ratio(%)\nhcom_allReduce_,10,1000.5,9,10,12,60.0\n",
                                {"total_us": 1000.5, "count": 10.0}),
    "task_time": ("Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us)\n"
                  "0,MatMul,AI_CORE,1,2,12.5\n", {"total_us": 12.5, "longest": "MatMul"}),
    "step_trace": ("Device_id,Iteration ID,FP Start(us),Iteration Time(us)\n0,1,N/A,2000.0\n"
                   "0,2,N/A,1000.0\n", {"iterations": 2, "mean_us": 1500.0, "max_us": 2000.0}),
}


@pytest.mark.parametrize("form", PROFILES)
def test_profiles_of_msprof(written, form):
    text, expected = PROFILES[form]
    reading = read_file(written(text))
    assert (reading.tool, reading.values["form"]) == ("msprof", form)
    assert {key: reading.values[key] for key in expected} == expected


def test_a_gpu_that_ran_out_of_memory(written):
    reading = read_file(written(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
        "capacity of 79.00 GiB of which 1.00 GiB is free. Of the allocated memory 70.00 GiB is "
        "allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated.\n"))
    sizes = {name: size / 2**30 for name, size in reading.values.items() if name != "ooms" and size}
    assert reading.tool == "PyTorch"
    assert sizes == {"requested_bytes": 2, "capacity_bytes": 79, "allocated_bytes": 70,
                     "free_bytes": 1}


def test_a_task_without_a_score_is_named(written):
    reading = read_file(written("dataset,version,metric,mode,qwen\n--- Exam ---,-,-,-,-\n"
                                "gsm8k,1d7fe4,accuracy,gen,82.41\nhumaneval,8e3,pass@1,gen,-\n"))
    assert [score["task"] for score in reading.values["scores"]] == ["gsm8k"]
    assert [(w.code, "humaneval of qwen" in w.message) for w in reading.warnings] == [
        ("value_missing", True)]


def test_the_last_of_several_results_counts_and_is_told(written):
    reading = read_file(written(SGLANG + "next run\n" + SGLANG.replace("20.00", "40.00")))
    assert reading.values["duration_s"] == 40
    reported = [(warning.code, warning.line) for warning in reading.warnings]
    assert ("several_results", 12) in reported
