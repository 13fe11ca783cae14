"""What the survey tells rules and figures of a model (DOMAIN R-CFG-25, R-ENV-23)."""

import re
from collections.abc import Collection
from typing import Any

from django.db.models import Q

from assessments.performance.token_rates import register_sequence_lengths
from delivery.surveys.models import Answer
from engagements.models import MigratedModel
from toolreaders.number_parsing import whole_number
from workers.rules.facts.stored import register_provider

# Releases as people write them into the answers: CANN 8.0.RC3, MindSpeed 2.0.0_core_r0.8.0.
RELEASES = {tool: re.compile(rf"\b{name}[\s:：=v]*((?:core_[rv])?\d[\w.]*)", re.IGNORECASE)
            for tool, name in (("cann", "CANN"), ("mindspeed", "MindSpeed"),
                               ("megatron", r"Megatron(?:-LM)?"), ("msprobe", "msprobe"),
                               ("vllm", "vLLM"), ("vllm_ascend", "vLLM[- ]Ascend"),
                               ("mindie", "MindIE"), ("mindformers", "MindFormers"),
                               ("msmodelslim", "msModelSlim"))}


@register_provider
def of_answers(model: MigratedModel) -> dict[str, Any]:
    """The data type on the source platform, and the releases that the answers name of the tools:
    a statement, not a reading of the node."""
    answers = Answer.objects.filter(
        Q(model=model) | Q(model=None, survey__engagement=model.engagement_id),
        question__key__in=("precision", "libraries", "cann")).order_by("pk")
    given = {key: value for key, value in answers.values_list("question__key", "value") if value}
    text = f"{given.get('libraries', '')}\n{given.get('cann', '')}"
    stated = {tool: found[1] for tool, pattern in RELEASES.items()
              if (found := pattern.search(text))}
    facts = {"source_dtype": given["precision"]} if given.get("precision") else {}
    return {**facts, **({"surveyed_versions": stated} if stated else {})}


@register_sequence_lengths
def sequence_lengths(models: Collection[int]) -> dict[int, int]:
    """Tokens of a training sample of each of the models that is answered to be a language model."""
    given = {(model, key): value for model, key, value in Answer.objects.filter(
        model__in=models, question__key__in=("model_kind", "sequence")).order_by("pk").values_list(
        "model", "question__key", "value")}
    return {model: length for model in models if given.get((model, "model_kind")) == "llm"
            and (length := whole_number(str(given.get((model, "sequence"))))) and length > 1}
