"""Criteria that are bound to a point of a benchmark, MFU and MBU with their inputs."""

import json
from decimal import Decimal

import pytest
from django.utils.translation import override

from assessments import services
from assessments.models import Measurement, Outcome
from assessments.presentation.quantity_labels import quantity_label
from assessments.services.criteria_signing import criteria_facts
from engagements.errors import InvalidInput
from engagements.models import Role
from engagements.stages import Stage
from tests.assessments.conftest import megatron_log
from toolreaders.verdicts.quantities import quantities, value_of
from workers import kinds
from workers.models import Job

POINT = "c8,i1024,o256"


@pytest.fixture(autouse=True)
def _in_english():
    kinds.load_all()
    with override("en"):
        yield


def result(concurrency: int, ttft: float, points: int = 2, given: int = 1024) -> bytes:
    """JSON as `vllm bench serve --save-result --metadata` writes it."""
    return json.dumps({
        "date": "20261121-000802", "endpoint_type": "vllm", "model_id": "m", "num_prompts": 10,
        "input_len": str(given), "output_len": "256", "points": str(points),
        "request_rate": "inf", "max_concurrency": concurrency, "duration": 10.0, "completed": 10,
        "failed": 0, "total_input_tokens": 10 * given, "total_output_tokens": 2560,
        "request_throughput": 1.0, "output_throughput": 256.0, "total_token_throughput": 1280.0,
        "mean_ttft_ms": ttft, "mean_tpot_ms": 12.5, "mean_e2el_ms": 3300.0}).encode()


def values(data: bytes, tmp_path) -> dict:
    from toolreaders import read_file

    path = tmp_path / "r.json"
    path.write_bytes(data)
    return read_file(path).values


def test_a_sweep_s_result_stands_for_its_point_only(tmp_path):
    names = {q.name for q in quantities("inference_benchmark", values(result(8, 90), tmp_path))}
    assert f"ttft_ms:{POINT}" in names
    assert "ttft_ms" not in names
    alone = values(result(8, 90, points=1), tmp_path)
    assert value_of("inference_benchmark", alone, "ttft_ms") == 90
    assert value_of("inference_benchmark", alone, f"ttft_ms:{POINT}") == 90


def test_an_offline_model_s_result_names_its_batch():
    found = {q.name: q.value for q in quantities("inference_benchmark", {
        "batch_size": 8.0, "latency_ms": {"inference": {"mean": 4.5}}})}
    assert found == {"latency_ms": 4.5, "latency_ms:b8": 4.5}


@pytest.fixture
def at_point(people, draft, model, definitions):
    return services.add_criterion(
        actor=people[Role.MANAGER], criteria_set=draft, model=model, point=POINT,
        definition=definitions["first_token_latency"], stage=Stage.INFER_TUNE,
        threshold=Decimal(100))


@pytest.mark.slow
def test_only_results_at_the_point_are_judged(people, model, store, at_point):
    def judged(data, name):
        services.measure_file(actor=people[Role.CONSULTANT], model=model,
                              artifact=store(name, data, model))
        return services.judge_criterion(at_point)

    assert judged(result(32, 500), "c32.json").outcome == Outcome.NOT_MEASURED
    assert judged(result(8, 90), "c8.json").figure == 90
    assert judged(result(8, 40, given=128), "short.json").figure == 90
    assert judged(result(8, 120), "again.json").figure == 120
    assert at_point.quantity == f"ttft_ms:{POINT}"
    assert quantity_label(at_point.quantity) == (
        "Time to the first token (8 concurrent, 1024 tokens in, 256 out)")


def test_the_point_is_signed_and_copied_and_others_sign_as_before(people, draft, model, at_point,
                                                                  definitions):
    services.add_criterion(
        actor=people[Role.MANAGER], criteria_set=draft, model=model, threshold=Decimal(100),
        definition=definitions["first_token_latency"], stage=Stage.INFER_TUNE)
    bound, plain = criteria_facts(draft)
    assert (bound["point"], "point" in plain) == (POINT, False)


@pytest.mark.parametrize(("point", "code"), [
    ("8 requests", "first_token_latency"), (POINT, "score_relative_error")])
def test_a_point_goes_with_latency_and_throughput(people, draft, model, definitions, point, code):
    with pytest.raises(InvalidInput, match="A point such as"):
        services.add_criterion(
            actor=people[Role.MANAGER], criteria_set=draft, model=model, point=point,
            definition=definitions[code], stage=Stage.INFER_TUNE, threshold=Decimal("0.02"))


# Utilisation ------------------------------------------------------------------------


@pytest.fixture
def computed(model, engagement, store, people):
    def of(code: str, data: bytes, name: str, **parameters):
        artifact = store(name, data, model)
        kind = kinds.get(code)
        field = "log" if code == "perf.mfu" else "result"
        job = Job.objects.create(kind=code, engagement=engagement, model=model)
        return kind.run_here(job, kind.clean({field: artifact.pk, **parameters}))
    return of


MFU = {"seq_length": 1000, "cards_used": 8, "parameters_billion": 1.0, "num_layers": 10,
       "hidden_size": 2000, "peak_tflops": 100.0, "peak_source": "data sheet"}


def test_mfu_is_the_formula_with_its_inputs(computed):
    judgement, files = computed("perf.mfu", megatron_log([4, 3, 2] * 20), "t.log", **MFU)
    tokens = 10 * 1000 / 0.5  # 10 sequences of 1000 tokens per 500 ms
    expected = tokens * (6e9 + 12 * 10 * 2000 * 1000) / (8 * 100e12)
    report = json.loads(files["mfu.report.json"])
    assert report["mfu"] == pytest.approx(expected)
    assert (report["peak_source"], report["parameters_from"]) == ("data sheet", "typed")
    assert judgement.message % judgement.values == (
        "15.6 % = 2e+04 tokens/s × 6.24 GFLOP ÷ (8 cards × 100 TFLOPS); 1 billion parameters; "
        "peak after data sheet.")


@pytest.mark.parametrize(("left_out", "missing"), [
    ("peak_tflops", "peak of the chip"), ("parameters_billion", "number of parameters"),
    ("num_layers", "layers and hidden size")])
def test_mfu_is_not_provable_without_an_input(computed, left_out, missing):
    given = {name: value for name, value in MFU.items() if name != left_out}
    judgement, files = computed("perf.mfu", megatron_log([4, 3, 2] * 20), "t.log", **given)
    assert (judgement.is_success, files) == (False, {})
    assert judgement.message % judgement.values == f"Not provable, missing: {missing}."


def test_more_than_the_peak_is_no_success(computed):
    judgement, _files = computed("perf.mfu", megatron_log([4, 3] * 20), "t.log",
                                 **{**MFU, "peak_tflops": 1.0})
    assert not judgement.is_success
    assert "above the peak" in judgement.message


def test_a_typed_peak_needs_a_source_and_no_chip():
    kind = kinds.get("perf.mfu")
    for more in ({"peak_source": ""}, {"chip": "Ascend 910B"}):
        with pytest.raises(InvalidInput):
            kind.clean({"log": 1, **MFU, **more})


def test_mbu_counts_weights_and_cache(computed):
    judgement, files = computed(
        "perf.mbu", result(1, 50, points=1), "r.json", cards_used=1, parameters_billion=7.0,
        num_layers=32, kv_width=1024, context=1000, batch=1, peak_gb_per_second=1600.0,
        peak_source="data sheet")
    expected = (14e9 + 2 * 32 * 1024 * 1000 * 2) / 0.0125 / 1.6e12
    assert judgement.is_success
    assert json.loads(files["mbu.report.json"])["mbu"] == pytest.approx(expected)


@pytest.mark.parametrize(("form", "code"), [
    ("mfu", "model_flops_utilisation"), ("mbu", "memory_bandwidth_utilisation")])
def test_they_measure_their_criteria(store, model, definitions, form, code):
    data = json.dumps({"desk_report": form, form: 0.42}).encode()
    services.measure_artifact(store(f"{form}.report.json", data, model))
    measured = Measurement.objects.get(quantity=definitions[code].quantity)
    assert measured.value == 0.42
