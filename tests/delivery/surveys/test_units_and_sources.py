"""Units follow the kind of model, and a figure that was published is not taken for measured."""

import pytest

from delivery.planning.models import Risk
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.consequences import CountedAnswers
from delivery.surveys.consequences.baselines import draft_links
from delivery.surveys.services import Change, save_answers
from engagements.models import MigratedModel, Role
from tests.delivery.surveys.conftest import apply, change, rows
from workers import kinds
from workers.jobs.form_defaults import defaults_for

TOKENS = {"token_throughput", "token_latency", "first_token", "token_latency_target",
          "first_token_target", "token_throughput_target", "input_length", "output_length"}
SAMPLES = {"throughput", "latency", "latency_target", "throughput_target", "inference_shape"}


def test_language_models_are_asked_in_tokens_and_others_in_samples(confirmed):
    asked = {cell.name for cell in Sheet(confirmed).asked}
    assert {f"{key}@LLM" for key in TOKENS} <= asked
    assert {f"{key}@HLM" for key in SAMPLES} <= asked
    assert not asked & {f"{key}@HLM" for key in TOKENS} | asked & {
        f"{key}@LLM" for key in SAMPLES}


def test_draft_baselines_hold_the_quantity_that_the_unit_means(confirmed, people):
    change(confirmed, people, token_throughput_at_LLM="94208", token_latency_at_LLM="32",
           throughput_at_HLM="310", latency_at_HLM="38")
    drafts = {code.removeprefix("baseline:"): row.item.value["value"]
              for code, row in rows(confirmed).items()
              if row.kind == "baseline" and "value" in row.item.value}
    assert {name: drafts[name] for name in ("tokens_per_second@LLM", "tpot_ms@LLM",
                                            "inference_throughput@HLM", "latency_ms@HLM")} == {
        "tokens_per_second@LLM": "94208", "tpot_ms@LLM": "32",
        "inference_throughput@HLM": "310", "latency_ms@HLM": "38"}
    assert not {"samples_per_second@LLM", "inference_throughput@LLM", "latency_ms@LLM",
                } & set(drafts)


@pytest.mark.slow
def test_a_published_baseline_is_a_risk_and_says_so_in_its_draft(confirmed, people, client):
    change(confirmed, people, accuracy_source_at_LLM="published",
           accuracy_publication_at_LLM="模型卡 v1", performance_source_at_LLM="measured_us")
    apply(confirmed, people)
    risk = Risk.objects.get(title_en__startswith="The accuracy baseline is published")
    assert "LLM" in risk.title_en
    assert not Risk.objects.filter(title_en__startswith="The performance baseline").exists()
    found = rows(confirmed)
    score, speed = (found[f"baseline:{key}@LLM"].applied.value for key in (
        "score", "tokens_per_second"))
    assert (score["origin"], score["source"], speed["origin"]) == (
        "published", "模型卡 v1", "measured")
    [link] = [entry["url"] for entry in draft_links(found.values(), confirmed)
              if entry["applied"].code == "baseline:score@LLM"]
    client.force_login(people[Role.CONSULTANT])
    form = client.get(link).context["form"]
    assert (form["origin"].value(), form["source"].value()) == ("published", "模型卡 v1")


def test_data_that_was_not_cleaned_is_a_risk(confirmed, people):
    assert "risk:raw_data" not in rows(confirmed)
    change(confirmed, people, cleaning_done_at_LLM=["none"])
    assert rows(confirmed)["risk:raw_data"].item.value["models"] == ["LLM"]


@pytest.mark.slow
def test_hyper_parameters_one_by_one_go_before_those_in_a_text(confirmed, people):
    llm = MigratedModel.objects.get(code="LLM")
    change(confirmed, people, hyper_at_LLM="seed 7, weight decay 0.1", warmup_at_LLM="1",
           warmup_unit_at_LLM="percent", betas_at_LLM="0.9, 0.95")
    given = CountedAnswers(Sheet(confirmed))
    assert given.hyper(llm) == {"seed": 1234, "learning_rate": 1e-4, "clip_grad": 1,
                                "micro_batch_size": 1, "weight_decay": 0.1}
    assert given.betas(llm) == [0.9, 0.95]
    apply(confirmed, people)
    known = defaults_for(kinds.get("adapt.megatron_train"), llm)
    assert (known["warmup_fraction"], known["weight_decay"], known["seed"]) == (0.01, 0.1, 1234)


@pytest.mark.parametrize(("written", "micro"), [("micro batch 2, seed 5", 2), ("seed 5", None)])
def test_surveys_of_earlier_versions_are_read_from_their_text(survey, people, written, micro):
    save_answers(actor=people[Role.CONSULTANT], survey=survey, changes=[
        Change("model_scope@LLM", "full", 0), Change("hyper@LLM", written, 0)])
    found = CountedAnswers(Sheet(survey)).hyper(MigratedModel.objects.get(code="LLM"))
    assert (found["seed"], found.get("micro_batch_size")) == (5, micro)
