"""Results that benchmarks of serving print, in the words of each tool."""

import pytest

from tests.toolreaders.readers.written_formats import TEXTS
from toolreaders import read_file


@pytest.mark.parametrize(("name", "latency", "throughput", "requests"), [
    ("vllm_benchmark_2023", {"e2e": {"mean": 67590}, "token": {"mean": 210},
                             "output_token": {"mean": 1100}}, {"requests_per_second": 5.99}, {}),
    ("trtllm_bench", {"e2e": {"mean": 15093.21}, "ttft": {"mean": 120.5}, "tpot": {"mean": 14.25}},
     {"requests_per_second": 7.3411, "output_tokens_per_second": 7517.2584,
      "total_tokens_per_second": 15034.5168}, {"total": 6144}),
    ("jetstream_benchmark", {"ttft": {"mean": 1274.09, "median": 1273.7, "p99": 1276.27},
                             "tpot": {"mean": 58.04}},
     {"requests_per_second": 3.44, "output_tokens_per_second": 1038.35}, {"completed": 100}),
    ("trtllm_benchmark_2023", {"e2e": {"mean": 4409.75, "p95": 5120.25, "p99": 5130.75}},
     {"output_tokens_per_second": 346}, {}),
    ("llmperf", {"ttft": {"median": 250, "p99": 500, "mean": 275},
                 "itl": {"median": 25, "p99": 50, "mean": 27.5}},
     {"output_tokens_per_second": 30.5}, {"completed": 100, "failed": 2}),
    ("genai_perf", {"ttft": {"mean": 16.26, "min": 12.39, "max": 17.25, "p99": 17.09},
                    "e2e": {"mean": 1200.5, "min": 1100.25, "max": 1300.75, "p99": 1290.5}},
     {"requests_per_second": 7.04, "output_tokens_per_second": 460.42}, {}),
])
def test_what_is_printed(name, latency, throughput, requests, written):
    reading = read_file(written(TEXTS[name]))
    assert (reading.reader, reading.kind) == (name, "inference_benchmark")
    found = {stage: pytest.approx(row) for stage, row in latency.items()}
    assert reading.values["latency_ms"] == found
    assert reading.values["throughput"] == throughput
    assert reading.values["requests"] == requests
    told = {"failed_requests"} if requests.get("failed") else set()
    assert told == {warning.code for warning in reading.warnings} - {"several_results"}


def test_percentiles_and_the_older_table(written):
    trtllm = TEXTS["trtllm_bench"] + "[Latency] P50    : 15010.5\n[TTFT] MAXIMUM: 250.25\n"
    latency = read_file(written(trtllm)).values["latency_ms"]
    assert (latency["e2e"]["p50"], latency["ttft"]["max"]) == (15010.5, 250.25)
    table = ("                     LLM Metrics\n"
             "┏━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━┓\n"
             "┃            Statistic ┃           avg ┃          p99 ┃\n"
             "┡━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━┩\n"
             "│ Request latency (ns) │ 4,110,500,000 │ 5,217,250,000│\n"
             "│     Num output token │           331 │          412 │\n"
             "└──────────────────────┴───────────────┴──────────────┘\n"
             "Output token throughput (per sec): 80.75\nRequest throughput (per sec): 0.25\n")
    values = read_file(written(table)).values
    assert values["latency_ms"] == {"e2e": {"mean": 4110.5, "p99": 5217.25}}
    assert values["throughput"] == {
        "output_tokens_per_second": 80.75, "requests_per_second": 0.25}


VLLM = ("============ Serving Benchmark Result ============\nSuccessful requests:       {done}\n"
        "Benchmark duration (s):    152.5\nRequest throughput (req/s):   {rate}\n")
EVALSCOPE = (" Time taken for tests: 10.5 seconds\n Total requests: {done}\n Average QPS: {rate}\n"
             " Average latency: 9.5\n Average time to first token: 0.25\n")


@pytest.mark.parametrize("form", [VLLM, EVALSCOPE])
def test_a_result_that_is_cut_off_hides_none_and_mixes_with_none(form, written):
    first, second = form.format(done=128, rate=0.84), form.format(done=64, rate=0.42)
    whole, cut = (read_file(written(first + "\n" + text)) for text in (
        second, "".join(second.splitlines(keepends=True)[:2])))
    assert (whole.values["throughput"]["requests_per_second"],
            cut.values["throughput"]["requests_per_second"]) == (0.42, 0.84)
    assert cut.values["requests"].get("total", cut.values["requests"].get("completed")) == 128
    for reading, words in ((whole, "the last one counts"), (cut, "is cut off before its times")):
        assert words in next(
            one.message for one in reading.warnings if one.code == "several_results")


def test_minus_one_of_evalscope_is_no_figure(written):
    text = ('{"Time taken for tests (s)": 0.0, "Total requests": 30, "Succeed requests": 0, '
            '"Failed requests": 30, "Output token throughput (tok/s)": -1, '
            '"Average latency (s)": -1, "Average time to first token (s)": -1}')
    reading = read_file(written(text))
    assert (reading.values["latency_ms"], reading.values["throughput"]) == ({}, {})
    assert [warning.code for warning in reading.warnings] == ["failed_requests"]


def test_policies_are_trained(written):
    values = read_file(written(TEXTS["trl_ppo_log"])).values
    assert (values["loss"]["points"], values["loss"]["last"], values["step_unit"]) == (
        2, -0.0325, "sample")
    assert values["metrics"]["objective/rlhf_reward"]["last"] == 0.5


def test_rewards_stand_beside_the_losses_of_grpo(written):
    lines = [f"{{'loss': 0.0, 'grad_norm': {norm}, 'learning_rate': 1e-06, 'reward': {reward}, "
             f"'reward_std': 0.25, 'kl': 0.0005, 'completion_length': 232.5, 'epoch': {epoch}}}\n"
             for norm, reward, epoch in ((0.0, 1.25, 0.1), (0.5, 1.75, 0.2))]
    values = read_file(written("".join(lines))).values
    assert (values["loss"]["nonfinite"], values["loss"]["last"]) == (0, 0.0)
    assert values["metrics"]["reward"] == {
        "points": 2, "first": 1.25, "last": 1.75, "mean": 1.5, "max": 1.75, "nonfinite": 0}


def test_a_loss_of_zero_without_reward_still_hides_nan(written):
    text = "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 1e-06, 'epoch': 0.1}\n" * 2
    assert read_file(written(text)).values["loss"]["nonfinite"] == 2


def test_llm_c(written):
    values = read_file(written(TEXTS["llm_c_log"])).values
    assert (values["loss"]["first"], values["loss"]["last_step"]) == (11.009, 2)
    assert values["throughput"] == {"tokens_per_second": 500000.0}
    assert values["grad_norm"]["last"] == 15.25
