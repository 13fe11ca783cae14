"""The assessment report names every mode of the analysis, every operator, and what is unknown."""

from pathlib import Path

import pytest

from delivery.documents.bilingual import in_language
from delivery.reports import registry
from delivery.reports.facts.analysis_modes import modes
from delivery.reports.facts.source import Source
from delivery.reports.models import Document
from delivery.surveys.services import Change, save_answers, start_survey
from engagements.models import Role
from tests.delivery.conftest import stored
from toolreaders import read_file
from workers.models import Job, StoredReading

SAMPLES = Path(__file__).parents[3] / "samples"
AFFINITY = ("File,Start Line,End Line,Api Type,Api Call Name,Affinity Api Name\n"
            "train.py,7,7,function,torch.nn.functional.gelu,torch_npu.fast_gelu\n"
            "train.py,9,9,function,torch.nn.functional.gelu,torch_npu.fast_gelu\n")


@pytest.fixture
def contents(delivered):
    """The tables of a fresh report in English."""
    def collect() -> dict:
        source = Source(Document(engagement=delivered, kind="AS"))
        return in_language(registry.get("AS").facts(source), "en")["tables"]

    return collect


@pytest.fixture
def read(delivered, tmp_path):
    """Stores a file of the model and what the reader makes of it."""
    def put(model, name: str, data: bytes):
        path = tmp_path / name
        path.write_bytes(data)
        reading = read_file(path)
        file = stored(delivered, model, name, data)
        return StoredReading.objects.create(artifact=file, kind=reading.kind,
                                            reader=reading.reader, values=reading.values)
    return put


def test_a_mode_that_did_not_run_says_so_and_one_that_ran_gives_its_sentence(delivered, contents):
    llm = delivered.models.get(code="LLM")
    Job.objects.create(kind="survey.pt_analyse", engagement=delivered, model=llm,
                       state="succeeded", parameters={"mode": "affinity_apis"},
                       finished_at=delivered.created_at,
                       message="%(affinity)d API uses with an affinity API in %(files)d files. "
                               "Unsupported APIs were not looked for in this mode.",
                       message_values={"affinity": 2, "files": 3})
    rows = [row[:3] for row in contents()["modes"]["rows"] if row[0] == "LLM"]
    unknown = "not run: no result"
    assert rows == [
        ["LLM", "APIs of PyTorch", unknown], ["LLM", "APIs of third-party libraries", unknown],
        ["LLM", "APIs with an affinity API",
         "2 API uses with an affinity API in 3 files. Unsupported APIs were not looked for in "
         "this mode."], ["LLM", "Dynamic shapes", unknown]]


def test_models_of_other_frameworks_have_no_such_modes(delivered):
    delivered.models.filter(code="PSR").update(framework="TensorFlow 1.15")
    source = Source(Document(engagement=delivered, kind="AS"))
    assert {mode.model.code for mode in modes(source)} == {"LLM"}


@pytest.mark.slow
def test_affinity_apis_and_dynamic_shapes_are_listed_with_what_to_use_instead(
        delivered, contents, read):
    llm, psr = delivered.models.order_by("code")
    assert contents()["findings"]["rows"] == []
    assert contents()["findings"]["empty"] == "No table of these modes was read."
    read(llm, "affinity_api_call.csv", AFFINITY.encode())
    read(psr, "report.csv", (SAMPLES / "accuracy/transplant/report_dynamic.csv").read_bytes())
    rows = contents()["findings"]["rows"]
    assert rows[0] == ["LLM", "APIs with an affinity API", "torch.nn.functional.gelu", "2",
                       "torch_npu.fast_gelu"]
    assert ["PSR", "Dynamic shapes", "torch.nonzero", "1", "[(2, 5)-(2, 9)]"] in rows
    read(psr, "full_unsupported_results.csv", (
        b'File,3rd-party API,Message\ntrain.py,train.main,"file_path:train.py, start_line:12, '
        b'api_name:torch.nn.DataParallel \nfile_path:train.py, start_line:20, api_name:x.y \n"\n'))
    assert [row[4] for row in contents()["findings"]["rows"] if row[2] == "train.main"] == [
        "train.py:12 torch.nn.DataParallel \ntrain.py:20 x.y"]
    sentence = {(row[0], row[1]): row[2] for row in contents()["modes"]["rows"]}
    assert sentence["LLM", "APIs with an affinity API"] == "affinity_api_call: 2 entries."


def test_operators_of_a_graph_are_counted_and_models_without_one_named(
        delivered, contents, read):
    llm = delivered.models.get(code="LLM")
    assert contents()["operators"]["empty"] == (
        "No ONNX file of a model is stored, so no graph was read.")
    made = read(llm, "relu.onnx", (SAMPLES / "accuracy/onnx/relu_opset13.onnx").read_bytes())
    table = contents()["operators"]
    assert table["caption"] == "Operators of the graphs · no graph read of PSR"
    assert table["rows"] == [["Relu", "1", "LLM", f"E{made.artifact_id}"]]


def test_the_overall_analysis_counts_answers_and_says_what_is_not_stated(
        delivered, contents, people):
    assert contents()["overall"]["empty"] == (
        "The survey has not been started: nothing could be analysed.")
    survey = start_survey(actor=people[Role.CONSULTANT], engagement=delivered)
    save_answers(actor=people[Role.CONSULTANT], survey=survey, changes=[
        Change("code_origin@LLM", "own", 0), Change("accuracy_value@LLM", "0.9", 0),
        Change("accuracy_source@LLM", "published", 0), Change("cards", "8", 0)])
    found = {row[0]: row[1] for row in contents()["overall"]["rows"]}
    assert found["Models"] == "2 models; 1 of 2 models: own or modified code"
    assert found["Data"] == "2 of 2 models: state of cleaning not stated"
    assert found["Software"] == "not analysed: LLM, PSR"
    assert found["Accuracy and performance"].startswith(
        "1 of 2 models: accuracy stated; 1 of 2 models: published figures, not measured")
    assert found["Platform"] == "8 cards"
    assert found["Effort and cost"] == "not stated"
