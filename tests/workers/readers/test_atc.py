"""ATC, AMCT, fusion results, AOE and quantisation descriptions."""

import json

import pytest

from workers.readers import ReadError, read_file


def codes(reading):
    return {warning.code for warning in reading.warnings}


@pytest.mark.parametrize(
    ("name", "code", "ops"),
    [
        ("E10001_input_shape.log", "E10001", 0),
        ("E19999_opp_version.log", "E19999", 0),
        ("atc_err_e19010.txt", "E19010", 5),
        ("atc_err_ez0501.txt", "EZ0501", 5),
        ("atc_err_ez3003.txt", "EZ3003", 5),
    ],
)
def test_failures(sample, name, code, ops):
    reading = read_file(sample(f"accuracy/atc/{name}"))
    values = reading.values
    assert reading.kind == "conversion_log"
    assert values["succeeded"] is False
    assert values["codes"] == [code]
    assert values["op_count"] == ops


def test_what_a_failure_says(sample):
    shape = read_file(sample("accuracy/atc/E10001_input_shape.log")).values
    assert shape["parameters"] == [{"name": "input_2", "value": "-1"}]
    version = read_file(sample("accuracy/atc/E19999_opp_version.log")).values
    assert "6.4.T11.0.B300" in version["cause"]
    parser = read_file(sample("accuracy/atc/atc_err_e19010.txt")).values
    assert parser["op_types"] == ["ai.onnx::11::Convx"]
    assert parser["solution"].startswith("Check the version")


def test_amct_failure_without_a_code(sample):
    reading = read_file(sample("accuracy/atc/calibration_data_mismatch.log"))
    assert reading.tool == "amct"
    assert reading.values["codes"] == []
    assert reading.values["cause"] == (
        "input image size[1579014] is not equal to model input size[3158028]"
    )
    assert {"no_error_code", "rows_elided"} <= codes(reading)


def test_success_followed_by_warnings(written):
    text = (
        "ATC start working now, please wait for a moment.\n"
        "ATC run success, welcome to the next use.\n"
        "W11001: Op [Conv_1] does not hit the high-priority operator library.\n"
    )
    reading = read_file(written(text))
    assert reading.values["succeeded"] is True
    assert reading.values["codes"] == []
    assert reading.values["tool_warnings"][0]["code"] == "W11001"


def test_newer_prefix(written):
    text = (
        "ATC run failed, Please check the detail log, Try 'atc --help' for more information\n"
        "[PID: 1234] 2025-06-01-10:11:12.123.456 E10003: Value is invalid.\n"
    )
    assert read_file(written(text)).values["codes"] == ["E10003"]


def test_a_killed_conversion_is_no_success(written):
    reading = read_file(written("ATC start working now, please wait for a moment.\n"))
    assert reading.values["succeeded"] is None
    assert "run_not_finished" in codes(reading)


def test_fusion_documents_in_a_row(sample, written):
    path = sample("accuracy/atc/tabnet_fusion_result.json")
    values = read_file(path).values
    assert (values["documents"], values["effect_times"]) == (4, 3825)
    assert values["sessions"][0] == "0_1"
    cut = read_file(written(path.read_bytes()[:-100]))
    assert cut.values["documents"] == 3
    assert "truncated_record" in codes(cut)


def test_aoe(sample):
    values = read_file(sample("accuracy/atc/aoe_result_opat_doc_sample.json")).values
    assert (values["baseline_ms"], values["result_ms"]) == (113.588725, 113.236731)
    assert values["improvement"] == pytest.approx(0.0031, abs=5e-6)
    assert values["operators"] == 19


@pytest.mark.parametrize(("text", "succeeded"), [
    ("Aoe process finished\n", True),
    ("[ERROR] The model cannot be parsed.\nAoe process failed\n", False),
    ("[INFO] tuning\nAoe process failed\n", False),
    ("[ERROR] FE cannot be initialised.\nAoe process finished\n", False)])
def test_only_a_finished_aoe_without_errors_succeeded(written, text, succeeded):
    reading = read_file(written(text))
    assert (reading.values["form"], reading.values["succeeded"]) == ("aoe_log", succeeded)


def test_quantisation_says_what_was_produced(written):
    description = {"model_quant_type": "W4A8", "a.weight": "W8A8", "b.weight": "FLOAT"}
    reading = read_file(written(json.dumps(description)))
    assert reading.kind == "quantization"
    assert reading.values["schemes"] == {"W8A8": 1, "FLOAT": 1}
    assert "scheme_not_used" in codes(reading)


def test_text_without_atc_is_unknown(written):
    with pytest.raises(ReadError):
        read_file(written("E is a letter\nnothing else\n"))
