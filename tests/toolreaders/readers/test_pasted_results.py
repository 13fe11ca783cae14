"""Benchmarks, evaluations and training logs in the forms that newer releases print."""

import json

import pytest

from toolreaders import ReadError, read_file
from toolreaders.verdicts.quantities import value_of


def codes(reading):
    return [warning.code for warning in reading.warnings]


EVALSCOPE = """\
Benchmarking summary:
┌───────────────────────────┬───────────────┐
│ Metric                    │         Value │
├───────────────────────────┼───────────────┤
│ ── General ──             │               │
│ Test Duration (s)         │         40.00 │
│ Concurrency               │            20 │
│ Total / Success / Failed  │  100 / 98 / 2 │
│ Req Throughput (req/s)    │          2.45 │
│ ── Latency ──             │               │
│ Avg Latency (s)           │         12.50 │
│ TTFT (ms)                 │        717.63 │
│ TPOT (ms)                 │         17.66 │
│ Output Throughput (tok/s) │       1069.45 │
│ Total Throughput (tok/s)  │       2138.91 │
└───────────────────────────┴───────────────┘
Percentile results:
┌────────────────┬─────────┬─────────┐
│ Metric         │     50% │     99% │
├────────────────┼─────────┼─────────┤
│ Latency (s)    │   12.25 │   20.84 │
│ TTFT (ms)      │  333.79 │ 2319.52 │
│ Output (tok/s) │   54.79 │   59.45 │
└────────────────┴─────────┴─────────┘
"""


def test_evalscope_tells_the_unit_in_each_name(written):
    reading = read_file(written(EVALSCOPE))
    values = reading.values
    assert values["latency_ms"] == {
        "e2e": {"mean": 12500, "p50": 12250, "p99": 20840},
        "ttft": {"mean": 717.63, "p50": 333.79, "p99": 2319.52},
        "tpot": {"mean": 17.66},
    }
    assert values["throughput"] == {
        "requests_per_second": 2.45,
        "output_tokens_per_second": 1069.45,
        "total_tokens_per_second": 2138.91,
    }
    assert values["requests"] == {"total": 100, "completed": 98, "failed": 2, "concurrency": 20}
    assert (values["duration_s"], codes(reading)) == (40, ["failed_requests"])


def test_evalscope_with_percentiles_as_rows(written):
    text = ("| Key | Value |\n| Time taken for tests (s) | 92.5 |\n| Average QPS | 1.25 |\n"
            "| Throughput(average tokens/s) | 1727.5 |\n| Average latency (s) | 8.5 |\n\n"
            "Percentile results:\n| Percentile | TTFT (s) | TPOT (s) |\n"
            "| 50% | 0.125 | nan |\n| 99% | 0.5 | nan |\n")
    values = read_file(written(text)).values
    assert values["latency_ms"] == {"e2e": {"mean": 8500}, "ttft": {"p50": 125, "p99": 500}}
    assert values["throughput"] == {
        "requests_per_second": 1.25, "output_tokens_per_second": 1727.5}


def test_evalscope_without_tables(written):
    text = ("Benchmarking summary: \n Time taken for tests: 22.5 seconds\n Total requests: 100\n"
            " Average QPS: 4.25\n Average latency: 14.125\n"
            " Throughput(average output tokens per second): 891.25\n"
            " Average time to first token: 2.75\n Percentile of time to first token: \n"
            "     p50: 2.5\n     p99: 3.0\n Percentile of request latency: \n     p50: 14.5\n")
    values = read_file(written(text)).values
    assert values["latency_ms"] == {
        "e2e": {"mean": 14125, "p50": 14500}, "ttft": {"mean": 2750, "p50": 2500, "p99": 3000}}
    assert values["throughput"] == {
        "requests_per_second": 4.25, "output_tokens_per_second": 891.25}
    assert (values["requests"], values["duration_s"]) == ({"total": 100}, 22.5)


OVERVIEW = """\
            Performance Overview
┏━━━━━━┳━━━━━━┳━━━━━┳━━━━━━┳━━━━━━━━━┳━━━━━━━━━┓
┃Conc. ┃ Rate ┃ Num ┃  RPS ┃   Gen/s ┃ Success ┃
┡━━━━━━╇━━━━━━╇━━━━━╇━━━━━━╇━━━━━━━━━╇━━━━━━━━━┩
│    1 │    - │  10 │ 0.50 │  103.50 │  100.0% │
│   10 │    - │  20 │ 4.25 │ 1103.50 │   95.0% │
└──────┴──────┴─────┴──────┴─────────┴─────────┘

                    Per-Request Metrics
┏━━━━━━┳━━━━━━┳━━━━━━━━━━━━━━━┳━━━━━━━━┳━━━━━━━┓
┃Conc. ┃ Rate ┃ Metric        ┃    avg ┃   p99 ┃
┡━━━━━━╇━━━━━━╇━━━━━━━━━━━━━━━╇━━━━━━━━╇━━━━━━━┩
│    1 │    - │ Latency (s)   │  1.250 │ 1.500 │
│   10 │    - │ Latency (s)   │  2.250 │ 3.500 │
│      │      │ TTFT (ms)     │   41.0 │  72.0 │
│      │      │ Input Tokens  │  315.4 │ 650.0 │
└──────┴──────┴───────────────┴────────┴───────┘
"""


def test_evalscope_with_several_concurrencies(written):
    reading = read_file(written(OVERVIEW))
    values = reading.values
    assert values["latency_ms"] == {
        "e2e": {"mean": 2250, "p99": 3500}, "ttft": {"mean": 41, "p99": 72}}
    assert values["throughput"] == {
        "requests_per_second": 4.25, "output_tokens_per_second": 1103.5}
    assert values["requests"] == {"total": 20, "concurrency": 10, "success_percent": 95}
    assert [run["latency_ms"]["e2e"]["mean"] for run in values["runs"]] == [1250, 2250]
    assert codes(reading) == ["failed_requests", "several_results"]


def test_the_last_of_several_evalscope_results_counts(written):
    reading = read_file(written(EVALSCOPE + EVALSCOPE.replace("717.63", "800.00")))
    assert reading.values["latency_ms"]["ttft"]["mean"] == 800
    assert "several_results" in codes(reading)


REPORT = {"name": "m@gsm8k", "dataset_name": "gsm8k", "model_name": "m", "score": 0.75,
          "metrics": [{"name": "mean_acc", "num": 16, "score": 0.75, "categories": []}]}


@pytest.mark.parametrize("content", [REPORT, {"report_list": [REPORT]}, [REPORT]])
def test_reports_of_evalscope(content, written):
    values = read_file(written(json.dumps(content))).values
    (score,) = values["scores"]
    assert (score["task"], score["metric"], score["value"], score["samples"]) == (
        "gsm8k", "mean_acc", 0.75, 16)
    assert values["scale"] == "fraction"


@pytest.mark.parametrize(("names", "cells", "value", "scale"), [
    (("Model", "Dataset", "Metric", "Subset", "Num", "Score", "Cat.0"), ("30.5%", "0.5%"),
     30.5, "percent"),
    (("Model Name", "Dataset Name", "Metric Name", "Subset Name", "Num", "Score", "Category Name"),
     ("0.305", "0.005"), 0.305, "fraction"),
])
def test_the_printed_report_of_evalscope(names, cells, value, scale, written):
    rows = [" | ".join(names)]
    rows += [f"m | gsm8k | Accuracy ↑ | main | 10 | {cell} | default" for cell in cells]
    reading = read_file(written("INFO: table\n" + "".join(f"| {row} |\n" for row in rows)))
    first, second = reading.values["scores"]
    assert (first["metric"], first["filter"], first["value"]) == ("Accuracy", "main", value)
    assert (second["value"], reading.values["scale"]) == (pytest.approx(value - 0.3 * 100 ** (
        scale == "percent")), scale)


ONE_BATCH = """\
Warmup ...
Prefill. latency: 0.50000 s, throughput:    100.00 token/s
Total. latency:  0.900 s, throughput:     90.00 token/s
Benchmark ...
[2026-01-06 07:50:27 TP0] Prefill. latency: 0.02000 s, throughput:   5916.43 token/s
Decode 0. Batch size: 1, latency: 0.00572 s, throughput:    174.85 token/s
Decode.  median latency: 0.00500 s, median throughput:    174.85 token/s
Total. latency:  0.062 s, throughput:   1122.76 token/s
"""


def test_one_batch_of_sglang_without_its_warm_up(written):
    reading = read_file(written(ONE_BATCH))
    assert reading.values["latency_ms"] == {
        "ttft": {"mean": 20}, "tpot": {"median": 5}, "e2e": {"mean": 62}}
    assert reading.values["throughput"] == {
        "prefill_tokens_per_second": 5916.43, "output_tokens_per_second": 174.85,
        "total_tokens_per_second": 1122.76}
    assert reading.warnings == []
    with pytest.raises(ReadError, match="truncated_record"):
        read_file(written(ONE_BATCH.partition("Total. latency:  0.062")[0]))


RUN = {"backend": "sglang", "request_rate": 4.0, "duration": 10.0, "completed": 8,
       "total_output_tokens": 4000, "request_throughput": 0.8, "output_throughput": 400.0,
       "mean_ttft_ms": 120.5, "median_e2e_latency_ms": 4000.5}


def test_sglang_appends_a_line_per_run(written):
    lines = json.dumps(RUN) + "\n" + json.dumps({**RUN, "mean_ttft_ms": 99.5}) + "\n"
    reading = read_file(written(lines))
    assert reading.values["latency_ms"] == {"ttft": {"mean": 99.5}, "e2e": {"median": 4000.5}}
    assert codes(reading) == ["several_results"]
    assert codes(read_file(written(json.dumps(RUN)))) == []


def test_an_offline_benchmark_of_sglang(written):
    text = ("====== Offline Throughput Benchmark Result =======\nBackend:         engine\n"
            "Successful requests:                     100\nBenchmark duration (s):     12.50\n"
            "Total generated tokens:                  20000\n"
            "Output token throughput (tok/s):         1600.00\n" + "=" * 50 + "\n")
    reading = read_file(written(text))
    assert reading.tool == "SGLang"
    assert reading.values["throughput"] == {"output_tokens_per_second": 1600}


def test_tokens_of_a_throughput_run(written):
    text = ("INFO 08-05 04:44:05 start\r\nThroughput: 7.15 requests/s, 4656.00 total tokens/s, "
            "1072.15 output tokens/s\r\nTotal num prompt tokens:  42659\r\n"
            "Total num output tokens:  43545\r\n")
    assert read_file(written(text)).values["tokens"] == {"input": 42659, "output": 43545}


def test_a_report_of_scores_with_arrows(written):
    text = ("| Task      | Filter | n-shot | Metric   | Value   | Stderr |\n"
            "|-----------|-------:|-------:|----------|--------:|-------:|\n"
            "| ceval     | none   | 5      | acc      | ↑ 0.8009 | ± 0.0105 |\n")
    (score,) = read_file(written(text)).values["scores"]
    assert (score["task"], score["filter"], score["value"], score["stderr"]) == (
        "ceval", "none", 0.8009, 0.0105)


def test_results_of_an_estimator_behind_its_logger(written):
    text = ("I0701 09:00:00.123456 2814 run.py:923] ***** Eval results *****\n"
            "INFO:tensorflow:  eval_accuracy = 0.8676471\nINFO:tensorflow:saved\n"
            "I0701 09:00:00.123456 2814 run.py:925]   eval_loss = 0.4605\n")
    assert read_file(written(text)).values["metrics"] == {
        "eval_accuracy": 0.8676471, "eval_loss": 0.4605}


@pytest.mark.parametrize(("header", "row"), [
    ("vpp_stage,name,step,norm,min,max,nans,shape", "0,{},{},{},-0.5,0.5,0,torch.Size([2])"),
    ("vpp_stage,name,step,micro_step,norm,nans", "0,{},{},0,{},0"),
    ("vpp_stage,module_name,step,input.norm,input.nans,output.norm", "0,{},{},1.5,0,{}"),
])
def test_monitored_tensors(header, row, written):
    rows = [row.format("layers.1.weight", 3, "nan"), row.format("layers.0.weight", 2, 1.25),
            row.format("layers.1.weight", 2, "inf")]
    reading = read_file(written("\n".join([header, *rows]) + "\n"))
    values = reading.values
    assert (values["form"], values["steps"], values["targets"], values["points"]) == (
        "monitor", [2, 3], 2, 3)
    assert values["nonfinite"] == 2
    assert values["first_nonfinite"] == {"name": "layers.1.weight", "step": 2}
    assert [(warning.code, warning.line) for warning in reading.warnings] == [
        ("nonfinite_values", 4)]


def test_a_monitored_tensor_that_counts_its_nans(written):
    text = "vpp_stage,name,step,norm,nans\n0,a.weight,0,1.5,0\n0,b.weight,0,1.5,2\n"
    assert read_file(written(text)).values["first_nonfinite"] == {"name": "b.weight", "step": 0}


def test_memory_of_modules_in_kilobytes(written):
    text = ("Device_id,Component,Timestamp(us),Total Reserved(KB),Device\n"
            "0,AICPU,171.1,2048,NPU:0\n0,AICPU,171.2,1024,NPU:0\n")
    values = read_file(written(text)).values
    assert (values["form"], values["peaks"]) == (
        "npu_module_mem", {"AICPU": {"reserved_mb": 2}})


def test_torchtitan_tells_norms_and_rates(written):
    line = ("[rank0]:[titan] 2026-07-21 15:57:42,774 - root - INFO - step: {:2}  loss: {:8.4f}  "
            "grad_norm:  2.5000  memory:  0.50GiB(0.00%)  tps: 30,768  tflops: 3.15  mfu: 0.32%\n")
    reading = read_file(written(line.format(1, 4.5) + line.format(2, 4.25)))
    values = reading.values
    assert (reading.tool, values["loss"]["last"], values["loss"]["last_step"]) == (
        "torchtitan", 4.25, 2)
    assert values["grad_norm"]["mean"] == 2.5
    assert values["throughput"] == {"tokens_per_second": 30768, "tflops": 3.15}


def test_mindspeed_rl_prints_iterations(written):
    line = ("2026-05-01 10:00:00,123 - INFO - [2026-05-01 10:00:00] iteration: {} / 100 | "
            "timing/all : 100.5000 | actor/pg_loss : {:.4f} | actor/lr : 1.000000e-06 | "
            "grad_norm : 0.1250 | acc_rewards/mean : 0.5000 | e2e_tps : 120.5000 \n")
    values = read_file(written(line.format(1, 0.25) + line.format(2, -0.125))).values
    assert (values["loss"]["first"], values["loss"]["last"]) == (0.25, -0.125)
    assert (values["total_steps"], values["iteration_time_ms"]["first"]) == (100, 100500)
    assert (values["grad_norm"]["mean"], values["metrics"]["e2e_tps"]["mean"]) == (0.125, 120.5)
    assert values["metrics"]["acc_rewards/mean"]["points"] == 2


def test_timm_counts_batches(written):
    line = "Train: {} [{:5d}/100 ( 50%)]  Loss: {:.3f} (3.10)  Time: 0.5s, 512.00/s  LR: 1e-05\n"
    text = line.format(0, 0, 3) + line.format(0, 50, 2) + line.format(1, 0, 1)
    reading = read_file(written(text))
    assert (reading.values["step_unit"], reading.values["loss"]["last_step"]) == ("step", 100)
    assert reading.warnings == []


def test_epochs_of_keras_without_their_names(written):
    bar = "390/390 [==============================] - 91s 233ms/step - loss: {:.4f} - acc: 0.5\n"
    reading = read_file(written("".join(map(bar.format, (0.5, 0.25, 0.125)))))
    assert (reading.values["loss"]["points"], reading.values["loss"]["last_step"]) == (3, 1170)
    assert codes(reading) == ["epochs_counted"]
    again = read_file(written("Epoch 1/2\n" + bar.format(0.5) + "Epoch 2/2\n" + bar.format(0.25)))
    assert (again.values["loss"]["last_step"], again.warnings) == (780, [])


def test_a_number_torn_apart_is_none(written):
    text = "".join(f"epoch:8  ||  iter:{i}  ||  Loss:{3 + i}. 998{i}\n" for i in range(5))
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written(text))


FOREIGN = {
    "settings of a model": "model = dict(\n    type='RCNN',\n    test_cfg = dict(\n    rpn = 1)\n"
                           ")\ntest_pipeline = [\n]\nepoch = 12\n",
    "initialisation file": "test_ratio = 0.2\ntest_batch_size = 16\nepoch = 3\n",
    "training program": 'for step, batch in enumerate(data):\n    logs = {"loss": loss.item(), '
                        '"lr": rate, "step": step}\n    print({"loss": loss, "logits": out})\n',
    "test program": 'found = [{"loss": 0.5, "step": 1}]\nprint({"loss": 0.5, "lr": 0.1})\n',
    "examples in a program": "import os\nimport re\nfrom math import nan\n\nCASES = [\n"
                             "    {'loss': 0.1, 'reward': 0.5},\n]\n",
    "program of a tool": "from msmodelslim.utils.security import check\n\ncheck(1)\n",
    "note on a tool": "4. The last line is `Aoe process finished`, or `… process finished. "
                      "Performance improved by …%`\n",
    "README": "# Model\n\n## Training\n\nRun [this](https://example.com).\n\n## Results\n\n```\n"
              + "".join(f"step: {i}, loss: {i}.5\n" for i in range(5))
              + "```\n" + "Some words.\n" * 9,
    "vocabulary": json.dumps({"loss": 3, "step": 4} | {f"w{i}": i for i in range(2000)}),
    "classes": json.dumps({str(i): [f"n0{i}", "fish"] for i in range(9)}),
    "knowledge base": json.dumps({"rules": [{"text": "NPU out of memory. Tried to allocate 2 GiB",
                                             "advice": ["reduce the batch"]}]}),
    "card of a data set": json.dumps({"readme": "| Task | Baseline | NPU |\n|---|---|---|\n"
                                                "| gsm8k | A100 | yes |\n"}),
}


def test_an_issue_is_mostly_what_it_quotes(written):
    log = "".join(f"step: {i}, loss: {i}.5\n" for i in range(1, 40))
    text = f"### Environment\n\n### Log\n```\n{log}```\n### Expected\nA falling loss.\n"
    assert read_file(written(text)).values["loss"]["points"] == 39


@pytest.mark.parametrize("text", FOREIGN.values(), ids=FOREIGN)
def test_foreign_files_are_unknown(text, written):
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written(text))


LM_EVAL = """\
local-chat ({{'model': 'm', 'until': []}}), gen_kwargs: ({{}}), limit: {limit}, num_fewshot: 3, \
batch_size: 1
|Tasks|Version|Filter|n-shot|  Metric   |   |Value |   |Stderr|
|-----|------:|------|-----:|-----------|---|-----:|---|-----:|
|{task}|      3|none  |     3|exact_match|↑  |{value}|±  |0.0081|
"""


@pytest.mark.parametrize(("limit", "warned"), [("None", []), ("5.0", ["limited_samples"])])
def test_a_score_of_a_part_says_so(written, limit, warned):
    reading = read_file(written(LM_EVAL.format(limit=limit, task="gsm8k", value="0.9037")))
    assert codes(reading) == warned
    report = {"results": {"gsm8k": {"alias": "gsm8k", "exact_match,none": 0.9}},
              "config": {"limit": None if limit == "None" else 5}}
    assert codes(read_file(written(json.dumps(report)))) == warned


def test_points_above_a_hundred_are_no_percent(written):
    """MME counts points up to 2800: 1873 is not 1873 %."""
    reading = read_file(written(LM_EVAL.format(limit="None", task="mme", value="1873")))
    assert reading.values["scale"] == "points"
    assert value_of("evaluation", reading.values, "score:mme/exact_match") == 1873
