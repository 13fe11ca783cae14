"""The msprobe stand-in on the packs and dumps that lie on the node."""

import json

import pytest

from practice_node import home
from toolreaders import read_file

pytestmark = pytest.mark.skipif(home.genuine_msprobe() is not None,
                                reason="the genuine msprobe is used on this machine")


@pytest.mark.parametrize("command", ["msprobe config_check", "msprobe -f pytorch config_check"])
def test_configuration_check_finds_the_real_differences(sh, work, command):
    answer = sh(f"{command} -c data/config_gpu.zip data/config_npu.zip -o {work.name}/o")
    reading = read_file(work / "o" / "result.xlsx")
    differing = {str(d["item"]) for d in reading.values["differences"]}
    assert answer.exit_status == 0
    assert reading.kind == "config_check"
    assert any("transformers" in item for item in differing)
    assert any("lr" in item for item in differing)
    assert not any("seed" in item for item in differing)


@pytest.mark.slow
def test_equal_packs_have_no_difference(sh, work):
    sh(f"msprobe config_check -c data/config_gpu.zip data/config_gpu.zip -o {work.name}/o")
    assert read_file(work / "o" / "result.xlsx").values["differences"] == []


def test_packs_and_dumps_are_genuine_formats(practice):
    data = practice.root / "home" / "data"
    assert read_file(data / "config_gpu.zip").kind == "config_check"
    assert read_file(data / "dump_npu/step0/rank0/dump.json").kind == "accuracy_dump"


def compare(sh, work, extra=""):
    answer = sh(f"msprobe compare -tp data/dump_npu/step0 -gp data/dump_gpu/step0 "
                f"-o {work.name} {extra}")
    return answer, read_file(next(work.glob("compare_result_rank0_*")))


@pytest.mark.parametrize("extra", ["", "--xlsx"])
def test_comparison_of_step_folders_has_a_row_per_tensor(sh, work, extra):
    answer, reading = compare(sh, work, extra)
    assert answer.exit_status == 0
    assert "msprobe compare ends successfully." in answer.stdout
    assert reading.kind == "accuracy_compare"
    assert reading.values["rows"] == 12


def _changed(practice, work, **output):
    """The NPU dump with other values in one output; its path from the home folder."""
    source = practice.root / "home/data/dump_npu/step0/rank0/dump.json"
    dump = json.loads(source.read_text())
    dump["data"]["Functional.relu.0.forward"]["output"][0].update(output)
    (work / "dump.json").write_text(json.dumps(dump))
    return f"{work.name}/dump.json"


def test_nan_on_the_npu_is_an_error_in_its_row(sh, work, practice):
    path = _changed(practice, work, Max=float("nan"), Norm=float("nan"))
    sh(f"msprobe compare -tp {path} -gp data/dump_gpu/step0/rank0/dump.json -o {work.name}/o")
    text = next((work / "o").iterdir()).read_text()
    row = next(x for x in text.splitlines() if x.startswith("Functional.relu.0.forward.output.0"))
    assert ",error," in row
    assert "There is nan/inf/-inf in the maximum or minimum value of NPU." in row


def test_rank_folder_is_refused_as_by_the_tool(sh, work):
    answer = sh(f"msprobe compare -tp data/dump_npu/step0/rank0 -gp data/dump_gpu/step0/rank0 "
                f"-o {work.name}")
    assert answer.exit_status == 1
    assert "[ERROR]" in answer.stdout


def test_tensor_without_counterpart_keeps_its_own_row(sh, work, practice):
    source = practice.root / "home/data/dump_npu/step0/rank0/dump.json"
    dump = json.loads(source.read_text())
    del dump["data"]["Functional.linear.0.forward"]
    (work / "dump.json").write_text(json.dumps(dump))
    sh(f"msprobe compare -tp {work.name}/dump.json -gp data/dump_gpu/step0/rank0/dump.json "
       f"-o {work.name}/o")
    lines = next((work / "o").iterdir()).read_text().splitlines()
    assert [x.split(",")[:2] for x in lines if x.startswith("N/A")] == [
        ["N/A", "Functional.linear.0.forward.input.0"],
        ["N/A", "Functional.linear.0.forward.output.0"]]
