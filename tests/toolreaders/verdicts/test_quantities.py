"""What readings measure."""

import pytest

from toolreaders.base import ReadError
from toolreaders.verdicts.quantities import quantities, score_name, step_parts, value_of


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


@pytest.mark.parametrize(("kind", "values", "expected"), [
    ("memory", {"peak_allocated_bytes": 3 * 2**20}, ("peak_memory_mb", 3.0, "MB",
                                                     "peak_allocated_bytes")),
    ("memory", {"peak_allocated_bytes": 2**19}, ("peak_memory_mb", 0.5, "MB",
                                                 "peak_allocated_bytes")),
    ("training_log", {"loss": {"points": 3}}, ("loss_curve", None, "", "loss")),
    ("training_log", {"grad_norm": {"mean": 2}}, ("grad_norm_mean", 2.0, "", "grad_norm.mean")),
    ("training_log", {"memory": {"peak_allocated_mb": 7}},
     ("peak_memory_mb", 7.0, "MB", "memory.peak_allocated_mb")),
    ("training_log", {"iteration_time_ms": {"mean": 7}},
     ("iteration_time_ms", 7.0, "ms", "iteration_time_ms.mean")),
    ("training_log", {"throughput": {"samples_per_second": 7}},
     ("samples_per_second", 7.0, "/s", "throughput.samples_per_second")),
    ("inference_benchmark", {"latency_ms": {"inference": {"mean": 7}}},
     ("latency_ms", 7.0, "ms", "latency_ms.inference.mean")),
    ("inference_benchmark", {"latency_ms": {"ttft": {"mean": 7}}},
     ("ttft_ms", 7.0, "ms", "latency_ms.ttft.mean")),
    ("inference_benchmark", {"latency_ms": {"tpot": {"mean": 7}}},
     ("tpot_ms", 7.0, "ms", "latency_ms.tpot.mean")),
    ("inference_benchmark", {"latency_ms": {"e2e": {"mean": 7}}},
     ("e2e_latency_ms", 7.0, "ms", "latency_ms.e2e.mean")),
    ("inference_benchmark", {"throughput": {"batches_per_second": 7}},
     ("inference_throughput", 7.0, "/s", "throughput.batches_per_second")),
    ("inference_benchmark", {"throughput": {"batches_per_second": 7,
                                            "output_tokens_per_second": 8}},
     ("inference_throughput", 8.0, "/s", "throughput.output_tokens_per_second")),
    ("inference_benchmark", {"throughput": {"samples_per_second": 9,
                                            "output_tokens_per_second": 8}},
     ("inference_throughput", 9.0, "/s", "throughput.samples_per_second")),
    ("accuracy_compare", {"min_cosine": 0.98}, ("min_cosine", 0.98, "%", "min_cosine")),
    ("node_report", {"form": "throughput", "tokens_per_second": 7},
     ("tokens_per_second", 7.0, "/s", "tokens_per_second")),
    ("evaluation", {"scores": [{"task": "a", "value": 0.5}]}, ("score:a", 0.5, "",
                                                               "scores.0.value")),
    ("evaluation", {"scores": [{"task": "a", "value": 7}], "scale": "percent"},
     ("score:a", 0.07, "", "scores.0.value")),
])
def test_name_value_unit_and_place(kind, values, expected):
    [quantity] = quantities(kind, values)
    assert (quantity.name, quantity.value, quantity.unit, quantity.place) == expected


@pytest.mark.parametrize(("kind", "values"), [
    ("memory", {}), ("memory", {"peak_allocated_bytes": True}),
    ("memory", {"peak_allocated_bytes": "3"}), ("training_log", {"loss": {}}),
    ("training_log", {"iteration_time_ms": {"mean": False}}),
    ("training_log", {"iteration_time_ms": 500.0}), ("training_log", {"grad_norm": None}),
    ("accuracy_compare", {"nonfinite": 2}), ("evaluation", {"scores": None}),
    ("node_report", {"form": "other", "tokens_per_second": 7}),
    ("node_report", {"form": "throughput", "tokens_per_second": None})])
def test_what_measures_nothing(kind, values):
    assert found(kind, values) == {}


def test_a_score_that_is_no_number_is_nan_at_its_place():
    values = {"scores": [{"task": "a", "value": 1}, {"task": "b", "value": None},
                         {"task": "c", "value": True}]}
    [one, none, truth] = quantities("evaluation", values)
    assert (one.value, none.place, truth.place) == (1, "scores.1.value", "scores.2.value")
    assert none.value != none.value
    assert truth.value != truth.value


@pytest.mark.parametrize(("score", "name"), [
    ({"task": "a", "metric": "m", "filter": "f"}, "score:a/m,f"),
    ({"task": "a", "metric": "m", "filter": "none"}, "score:a/m"),
    ({"task": "a", "metric": "none", "filter": ""}, "score:a"), ({"metric": "m"}, "score:m"),
    ({}, "score:"), ({"task": "x" * 101}, "score:" + "x" * 100)])
def test_names_of_scores(score, name):
    assert score_name(score) == name


@pytest.mark.parametrize(("name", "size", "counted"), [
    ("a.pt", 1, 1), ("a.PT", 1, 1), ("a.safetensors", 1, 1), ("a.npy", 1, 1), ("a.pt", 0, 0),
    ("a.pt", None, 0), ("a.txt", 1, 0), ("", 1, 0), ("pt", 1, 0), ("a.ckpt.meta", 1, 0)])
def test_which_files_are_weights(name, size, counted):
    values = {"form": "checkpoints", "files": [{"name": name, "size": size}, "no entry"]}
    [weights] = quantities("node_report", values)
    assert (weights.name, weights.value, weights.unit, weights.place) == (
        "weight_files", counted, "", "files")


@pytest.mark.parametrize(("tensors", "missing", "is_measured"), [
    (4, [], True), (4, None, True), (0, [], False), (4, ["a"], False)])
def test_changed_parameters_need_the_same_tensors(tensors, missing, is_measured):
    values = {"form": "checkpoints", "files": None, "tensors": tensors,
              "tensors_missing": missing, "changed_ratio": 0.5}
    rest = [(q.name, q.value, q.unit, q.place) for q in quantities("node_report", values)][1:]
    assert rest == ([("changed_parameters", 0.5, "%", "changed_ratio")] if is_measured else [])


TRACE_ROW = {"Computing": 6.0, "Communication(Not Overlapped)": 3.0, "Free": None, "Stage": 10.0}


def test_parts_of_each_row_of_a_trace():
    rows = [{**TRACE_ROW, "index": "7", "type": "rank"}, {**TRACE_ROW, "step": 5}, TRACE_ROW,
            {**TRACE_ROW, "type": "stage"}]
    parts = {"computing": 6.0, "communication": 3.0, "free": 0.0, "stage": 10.0}
    for form in ("step_trace_time", "cluster_step_trace_time"):
        assert step_parts({"form": form, "steps": rows}) == [
            {"label": "7", "is_rank": True, **parts}, {"label": "5", "is_rank": False, **parts},
            {"label": "3", "is_rank": False, **parts}]
    assert step_parts({"form": "op_summary", "steps": rows}) == []
    assert step_parts({"form": "step_trace_time"}) == []


def test_shares_have_unit_and_place_and_need_a_length():
    [share, free] = quantities("profile", {"form": "step_trace_time", "steps": [TRACE_ROW] * 2})
    assert (share.name, share.value, share.unit, share.place, free.value) == (
        "communication_share", 0.3, "%", "steps", 0.0)
    nothing = [{**TRACE_ROW, "Stage": 0.0}]
    assert found("profile", {"form": "step_trace_time", "steps": nothing}) == {}
    below = [{**TRACE_ROW, "Stage": -1.0}]
    assert found("profile", {"form": "step_trace_time", "steps": below}) == {}
    one = [{**TRACE_ROW, "Stage": 1.0}]
    assert found("profile", {"form": "step_trace_time", "steps": one})["communication_share"] == 3


@pytest.mark.parametrize(("nonfinite", "is_nan"), [(0, False), (None, False), (1, True)])
def test_a_comparison_with_what_is_not_finite(nonfinite, is_nan):
    [value] = found("accuracy_compare", {"min_cosine": 1, "nonfinite": nonfinite}).values()
    assert (value != value) is is_nan  # noqa: PLR0124


def test_the_number_of_values_that_contradict_is_told():
    values = {"scores": [{"task": "a", "value": n / 4} for n in range(3)]}
    with pytest.raises(ReadError, match="The file holds 3 different values of score:a"):
        value_of("evaluation", values, "score:a")


def test_stability_is_read_from_losses_and_requests():
    """Only where the file counts both: no failures told is not none failed."""
    def stable(kind, values):
        return {q.name: q.value for q in quantities(kind, values)
                if q.name in ("finite_steps", "request_success")}

    assert stable("training_log", {"loss": {"points": 400, "nonfinite": 4}}) == {
        "finite_steps": 0.99}
    assert stable("training_log", {"loss": {"points": 0, "nonfinite": 0}}) == {}
    assert stable("inference_benchmark", {"requests": {"completed": 99, "failed": 1}}) == {
        "request_success": 0.99}
    assert stable("inference_benchmark", {"requests": {"completed": 1, "failed": 3}}) == {
        "request_success": 0.25}
    assert stable("inference_benchmark", {"requests": {"completed": 99, "failed": None}}) == {}
