"""Which criteria cover an agreed aspect is declared with the quantities, not caught by a list."""

from assessments.definitions.route_aspects import ASKED, Side, asked_of, aspect_shown
from engagements.migration_routes import InferenceRoute
from engagements.models import MigratedModel
from toolreaders.verdicts.quantity_rows import QUANTITIES

SERVED, CONVERTED = {"mindie", "vllm_ascend"}, {"offline", "mindspore_lite", "online"}
RATED = {"human_not_worse", "rated_not_worse", "rated_score_loss"}
COVERED_BY = {
    ("training", "function", frozenset()): {"weight_files", "changed_parameters"},
    ("training", "accuracy", frozenset()): {"loss_curve", "score", *RATED},
    ("training", "performance", frozenset()): {
        "tokens_per_second", "samples_per_second", "iteration_time_ms", "peak_memory_mb"},
    ("training", "stability", frozenset()): {"finite_steps"},
    ("inference", "function", frozenset(CONVERTED)): {"min_cosine"},
    ("inference", "function", frozenset(SERVED)): {"request_success"},
    ("inference", "accuracy", frozenset()): {"score", "min_cosine", *RATED},
    ("inference", "performance", frozenset()): {
        "inference_throughput", "latency_ms", "ttft_ms", "tpot_ms", "e2e_latency_ms"},
    ("inference", "stability", frozenset(SERVED)): {"request_success"}}
DIAGNOSES = {"communication_share", "computing_share", "free_share", "memory_move_share", "mfu",
             "mbu", "hbm_hit_rate", "grad_norm_mean"}


def test_every_aspect_and_what_may_cover_it():
    assert {(row.side, row.aspect, frozenset(row.routes)): set(row.quantities)
            for row in ASKED} == COVERED_BY
    assert {row.name for row in QUANTITIES if not row.covers} == DIAGNOSES
    assert set(InferenceRoute.values) == SERVED | CONVERTED


def test_a_diagnosis_stands_beside_the_aspects():
    for side in Side:
        asked = asked_of(MigratedModel(inference_route="mindie"), side)
        assert {aspect_shown(asked, name) for name in DIAGNOSES} == {None}


def test_a_delivery_is_not_covered_by_a_figure_of_the_other():
    asked = asked_of(MigratedModel(), Side.INFERENCE)
    assert aspect_shown(asked, "tokens_per_second") is None
    assert aspect_shown(asked, "latency_ms:b8") == "performance"
