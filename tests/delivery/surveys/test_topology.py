"""Application architecture as structure and picture (seed S0: architecture, topology, calls)."""

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from delivery.documents.bilingual import in_language
from delivery.reports import registry
from delivery.reports.facts.source import Source
from delivery.reports.models import Document
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.services import Change, save_answers
from delivery.surveys.topology import layers_of, picture, places_of, specification, topology_of
from engagements.models import Role

ANSWER = "终端 -> 网关：HTTPS\n网关 → 推理服务: HTTP/2\n推理服务 -> 向量库\n监控"


def calls(text: str) -> list[tuple[str, str, str]]:
    return [(call.caller, call.called, call.what) for call in topology_of(text).calls]


def test_lines_are_calls_and_chains_are_several():
    assert calls(ANSWER) == [("终端", "网关", "HTTPS"), ("网关", "推理服务", "HTTP/2"),
                             ("推理服务", "向量库", "")]
    assert calls("a -> b --> c: rpc; c => a") == [("a", "b", ""), ("b", "c", "rpc"), ("c", "a", "")]
    assert topology_of(ANSWER).components == ["终端", "网关", "推理服务", "向量库", "监控"]
    assert topology_of("").components == []


def test_a_component_stands_right_of_those_that_call_it_and_loops_end():
    found = topology_of("a -> b\nb -> c\na -> c\nc -> a")
    assert layers_of(found) == {"a": 0, "b": 1, "c": 2}
    places = places_of(topology_of("a -> b\na -> c\na -> d"))
    assert len({places[name] for name in "bcd"}) == 3
    assert places["a"][1] == places["c"][1]  # beside the middle one


def test_what_is_too_much_is_cut_and_said():
    found = topology_of("\n".join(f"a{n} -> b{n}" for n in range(80)))
    assert (len(found.components), found.is_cut) == (60, True)


@pytest.mark.parametrize("text", ["", "only words", "a -> a"])
def test_without_a_call_between_two_there_is_no_arrow(text):
    spec = specification(text)
    assert not spec or spec["layer"][0]["data"]["values"] == []


@pytest.mark.slow
def test_the_picture_holds_names_and_labels_as_text_only():
    svg = picture(ANSWER + "\n<script>alert(1)</script> -> 网关")
    assert svg.startswith("<svg")
    assert all(word in svg for word in ("终端", "推理服务", "HTTP/2"))
    assert "<script" not in svg


@pytest.fixture
def answered(survey, people):
    saved = save_answers(actor=people[Role.CONSULTANT], survey=survey,
                         changes=[Change("topology", ANSWER, 0)])
    assert not saved.errors
    return survey


def test_page_and_api_show_it(answered, people, client):
    client.force_login(people[Role.REVIEWER])
    page = client.get(reverse("surveys:overview", args=["EP2501"])).content.decode()
    assert "推理服务</text>" in page
    api = APIClient()
    api.force_authenticate(people[Role.REVIEWER])
    found = api.get(f"/api/v1/surveys/{answered.pk}/topology/").json()
    assert found["components"] == topology_of(Sheet(answered).value("topology")).components
    assert found["calls"][0] == {"caller": "终端", "called": "网关", "what": "HTTPS"}


def test_the_assessment_report_draws_it(answered):
    def figures() -> dict:
        source = Source(Document(engagement=answered.engagement, kind="AS"))
        return registry.get("AS").facts(source)["figures"]

    assert in_language(figures(), "en")["topology"]["spec"] == specification(ANSWER)
    answered.answers.filter(question__key="topology").update(value=None)
    assert "topology" not in figures()
