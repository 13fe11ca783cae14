"""A survey of two models: one with training, one for inference only."""

import pytest

from delivery.surveys import services
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.consequences import compare
from delivery.surveys.services import Change, save_answers, start_survey
from engagements import services as engagement_services
from engagements.models import Role
from engagements.stages import Scope
from tests.cached_fixtures import cached_fixture

SAMPLES = {"text": "说明", "number": "8", "date": "2026-03-31", "bool": "no", "file": "s3://inputs"}
GIVEN = {"model_name": "模型 v1", "framework": "pytorch", "framework_version": "2.1.0",
         "chip": "910b", "risks": ["data", "network"], "scope": ["full"],
         "special_apis": ["none"]}


@pytest.fixture
@cached_fixture
def survey(people, engagement):
    manager = people[Role.MANAGER]
    engagement_services.add_model(actor=manager, engagement=engagement, code="LLM", name="大模型",
                       name_en="Language model")
    engagement_services.add_model(actor=manager, engagement=engagement, code="HLM", name="安全帽",
                       name_en="Helmets", scope=Scope.INFERENCE)
    return start_survey(actor=people[Role.CONSULTANT], engagement=engagement)


@pytest.fixture
@cached_fixture
def complete(survey, people):
    """Every required input answered."""
    return fill(survey, people[Role.CONSULTANT])


def fill(survey, actor, **given):
    """Answer what is given and, until nothing is missing, what is required."""
    given = {"model_scope@LLM": "full", "model_scope@HLM": "inference", **GIVEN, **given}
    while wanted := [cell for cell in Sheet(survey).asked if cell.is_missing or (
            cell.value is None and cell.name in given)]:
        saved = save_answers(actor=actor, survey=survey, changes=[
            Change(cell.name, given.get(cell.name, given.get(
                cell.question.key, sample(cell.question))), cell.revision) for cell in wanted])
        assert not saved.errors
    return survey


def sample(question):
    options = question.options
    if question.type == "multi":
        return [options[0]["code"]]
    return options[0]["code"] if options else SAMPLES[question.type]


ANSWERS = {
    "model_scope@LLM": "full", "custom_ops@LLM": "yes", "custom_ops_list@LLM": "rope；swiglu",
    "parallel@LLM": "TP2 PP2 DP2", "train_cards@LLM": "16", "train_nodes@LLM": "2",
    "learning_rate@LLM": "1e-4", "seed@LLM": "1234", "clip_grad@LLM": "1.0", "micro_batch@LLM": "1",
    "model_kind@LLM": "llm", "model_kind@HLM": "vision", "sequence@LLM": "2048",
    "global_batch@LLM": "16", "precision@LLM": "bf16", "repeats@LLM": "1",
    "libraries@LLM": "flash-attn 2.5、Megatron 0.8", "parameters@LLM": "7",
    "deadline": "2026-12-31",
    "model_format@LLM": "onnx", "framework@HLM": "onnx", "libraries@HLM": "无",
    "code_origin@LLM": "own", "network": "intranet", "scope": ["inference"]}


@pytest.fixture
@cached_fixture
def confirmed(survey, people):
    """A confirmed survey of a training and an inference model."""
    return confirm(fill(survey, people[Role.CONSULTANT], **ANSWERS), people)


def confirm(survey, people):
    services.submit_survey(actor=people[Role.REVIEWER], survey=survey)
    services.confirm_survey(actor=people[Role.CONSULTANT], survey=survey)
    survey.refresh_from_db()
    return survey


def change(survey, people, **answers):
    """Reopen, change answers (named with _at_ for @), confirm again."""
    services.reopen_survey(actor=people[Role.CONSULTANT], survey=survey)
    cells = Sheet(survey).cells
    names = {key.replace("_at_", "@"): value for key, value in answers.items()}
    saved = save_answers(actor=people[Role.CONSULTANT], survey=survey, changes=[
        Change(name, value, cells[name].revision) for name, value in names.items()])
    assert not saved.errors
    fill(survey, people[Role.CONSULTANT])
    return confirm(survey, people)


def apply(survey, people, *codes):
    tokens = [r.token for r in compare(Sheet(survey)) if r.code in codes] if codes else None
    return services.apply_consequences(actor=people[Role.MANAGER], survey=survey, tokens=tokens)


def rows(survey):
    return {row.code: row for row in compare(Sheet(survey))}
