"""What readings measure."""

import pytest

from assessments.verdicts.quantities import quantities, value_of
from workers.readers.base import ReadError


def found(kind, values) -> dict:
    return {q.name: q.value for q in quantities(kind, values)}


def test_a_training_log():
    values = {"loss": {"points": 3}, "iteration_time_ms": {"mean": 500.0},
              "throughput": {"samples_per_second": 20.0}, "memory": {"peak_allocated_mb": 1024}}
    assert found("training_log", values) == {
        "loss_curve": None, "iteration_time_ms": 500.0, "samples_per_second": 20.0,
        "peak_memory_mb": 1024.0}


@pytest.mark.parametrize(("scale", "value"), [("fraction", 0.6842), ("percent", 68.42)])
def test_scores_are_fractions(scale, value):
    scores = [{"task": "ceval", "metric": "accuracy", "filter": "gen", "value": value},
              {"task": None, "metric": "f1", "value": value}]
    assert found("evaluation", {"scores": scores, "scale": scale}) == {
        "score:ceval/accuracy,gen": 0.6842, "score:f1": 0.6842}


def test_expected_scores_are_not_measured():
    scores = [{"task": "gsm8k", "metric": "exact_match", "value": 0.8}]
    assert found("evaluation", {"scores": scores, "expected": True}) == {}


def test_a_benchmark_that_calls_itself_invalid_measures_nothing():
    values = {"latency_ms": {"inference": {"mean": 2.0}}, "valid": False}
    assert found("inference_benchmark", values) == {}
    assert found("inference_benchmark", {**values, "valid": True}) == {"latency_ms": 2.0}


def test_serving_latencies_are_kept_apart():
    values = {"latency_ms": {"ttft": {"mean": 106.8}, "tpot": {"mean": 25.8}},
              "throughput": {"requests_per_second": 0.5, "output_tokens_per_second": 133.67}}
    assert found("inference_benchmark", values) == {
        "ttft_ms": 106.8, "tpot_ms": 25.8, "inference_throughput": 133.67}


@pytest.mark.parametrize("kind", ["npu_smi", "profile", "node_report", "nonsense"])
def test_other_kinds_measure_nothing(kind):
    assert found(kind, {"loss": {}, "scores": []}) == {}


def test_checkpoints_measure_weights_and_changed_parameters():
    files = [{"name": "iter_1/a.pt", "size": 9}, {"name": "iter_2/a.pt", "size": 9},
             {"name": "iter_2/empty.bin", "size": 0}, {"name": "latest.txt", "size": 3}]
    values = {"form": "checkpoints", "files": files, "tensors": 4, "tensors_changed": 3,
              "changed_ratio": 0.75, "tensors_missing": []}
    assert found("node_report", values) == {"weight_files": 2.0, "changed_parameters": 0.75}
    assert found("node_report", {**values, "tensors_missing": ["a"]}) == {"weight_files": 2.0}
    assert found("node_report", {"form": "checkpoints", "files": []}) == {"weight_files": 0.0}


def test_shares_of_the_step_time_weigh_steps_by_their_length():
    def step(**parts):
        return {"Computing": 0.0, "Communication(Not Overlapped)": 0.0, "Free": 0.0, **parts}

    steps = [step(step="1", **{"Communication(Not Overlapped)": 30.0}, Stage=100.0),
             step(step="2", **{"Communication(Not Overlapped)": 30.0}, Free=30.0, Stage=300.0)]
    assert found("profile", {"form": "step_trace_time", "steps": steps}) == {
        "communication_share": 0.15, "free_share": 0.075}
    ranks = [{"type": "rank", "index": "0", **steps[0]}, {"type": "stage", **steps[1]}]
    assert found("profile", {"form": "cluster_step_trace_time", "steps": ranks}) == {
        "communication_share": 0.3, "free_share": 0.0}


def test_a_nan_in_a_comparison_is_no_cosine():
    assert found("accuracy_compare", {"min_cosine": 0.98, "nonfinite": 0}) == {"min_cosine": 0.98}
    [value] = found("accuracy_compare", {"min_cosine": 0.98, "nonfinite": 2}).values()
    assert value != value  # noqa: PLR0124


def test_a_value_that_the_file_contradicts_is_not_picked():
    same = {"task": "ceval", "metric": "accuracy"}
    values = {"scores": [{**same, "value": 0.5}, {**same, "value": 0.5}], "scale": "fraction"}
    assert value_of("evaluation", values, "score:ceval/accuracy") == 0.5
    assert value_of("evaluation", values, "score:mmlu/accuracy") is None
    values["scores"][1]["value"] = 0.7
    with pytest.raises(ReadError) as caught:
        value_of("evaluation", values, "score:ceval/accuracy")
    assert caught.value.code == "contradictory_values"
