"""Typed settings of the framework's profiler: as torch_npu and MindSpore read them."""

import json

import pytest

from engagements.errors import InvalidInput
from workers import kinds
from workers.rules import check

GIVEN = {"script": "~/t.py", "wait": 5, "warmup": 1, "active": 3, "aicore_metrics": "Memory",
         "l2_cache": True, "op_attr": True, "export": "text,db", "msprof_tx": True,
         "with_stack": True}


@pytest.fixture
def kind():
    kinds.load_all()
    return kinds.get("perf.profile")


def test_settings_reach_torch_npu_by_its_own_names(kind):
    argv = kind.argv(kind.clean({**GIVEN, "way": "environment"}))
    laid = json.loads(argv[4])
    assert laid["experimental_config"] == {
        "profiler_level": "Level1", "aic_metrics": "Memory", "l2_cache": True, "op_attr": True,
        "msprof_tx": True, "export_type": ["text", "db"]}
    assert (laid["start_step"], laid["active"], laid["with_stack"], laid["record_shapes"]) == (
        6, 3, True, True)
    assert "PROF_CONFIG_PATH" in argv[2]


def test_mindspore_takes_them_from_its_variable(kind):
    p = kind.clean({**GIVEN, "way": "mindspore", "aicore_metrics": "AiCoreNone"})
    options = json.loads(kind.environment(p)["MS_PROFILER_OPTIONS"])
    assert (options["start"], options["aicore_metrics"], options["l2_cache"]) == (
        True, "AicoreNone", True)
    with pytest.raises(InvalidInput, match=r"one card|单卡|一张卡"):
        kind.clean({**GIVEN, "way": "mindspore", "cards": 2})


def test_only_a_script_repeats(kind):
    with pytest.raises(InvalidInput):
        kind.clean({**GIVEN, "way": "environment", "repeat": 2})
    assert kind.clean({**GIVEN, "repeat": 2})["repeat"] == 2


@pytest.mark.parametrize(("changed", "rules"), [
    ({"steps": 9}, set()), ({"steps": 8}, {"R-CFG-19"}), ({"warmup": 0}, {"R-CFG-19"}),
    ({"profiler_level": "Level0"}, {"R-CFG-27"}), ({"export": "text"}, {"R-CFG-27"}),
    ({"with_flops": True}, {"R-CFG-27"})])
def test_rules_check_the_typed_settings(kind, changed, rules):
    facts = kind.facts(kind.clean({**GIVEN, **changed}))
    assert {hit.rule for hit in check(facts, ["R-CFG-19", "R-CFG-27"]).hits} == rules
