"""Comparisons of msprobe, judged from their numbers and not from the tool's verdicts."""

import csv
import io

import pytest

from toolreaders import ReadError, read_file
from toolreaders.accuracy.msprobe_rows import CompareRow, in_execution_order, number

HEADER = [
    "NPU Name", "Bench Name", "NPU Dtype", "Bench Dtype", "NPU Tensor Shape",
    "Bench Tensor Shape", "NPU Requires_grad", "Bench Requires_grad", "Max diff", "NPU max",
    "NPU min", "NPU mean", "NPU l2norm", "Bench max", "Bench min", "Bench mean", "Bench l2norm",
    "Requires_grad Consistent", "Result", "Err_message", "NPU_Stack_Info",
]  # fmt: skip


def codes(reading):
    return {warning.code for warning in reading.warnings}


def line(name, npu, bench, *, bench_name=None, verdict="pass"):
    """One row; ``npu`` and ``bench`` stand for all four statistics."""
    dtype = ["torch.float32"] * 2 + ["[2]"] * 2 + ["False"] * 2
    return [
        name,
        bench_name or name,
        *dtype,
        0,
        *[npu] * 4,
        *[bench] * 4,
        "True",
        verdict,
        "[]",
        "",
    ]


def table(*rows):
    text = io.StringIO()
    csv.writer(text).writerows([HEADER, *rows])
    return text.getvalue()


def test_five_percent_error_that_the_tool_passes(sample):
    reading = read_file(sample("accuracy/compare/26-conv3x105-tensor.xlsx"))
    values = reading.values
    assert reading.kind == "accuracy_compare"
    assert (reading.tool_version, values["mode"], values["rows"]) == ("26.x", "tensor", 355)
    assert values["tool_verdicts"] == {"pass": 353, "error": 2}
    assert values["first_deviating"] == "Functional.conv2d.3.forward"
    assert values["suspect"] == "Functional.conv2d.3.forward"
    assert values["first_deviating_row"]["row"] == 93
    assert values["first_deviating_row"]["relative_error"] == pytest.approx(0.05, rel=1e-4)
    assert values["deviating_passed_by_tool"] > 30
    assert "tool_verdict_passes_deviation" in codes(reading)


def test_nan_that_8_3_leaves_without_verdict(sample):
    reading = read_file(sample("accuracy/compare/8-conv4nan-statistics.xlsx"))
    values = reading.values
    assert reading.tool_version == "8.x"
    assert values["tool_verdicts"] == {"": 369}
    assert values["nonfinite"] == 140
    assert values["first_nonfinite"] == "Functional.conv2d.4.forward"
    assert values["first_nonfinite_row"]["row"] == 116
    assert values["suspect"] == "Functional.conv2d.4.forward"
    assert "nonfinite_values" in codes(reading)


def test_gradients_beside_forward_rows_do_not_mislead(sample):
    values = read_file(sample("accuracy/compare/8-conv3x3-L0-statistics.xlsx")).values
    assert values["first_flagged_by_tool"]["op"] == "Module.bn1.BatchNorm2d"
    assert values["first_flagged_by_tool"]["role"] == "parameters_grad"
    assert values["first_deviating"] == "Module.layer2.0.down.0.Conv2d.forward.0"
    assert values["first_deviating_row"]["row"] == 44


def test_operators_without_counterpart(sample):
    reading = read_file(sample("accuracy/compare/26-extra-statistics.xlsx"))
    values = reading.values
    assert values["tool_verdicts"] == {"pass": 360}
    assert values["unmatched"] == 5
    assert values["first_unmatched"] == "Functional.dropout.0.forward"
    assert (values["npu_only"], values["bench_only"]) == (5, 0)
    assert values["first_deviating"] is None
    assert "unmatched_operators" in codes(reading)


def test_checksums_name_the_first_differing_output(sample):
    values = read_file(sample("accuracy/compare/8-md5.xlsx")).values
    assert values["mode"] == "md5"
    assert values["md5_differences"] == 141
    assert values["first_deviating"] == "Functional.conv2d.3.forward"


def test_csv_with_blanks_before_inf_and_versions(written):
    rows = [
        line("Functional.relu.0.forward.input.0", 1.0, 1.0),
        line("Functional.relu.0.forward.output.0", " inf", 1.0),
        line("Functional.conv2d.0.forward.output.0", "nan\t", 1.0),
    ]
    values = read_file(written(table(*rows))).values
    assert values["nonfinite"] == 2
    assert values["first_nonfinite"] == "Functional.relu.0.forward"


def test_nan_on_both_sides_is_not_a_deviation(written):
    rows = [line("Functional.relu.0.forward.output.0", "Nan", "Nan")]
    values = read_file(written(table(*rows))).values
    assert (values["nonfinite"], values["deviating"], values["bench_nonfinite"]) == (1, 0, 1)


def test_differing_weights_have_no_suspect(written):
    rows = [
        line("Functional.conv2d.0.forward.input.0", 1.0, 1.0),
        line("Functional.conv2d.0.forward.input.1", 1.1, 1.0),
        line("Functional.conv2d.0.forward.output.0", 1.1, 1.0),
        line("Functional.conv2d.0.backward.output.0", 1.1, 1.0),
    ]
    values = read_file(written(table(*rows))).values
    assert values["first_deviating"] == "Functional.conv2d.0.forward"
    assert values["first_deviating_row"]["role"] == "input"
    assert values["suspect"] is None


def test_bench_only_rows_are_named_by_the_bench(written):
    row = line("N/A", "N/A", 1.0, bench_name="Functional.relu.0.forward.input.0")
    values = read_file(written(table(row))).values
    assert values["first_unmatched"] == "Functional.relu.0.forward"
    assert values["bench_only"] == 1


def test_a_cut_row_is_left_out_with_a_warning(written):
    text = table(
        line("Functional.relu.0.forward.input.0", 1.0, 1.0),
        line("Functional.relu.0.forward.output.0", 2.0, 1.0),
    )
    reading = read_file(written(text[: text.rindex("float32")]))
    assert reading.values["rows"] == 1
    assert "truncated_record" in codes(reading)


def test_an_empty_comparison_is_not_a_pass(written):
    reading = read_file(written(table()))
    assert reading.values["rows"] == 0
    assert "no_rows" in codes(reading)


def test_parameter_gradients_come_after_their_backward():
    names = [
        "Module.a.Linear.forward.0.output.0",
        "Module.a.Linear.parameters_grad.weight",
        "Module.b.Linear.forward.0.output.0",
        "Module.b.Linear.parameters_grad.weight",
        "Module.a.Linear.backward.0.output.0",
        "Module.c.Linear.backward.0.output.0",
    ]
    rows = [CompareRow(n, {"NPU Name": name}) for n, name in enumerate(names)]
    assert [row.line for row in in_execution_order(rows)] == [0, 2, 4, 1, 5, 3]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("4.99%", 0.0499),
        (" -3.5", -3.5),
        ("N/A", None),
        ("unsupported", None),
        (True, None),
        (2, 2),
    ],
)
def test_numbers_of_cells(cell, value):
    assert number(cell) == (pytest.approx(value) if value is not None else None)


def test_the_advisor_is_advice_not_proof(sample):
    reading = read_file(sample("accuracy/compare/8-conv4nan-advisor.txt"))
    assert reading.kind == "accuracy_advice"
    assert reading.values["suspect_nodes"] is None
    assert "advice_is_not_proof" in codes(reading)


def test_merged_ranks(sample):
    values = read_file(sample("accuracy/compare/26-merge.xlsx")).values
    assert values["ranks"] == ["rank0", "rank1"]
    assert values["sheets"]["Max diff"]["nonfinite"]["Functional.conv2d.4.forward.output.0"] == [
        "rank1"
    ]


def test_a_comparison_without_verdict_column_is_damaged(written):
    with pytest.raises(ReadError) as error:
        read_file(written("NPU Name,Bench Name,NPU Dtype\na,a,b\n"))
    assert error.value.code == "damaged_file"
