"""Measured quantities in words; codes stay in files and in the API."""

from django.utils.translation import override

from assessments.definitions.standard_library import STANDARD
from assessments.presentation.quantity_labels import quantity_label
from toolreaders.verdicts.quantity_rows import BY_NAME


def test_every_quantity_of_a_standard_definition_has_words():
    assert {entry.quantity for entry in STANDARD} - BY_NAME.keys() == set()


def test_a_task_stands_in_brackets_and_an_unknown_one_as_it_is():
    with override("en"):
        assert quantity_label("latency_ms") == "Inference latency"
        assert quantity_label("score:gsm8k/exact_match") == "Evaluation score (gsm8k/exact_match)"
        assert quantity_label("loss_curve:stage 2") == "Training loss, step by step (stage 2)"
        assert quantity_label("jitter") == "jitter"
