"""ATC, AMCT, fusion results, AOE and quantisation descriptions."""

import json

import pytest

from toolreaders import ReadError, read_file


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


# First lines of traces that CANN printed in public issues.
INFER = ("E89999: op[Transpose], attr[perm], has wrong value[2][FUNC:TransposeCommonInferShape]"
         "[FILE:transformation_ops.cc][LINE:1039]\n        TraceBack (most recent call last):\n"
         "       Call InferShapeAndType for node:Transpose(Transpose) failed[FUNC:Infer]"
         "[FILE:infershape_pass.cc][LINE:118]\n       build graph failed, graph id:0, ret:-1"
         "[FUNC:BuildModel][FILE:ge_generator.cc][LINE:1443]\n")
KERNEL = ("E19999: Inner Error!\n        TraceBack (most recent call last):\n        [SubGraphOpt]"
          "[Compile][CompOpOnly] CompileOp failed.[FUNC:CompileOpOnly][FILE:op_compiler.cc]"
          "[LINE:1190]\n        build graph failed, graph id:1, ret:-1[FUNC:BuildModelWithGraphId]"
          "[FILE:ge_generator.cc][LINE:1618]\n")
MEMORY = ("E19999: Inner Error!\n        TraceBack (most recent call last):\n        Assign failed"
          "[FUNC:AssignMemory][FILE:graph_mem_assigner.cc][LINE:10]\n")


@pytest.mark.parametrize(("text", "stage"), [
    ("E10001_input_shape.log", "arguments"), ("atc_err_e19010.txt", "parser"), (INFER, "prepare"),
    ("atc_err_ez3003.txt", "split"), (KERNEL, "optimise"), (MEMORY, "compile"),
    ("E19999_opp_version.log", None), ("plain.log", None)])
def test_the_stage_in_which_a_conversion_failed(sample, written, text, stage):
    failed = "ATC run failed, Please check the detail log\n"
    path = sample(f"accuracy/atc/{text}") if "\n" not in text else written(failed + text)
    assert read_file(path).values["stage"] == stage


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


def test_quantisation_says_what_was_produced(written):
    description = {"model_quant_type": "W4A8", "a.weight": "W8A8", "b.weight": "FLOAT"}
    reading = read_file(written(json.dumps(description)))
    assert reading.kind == "quantization"
    assert reading.values["schemes"] == {"W8A8": 1, "FLOAT": 1}
    assert "scheme_not_used" in codes(reading)


def test_text_without_atc_is_unknown(written):
    with pytest.raises(ReadError):
        read_file(written("E is a letter\nnothing else\n"))


def test_instructions_that_quote_atc_are_no_log(written):
    text = "# Guide\n\n    ATC run success, welcome to the next use.\n\nSee `ATC run failed`.\n"
    with pytest.raises(ReadError, match="unknown_format"):
        read_file(written(text))


def test_dots_while_atc_works_leave_nothing_out(written):
    start = "ATC start working now, please wait for a moment.\n...\n"
    reading = read_file(written(start + "ATC run success, welcome to the next use.\n"))
    assert (reading.values["succeeded"], reading.warnings) == (True, [])
    cut = read_file(written(start + "ATC run failed\nE10016: text\n...\n"))
    assert "rows_elided" in {warning.code for warning in cut.warnings}
