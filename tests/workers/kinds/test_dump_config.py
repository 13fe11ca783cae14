"""What the typed fields of an accuracy dump become, and what is refused."""

import json

import pytest
from django.utils.translation import override

from engagements.errors import InvalidInput
from workers import kinds
from workers.kinds.accuracy.dump_config import config_json, entries

kinds.load_all()


def cleaned(**values) -> dict:
    with override("en"):
        return kinds.get("acc.dump").clean({"script": "t.py", **values})


def test_the_fields_become_the_tool_s_configuration():
    values = cleaned(task="tensor", level="mix", steps="0, 2 4-6", dump_ranks="1, 4-7",
                     operators=["relu"], direction="forward", side="output", summary="md5",
                     risk_level="CORE")
    assert json.loads(config_json(values)) == {
        "task": "tensor", "dump_path": "dump", "rank": [1, "4-7"], "step": [0, 2, "4-6"],
        "level": "mix", "risk_level": "CORE",
        "tensor": {"scope": [], "list": ["relu"], "data_mode": ["forward", "output"],
                   "summary_mode": "md5"}}


def test_everything_is_kept_unless_a_side_is_chosen():
    config = json.loads(config_json(cleaned()))
    assert config["statistics"]["data_mode"] == ["all"]
    assert (config["step"], config["rank"], "risk_level" in config) == ([0], [], False)
    assert set(json.loads(config_json(cleaned(task="structure", level="L0")))) == {
        "task", "dump_path", "rank", "step", "level"}


def test_the_configuration_is_written_by_the_command_and_named_to_the_script():
    argv = kinds.get("acc.dump").argv(cleaned(steps="3"))
    assert json.loads(argv[5])["step"] == [3]
    assert "dump_config.json" in argv[2]
    assert "dump_config.json" in kinds.get("acc.dump").collect


def test_rules_hear_of_steps_and_ranks():
    facts = kinds.get("acc.dump").facts(cleaned(steps="0-9", dump_ranks="0"))
    assert (facts["dump_steps"], facts["config_ranks"]) == (["0-9"], [0])


@pytest.mark.parametrize(("values", "why"), [
    ({"steps": "all"}, "Steps: “all” is neither"), ({"dump_ranks": "7-4"}, "“7-4” is neither"),
    ({"scope": ["Module.a"]}, "two names or none"),
    ({"task": "tensor", "summary": "xor"}, "XOR is for statistics"),
    ({"level": "L0", "risk_level": "ALL"}, "levels L1 and mix only"),
    ({"config": "~/c.json", "level": "mix"}, "“Level” was given beside it")])
def test_contradictions_are_refused(values, why):
    with pytest.raises(InvalidInput, match=why):
        cleaned(**values)


def test_numbers_and_ranges():
    assert entries("0,2  4-6") == [0, 2, "4-6"]
    assert entries(None) == []
