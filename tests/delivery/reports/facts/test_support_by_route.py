"""What an assessment says of support follows the route; every route can be issued."""

import pytest

from delivery.documents.bilingual import in_language
from delivery.reports.facts.analysis import support
from delivery.reports.facts.source import Source
from delivery.reports.models import Document
from engagements.models import MigratedModel
from tests.delivery.conftest import stored
from tests.delivery.reports.test_kinds import drafted, obstacles
from workers.models import StoredReading

ROUTES = {
    "tensorflow": {"framework": "TensorFlow 2.6", "training_route": "tool"},
    "mindspore": {"framework": "MindSpore 2.3", "training_route": "manual"},
    "inference only": {"framework": "ONNX", "scope": "inference", "training_route": "",
                       "inference_route": "offline"},
    "pytorch": {"framework": "PyTorch 2.1", "training_route": "tool"}}


def routed(engagement, route: str) -> None:
    MigratedModel.objects.filter(engagement=engagement).update(**ROUTES[route])


def analysed(engagement, kind: str, values: dict, tool: str) -> None:
    for model in engagement.models.all():
        file = stored(engagement, model, f"{model.code}-report.json", kind.encode())
        file.readings.all().delete()
        StoredReading.objects.create(artifact=file, kind=kind, reader="x", reader_version="1",
                                     tool=tool, values=values)


def tables(engagement) -> dict:
    found = support(Source(Document(engagement=engagement, kind="AS")))
    return in_language(found, "en")


@pytest.mark.parametrize(("route", "kind", "values", "tool", "counts"), [
    ("tensorflow", "tf_conversion",
     {"form": "failed", "apis": {"tf.bad": 3}, "unsupported": 3, "items": []},
     "convert_tf2npu", ["1", "0", "–"]),
    ("pytorch", "migration_analysis",
     {"form": "table", "table": "unsupported_api", "apis": {"torch.a": 1, "torch.b": 2}},
     "msfmktransplt", ["2", "–", "–"])])
def test_the_tool_of_the_route_fills_the_table(delivered, route, kind, values, tool, counts):
    routed(delivered, route)
    assert [row[2:6] for row in tables(delivered)["support"]["rows"]] == [
        ["", "–", "–", "–"]] * 2  # required and not done: the blank cell stops the issuing
    analysed(delivered, kind, values, tool)
    [first, _second] = tables(delivered)["support"]["rows"]
    assert (first[2], first[3:6]) == (tool, counts)
    assert first[-1].startswith("E")


@pytest.mark.parametrize("route", ["mindspore", "inference only"])
def test_a_route_without_an_analysis_says_so(delivered, route):
    routed(delivered, route)
    found = tables(delivered)
    assert {row[2] for row in found["support"]["rows"]} == {
        "not analysed: the route requires no analysis"}
    assert {cell for row in found["support"]["rows"] for cell in row[3:]} == {"–"}
    assert found["gaps"]["empty"] == (
        "No source was analysed, so what needs work is not known.")


@pytest.mark.slow
@pytest.mark.parametrize("code", ["AS", "SOW"])
@pytest.mark.parametrize("route", ["mindspore", "inference only", "tensorflow"])
def test_every_route_can_be_issued(planned, people, route, code):
    routed(planned, route)
    if route == "tensorflow":
        analysed(planned, "tf_conversion", {"form": "failed", "apis": {}, "items": []},
                 "convert_tf2npu")
    words = {"as_conclusion": "有条件可行。", "as_advice": "先迁移大模型。"}
    document = drafted(planned, people, code)
    document.words |= {code: {"zh": text, "en": text} for code, text in words.items()}
    document.save()
    left = [sentence for sentence in obstacles(document) if "quotation" not in sentence.lower()]
    assert left == []
