"""Releases that a survey names are facts of the rules, as a statement."""

from delivery.surveys.rule_facts import of_answers
from engagements.models import MigratedModel, Role
from tests.delivery.surveys.conftest import fill


def test_releases_in_the_answers_are_stated_and_others_are_not(people, survey):
    fill(survey, people[Role.CONSULTANT], **{
        "libraries@LLM": "flash-attn 2.5、MindSpeed 2.0.0_core_r0.8.0、Megatron-LM core_r0.8.0",
        "libraries@HLM": "无", "cann": "驱动 24.1，CANN：8.0.RC3", "precision@LLM": "bf16"})
    models = {model.code: of_answers(model) for model in MigratedModel.objects.all()}
    assert models["LLM"] == {"source_dtype": "bf16", "surveyed_versions": {
        "cann": "8.0.RC3", "mindspeed": "2.0.0_core_r0.8.0", "megatron": "core_r0.8.0"}}
    assert models["HLM"]["surveyed_versions"] == {"cann": "8.0.RC3"}
