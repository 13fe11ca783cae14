"""Chapters and passages follow the recorded routes, and name no tool that no route has."""

import pytest

from delivery.reports import registry, standard_text
from delivery.reports.facts import common
from delivery.reports.facts.source import Source
from delivery.reports.models import Document
from engagements.models import MigratedModel

pytestmark = pytest.mark.django_db
KIND = registry.get("MP")


def model(code, framework="PyTorch 2.1", scope="full", training="tool", inference="offline"):
    return MigratedModel(code=code, framework=framework, scope=scope, training_route=training,
                         inference_route=inference)


def words(*models) -> dict[str, dict[str, str]]:
    return standard_text.standard_words(KIND, models=models)


def test_passages_name_the_routes_of_the_models_and_no_others():
    found = words(model("A", "TensorFlow 2.6", training="tool", inference="mindspore_lite"),
                  model("B", "MindSpore 2.3", training="manual", inference="online"))
    training, inference = found["mp_training"]["en"], found["mp_inference"]["en"]
    assert training.splitlines()[0].startswith("- A: by tool")
    assert "- B: MindSpore: network" in training
    assert "npu_bridge" in training
    assert [name for name in ("ATC", "MindIE", "vLLM") if name in inference] == []
    assert inference.count("- A: MindSpore Lite") == inference.count("- B: online") == 1


def test_without_a_recorded_route_the_general_text_stands():
    found = words(model("A"), model("B", inference=""))
    assert found["mp_inference"] == standard_text.shipped("mp_inference")
    assert found["mp_training"]["en"].startswith("- A, B: by tool")
    inference_only = words(model("A", scope="inference", training="", inference="mindie"))
    assert inference_only["mp_inference"]["en"].startswith("- A: MindIE: served")


@pytest.mark.parametrize(("scopes", "left_out"), [
    (("inference", "inference"), "training"), (("training", "training"), "inference"),
    (("inference", "training"), None)])
def test_chapters_on_what_is_not_delivered_are_left_out(delivered, scopes, left_out):
    for one, scope in zip(delivered.models.order_by("pk"), scopes, strict=True):
        MigratedModel.objects.filter(pk=one.pk).update(scope=scope)
    facts = common.common_facts(Source(Document(engagement=delivered, kind="MP")))
    chapters = {section.id for section in KIND.sections_for(facts)}
    assert {"training", "inference"} - chapters == ({left_out} if left_out else set())
    assert (f"mp_{left_out}" in {block.code for block in KIND.blocks_for(facts)}) is False
    assert len(KIND.sections_for({})) == len(KIND.sections)  # snapshots of before


def test_nobodys_lessons_are_printed():
    """What people learnt has no text that ships."""
    assert standard_text.shipped("tr_lessons") == {"zh": "", "en": ""}
