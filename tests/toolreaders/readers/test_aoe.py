"""What AOE reports and prints, in the forms of several releases."""

import json

import pytest

from toolreaders import read_file

SUMMARY = {"repo_add_num": 1, "repo_hit_num": 2, "total_num": 3}
TIMES = {"performance_after_tune(us)": 3.25, "performance_before_tune(us)": 4.5,
         "performance_improvement": "38.46%"}


def codes(reading):
    return {warning.code for warning in reading.warnings}


def report(found):
    return {f"report_20260102030405_{index}": [{"basic": {"tuning_name": "net",
                                                         "tuning_time(s)": 26}}, {"OPAT": block}]
            for index, block in enumerate(found)}


def test_the_result_of_a_whole_model(sample):
    values = read_file(sample("accuracy/atc/aoe_result_opat_doc_sample.json")).values
    assert (values["baseline_ms"], values["result_ms"]) == (113.588725, 113.236731)
    assert values["improvement"] == pytest.approx(0.0031, abs=5e-6)
    assert (values["operators"], values["seconds"]) == (19, 1827)


@pytest.mark.parametrize("block", [
    {"opat_tune_result": "tune success", "repo_modified_operators": {
        "add_repo_operators": [{"op_name": "a", "op_type": "MatMul", **TIMES}]}},
    {"opat_tuning_result": "tuning successful", "repo_modified_operators": [
        {"op_name": "a", "op_type": "MatMul", "tune_performance": {"Schedule": TIMES}}]}])
def test_a_report_of_operators_alone(written, block):
    reading = read_file(written(json.dumps(report([{**block, "repo_summary": SUMMARY}]))))
    values = reading.values
    assert (values["form"], values["succeeded"], values["operators"]) == ("aoe_result", True, 3)
    assert (values["baseline_ms"], values["improvement"], values["seconds"]) == (None, None, 26)
    (operator,) = values["tuned_operators"]
    assert (operator["name"], operator["before_us"], operator["after_us"]) == ("a", 4.5, 3.25)
    assert reading.warnings == []


def test_one_failed_tuning_of_several_fails_the_report(written):
    blocks = [{"opat_tune_result": "tune success"},
              {"opat_tune_result": "tune failed", "tune_failed_operators": ["res4a_branch1"]}]
    reading = read_file(written(json.dumps(report(blocks))))
    assert (reading.values["succeeded"], len(reading.values["tunings"])) == (False, 2)
    assert codes(reading) == {"tuning_not_successful", "operators_not_tuned"}


@pytest.mark.parametrize(("text", "succeeded"), [
    ("Aoe process finished\n", True),
    ("[Aoe]<conv1> Single operator tuning process finished.\n[Aoe]Aoe process finished,cost time "
     "1109s.\n", True),
    ("<resnet50> process finished. Performance improved by 12.5%\n", True),
    ("[Aoe]<conv1> Tuning process finished.\n", None),
    ("[ERROR] The model cannot be parsed.\nAoe process failed\n", False),
    ("[INFO] tuning\nAoe process failed\n", False),
    ("[ERROR] FE cannot be initialised.\nAoe process finished\n", False)])
def test_only_a_finished_log_without_errors_succeeded(written, text, succeeded):
    reading = read_file(written(text))
    assert (reading.values["form"], reading.values["succeeded"]) == ("aoe_log", succeeded)
    assert ("run_not_finished" in codes(reading)) is (succeeded is None)


def test_what_a_log_tells(written):
    values = read_file(written(
        "[Aoe]<conv1> Tuning process finished.\n[Aoe]<fc> Tuning process finished.\n"
        "resnet50 process finished. Performance improved by 12.5%\n"
        "[Aoe]Aoe process finished,cost time 1109s.\n")).values
    assert (values["operators_finished"], values["seconds"]) == (2, 1109)
    assert values["tasks"] == [{"task": "resnet50", "improvement_percent": 12.5,
                                "result": "Performance improved by 12.5%"}]
