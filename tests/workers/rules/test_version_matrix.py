"""The version tables: complete against their published sources, and used as such."""

import csv
import json
from pathlib import Path

import pytest

from workers.rules import check, version_matrix

NODE = Path(__file__).parents[2] / "samples" / "node"


def test_torch_npu_table_is_the_published_one():
    with (NODE / "torch_npu_matrix.csv").open(encoding="utf-8", newline="") as stream:
        published = list(csv.DictReader(stream))
    assert len(published) == 62
    assert version_matrix.table("torch_npu") == published


def test_every_supported_pytorch_has_its_pythons():
    current = {row["pytorch"]
               for row in version_matrix.table("torch_npu") if row["status"] == "active"}
    assert all(version_matrix.pythons_for(torch) for torch in current)


def test_mindformers_table_is_the_published_map():
    published = json.loads((NODE / "mindformers_version_map.json").read_text())
    rows = {row["mindformers"]: row for row in version_matrix.table("mindformers")}
    assert set(rows) == set(published["mf"])
    for name, row in rows.items():
        assert row["mindspore"] == published["mf"][name]["prefer"]
        assert row["cann"] == published["ms"][row["mindspore"]]["prefer"]
        assert row["driver"] == published["cann"][row["cann"]]["prefer"]


def test_branches_of_mindspeed_name_their_megatron():
    rows = version_matrix.table("mindspeed")
    assert len(rows) == 13
    for row in rows:
        if "_core_" in row["mindspeed"]:
            assert row["mindspeed"].endswith(row["megatron"])
    assert version_matrix.megatron_for("27.0.0_core_r0.14.0") == "core_r0.14.0"
    assert version_matrix.megatron_for("master") is None


@pytest.mark.parametrize(("facts", "found"), [
    ({"mindspeed": "26.1.0_core_r0.12.1", "megatron": "core_v0.12.1"}, []),
    ({"mindspeed": "26.1.0_core_r0.12.1", "megatron": "core_r0.12.1", "torch": "2.1.0"},
     [("warn", "mindspeed, torch")]),
    ({"mindspeed": "1.0.RC2", "megatron": "core_r0.7.0"}, [("block", "mindspeed, megatron")])])
def test_mindspeed_with_megatron_and_torch(facts, found):
    assert [(h.severity, h.place) for h in check(facts, ["R-ENV-12"]).hits] == found


def test_a_branch_without_a_published_pair_is_not_judged():
    outcome = check({"mindspeed": "master", "megatron": "main"}, ["R-ENV-12"])
    assert (outcome.hits, outcome.clear) == ([], [])
    assert "master" in outcome.not_checked[0].reason


def test_mindspore_with_another_cann_is_a_warning():
    hits = check({"cann": "8.0.RC2", "mindspore": "2.7.0"}, ["R-ENV-05"]).hits
    assert [(hit.severity, hit.place) for hit in hits] == [("warn", "mindspore, cann")]
    assert check({"cann": "8.2.RC1", "mindspore": "2.7.0"}, ["R-ENV-05"]).hits == []


def test_extension_of_a_torch_npu():
    assert version_matrix.plugin_of("2.1.0.post12") == "7.0.0"
    assert version_matrix.plugin_of("1.5.0.post3") is None
    assert version_matrix.torch_pair("1.5.0",
                                     "1.5.0.post3") is True  # the table's PyTorch is mistyped
