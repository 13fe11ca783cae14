"""Inference benchmarks, profiles, memory, scaling and evaluation."""

import pytest

from toolreaders import ReadError, read_file
from toolreaders.verdicts.quantities import quantities


def codes(reading):
    return [warning.code for warning in reading.warnings]


def test_mindie(sample):
    reading = read_file(sample("performance/benchmark_QwQ32B_before_tuning.log"))
    values = reading.values
    assert (reading.kind, reading.tool) == ("inference_benchmark", "MindIE Benchmark")
    assert values["latency_ms"]["ttft"]["mean"] == 106.8642
    assert values["latency_ms"]["itl"]["slo_p90"] == 507.8787
    assert values["throughput"]["output_tokens_per_second"] == 35.9032
    assert (values["requests"]["completed"], values["requests"]["failed"]) == (200, 0)
    assert values["metrics"]["QueueWaitTime"]["average"] == "246183.0655 μs"
    assert codes(reading) == []


def test_aisbench_csv_and_json(sample):
    latency = read_file(sample("performance/ais_out_synthetic.csv")).values["latency_ms"]
    assert (latency["ttft"]["mean"], latency["ttft"]["p99"], latency["e2e"]["mean"]) == (
        33.0,
        80.5,
        454.6,
    )
    values = read_file(sample("performance/ais_out_synthetic.json")).values
    assert values["throughput"]["output_tokens_per_second"] == 759.214
    assert values["duration_s"] == pytest.approx(1.2552455)


@pytest.mark.parametrize(("unit", "factor"), [("us", 1), ("ns", 1000)])
def test_marks_of_msproftx(written, unit, factor):
    """Columns of the CANN documentation: ns up to 7.0, µs from 8.0 on."""
    rows = [("prefill", 100, 400), ("decode", 400, 500), ("decode", 500, 620)]
    reading = read_file(written(
        f"pid,tid,category,event_type,payload_type,payload_value,Start_time({unit}),"
        f"End_time({unit}),message_type,message\n" + "".join(
            f"7,7,0,push/pop,0,0,{start * factor},{end * factor},0,{mark}\n"
            for mark, start, end in rows)))
    values = reading.values
    assert (reading.kind, values["form"], reading.tool) == ("profile", "msprof_tx", "msprof")
    assert (values["count"], values["total_us"]) == (3, pytest.approx(520))
    assert [(m["mark"], m["count"], m["us"]) for m in values["top"]] == [
        ("prefill", 1, pytest.approx(300)), ("decode", 2, pytest.approx(220))]


def test_overview_of_the_advisor_is_figures(sample):
    reading = read_file(sample("performance/advisor_level1_rank0.xlsx"))
    assert {q.name: q.value for q in quantities(reading.kind, reading.values)} == pytest.approx({
        "computing_share": 0.065, "communication_share": 0.7465, "free_share": 0.1885,
        "memory_move_share": 0.0042})


def test_vllm_json_and_console(sample):
    values = read_file(sample("performance/bench_serve_2qps.json")).values
    assert values["latency_ms"]["ttft"]["p99"] == 194.32214569999346
    assert values["requests"]["failed"] == 0
    values = read_file(sample("performance/ascend_qwen3-8b_serve.console.txt")).values
    assert values["latency_ms"]["tpot"]["mean"] == 25.85
    assert values["throughput"]["output_tokens_per_second"] == 133.67


def test_failed_requests_and_figures_that_do_not_fit(sample, written):
    text = sample("performance/ascend_qwen3-8b_serve.console.txt").read_text()
    text = text.replace("133.67", "533.67").replace(
        "Failed requests:                         0", "Failed requests:                         2"
    )
    assert codes(read_file(written(text))) == ["failed_requests", "inconsistent_figures"]


def test_mlperf_is_in_nanoseconds_and_only_valid_runs_count(sample, written):
    path = sample("performance/ss.mlperf_log_summary.txt")
    values = read_file(path).values
    assert values["headline"] == {"name": "90.0th percentile latency (ns)", "value": 2096368.0}
    assert values["latency_ms"]["inference"]["p99"] == pytest.approx(2.958763)
    reading = read_file(written(path.read_text().replace(": VALID", ": INVALID")))
    assert (reading.values["valid"], codes(reading)) == (False, ["invalid_run"])


def test_offline_tools(sample):
    values = read_file(sample("performance/ais_bench_twins_svt_l.txt")).values
    assert values["throughput"]["samples_per_second"] == pytest.approx(148.1286544184991)
    values = read_file(sample("performance/benchmark_deit_small_bs1.txt")).values
    assert values["throughput"]["samples_per_second_310_card"] == pytest.approx(415.18)
    values = read_file(sample("performance/msame_3dunet_bs1.txt")).values
    assert values["latency_ms"]["inference"] == {"mean": 92.93, "mean_without_first": 92.92}


def test_profiler_tables(sample):
    values = read_file(sample("performance/step_trace_time.csv")).values
    assert values["steps"][0]["free_share"] == pytest.approx(0.188489, abs=1e-6)
    assert values["largest_gap_us"] < 0.2
    values = read_file(sample("performance/op_statistic.csv")).values
    assert (values["rows"], values["count"]) == (33, 187)
    assert values["total_us"] == pytest.approx(8873.751)
    assert values["top"][0]["type"] == "ForeachAddList"


def test_operator_types_repeat_per_core(written):
    text = (
        "OP Type,Core Type,Count,Total Time(us)\n"
        "MatMul,AI_CORE,2,10.0\nAdd,AI_VECTOR_CORE,1,12.0\nMatMul,MIX_AIC,1,5.0\n"
    )
    top = read_file(written(text)).values["top"]
    assert [(row["type"], row["us"]) for row in top] == [("MatMul", 15.0), ("Add", 12.0)]


def test_a_profile_without_rows_is_an_error(written):
    with pytest.raises(ReadError) as error:
        read_file(written("Step,Computing,Communication(Not Overlapped),Free,Stage\n"))
    assert error.value.code == "no_rows"


def test_memory(sample):
    values = read_file(sample("performance/memory_summary_optimised.txt")).values
    assert values["peak_allocated_bytes"] == 35860 * 1024**2
    assert (values["ooms"], values["retries"]) == (0, 2)
    reading = read_file(sample("performance/oom_npu.txt"))
    assert reading.values["requested_bytes"] == 260 * 1024**2
    assert codes(reading) == ["out_of_memory"]


def efficiency(values, base, cards, configuration):
    return next(
        one["efficiency"]
        for one in values["efficiencies"]
        if (one["base_cards"], one["cards"], one["configuration"]) == (base, cards, configuration)
    )


def test_scaling(sample):
    reading = read_file(sample("performance/arcface_1_8_32p.md"))
    assert efficiency(reading.values, 8, 32, ["O1"]) == pytest.approx(0.8747555)
    assert efficiency(reading.values, 1, 32, ["O1"]) == pytest.approx(1.3037712)
    assert codes(reading) == ["superlinear_scaling", "superlinear_scaling"]
    assert reading.values["npu_vs_gpu"][0]["npu_over_gpu"] == pytest.approx(0.99647, abs=1e-5)
    values = read_file(sample("performance/flagperf_bert_hf_a100.md")).values
    assert efficiency(values, 1, 8, ["fp32"]) == pytest.approx(0.88866, abs=1e-5)


def test_tokens_per_card_are_multiplied(written):
    table = (
        "| 设备 | 卡数 | tokens/p/s |\n|---|---|---|\n"
        "| NPU | 8 | 100 |\n| NPU | 16 | 90 |\n| 竞品A | 8 | 110 |\n"
    )
    values = read_file(written(table)).values
    assert [row["throughput"] for row in values["rows"]] == [800, 1440, 880]
    assert values["efficiencies"][0]["efficiency"] == pytest.approx(0.9)


def test_evaluations(sample):
    rows = read_file(sample("performance/gpu_npu_gated_deltanet_340M.md")).values["comparisons"]
    by_task = {row["task"]: row for row in rows}
    assert by_task["OpenBookQA"]["relative"] == pytest.approx(0.0828025)
    assert by_task["Avg."]["candidate"] == 0.445
    score = read_file(sample("performance/ceval_md.txt")).values
    assert (score["scores"][0]["value"], score["scale"]) == (68.42, "percent")
    scores = read_file(sample("performance/console_bf16.log")).values["scores"]
    assert [(s["task"], s["metric"], s["value"]) for s in scores] == [
        ("shkA_lastword", "acc", 0.0667),
        ("shkA_lastword", "acc_norm", 0.1933),
        ("shkB_lastword", "acc", 0.0767),
        ("shkB_lastword", "acc_norm", 0.22),
    ]
    expected = read_file(sample("performance/Qwen3-8B-W8A8.yaml"))
    assert [score["value"] for score in expected.values["scores"]] == [0.8, 0.82]
    assert codes(expected) == ["expected_not_measured"]


def test_hf_evaluation(written):
    values = read_file(written('{"epoch": 3.0, "eval_accuracy": 0.9044, "eval_loss": 0.37}')).values
    assert values["scores"] == [{"task": None, "metric": "accuracy", "value": 0.9044}]


TIMELINES = "performance/timeline_synthetic/rank{}_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"


def test_timeline_of_a_trace(sample):
    """In the form of Ascend/msprof's overlap_analysis_assembler.cpp; the sums are those of the
    events that were written, in µs. Host events of the same name count for nothing."""
    values = read_file(sample(TIMELINES.format(0))).values
    assert (values["events"], values["phases"]) == (115, {"M": 19, "X": 96})
    [timeline] = values["timelines"]
    assert timeline["totals_us"] == pytest.approx({
        "computing": 38978.439, "communication": 18421.8625, "uncovered": 3723, "free": 1224.75})
    for part, shares in timeline["shares"].items():
        assert len(shares) <= 240
        assert sum(shares) * timeline["span_us"] == pytest.approx(
            timeline["totals_us"][part], rel=0.01)


EVENT = '{"ph": "X", "name": "Computing", "pid": 1, "ts": "5", "dur": 2}'


@pytest.mark.parametrize("rest", [
    "[" * 100_000, '{"a": ' * 100_000, '["]", ' * 50_000, f'{{"name": "{"x" * 600_000}"}}]', "",
    '{"dur": NaN}]'])
def test_hostile_traces_are_refused(written, rest):
    with pytest.raises(ReadError) as error:
        read_file(written(f"[{EVENT}, {rest}"))
    assert error.value.code == "damaged_json"


def test_a_trace_without_the_layer_has_no_timeline(written):
    assert read_file(written(f"[{EVENT}]")).values["timelines"] == []
    layer = '{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "Overlap Analysis"}}'
    [found] = read_file(written(f'{{"traceEvents": [{EVENT}, {layer}]}}')).values["timelines"]
    assert (found["totals_us"], found["start_us"]) == ({"computing": 2}, 5)


def test_graph_of_mindspore(written):
    """As MindSpore's guide prints it: a node, then its inputs and outputs."""
    from tests.toolreaders.readers.written_formats import TEXTS

    reading = read_file(written(TEXTS["mindspore_graph"], "graph_build_0_0042.ir"))
    assert (reading.kind, reading.tool, reading.values["form"]) == ("memory", "MindSpore", "graph")
    assert reading.values["operators"] == {"MatMul": 1, "Softmax": 1}
    assert reading.values["tensor_bytes"] == 32 * 64 * 2 + 32 * 64 * 4
    assert reading.values["tensors"][0] == {
        "name": "CNode_309$b", "operator": "Softmax", "dtype": "Float32", "shape": "32, 64",
        "bytes": 8192}


def test_times_of_a_subscription(written):
    rows = ["model_id,op_name,op_type,start_ns,end_ns,duration_us",
            "1,conv1,Conv2D,1000,31000,30.0", "1,relu1,Relu,31000,41000,10.0"]
    values = read_file(written("\n".join(rows) + "\n", "subscription.csv")).values
    assert (values["form"], values["kernels"], values["total_us"]) == ("acl_subscription", 2, 40.0)
    assert values["top"][0] == {"type": "Conv2D", "us": 30.0, "share": 0.75}
