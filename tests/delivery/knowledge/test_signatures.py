"""What a failed job shows of itself, and which patterns fit."""

import pytest

from delivery.knowledge import signatures
from delivery.knowledge.models import SolvedCase
from tests.delivery.knowledge.conftest import ASSERTION, HCCL, OPERATOR, SOFTWARE


def test_a_failure_shows_codes_operators_and_versions(fail):
    shown = signatures.of_job(fail(HCCL))
    assert (shown.diagnosis, shown.error_codes, shown.operators, shown.versions) == (
        "ascend_code", ("EI0002",), (), SOFTWARE)
    shown = signatures.of_job(fail(OPERATOR))
    assert (shown.error_codes, shown.operators) == (("EZ3003",), ("Einsum",))


def test_a_success_shows_nothing(succeed):
    assert signatures.of_job(succeed()) is None


@pytest.mark.parametrize(("line", "found"), [
    ("aclnnFlashAttentionScore failed, detail:EZ9999", ["aclnnFlashAttentionScore"]),
    ("[ERROR] op type [GatherV2] is not supported", ["GatherV2"]),
    ("op_name: Conv2D_7 compile failed", ["Conv2D_7"]),
    ("算子类型【Einsum】不支持", ["Einsum"]),
    ("the operator returned an error", []),
    ("open the file (train)", []),
])
def test_operators_as_tools_print_them(line, found):
    assert ["".join(groups) for groups in signatures.OPERATOR.findall(line)] == found


@pytest.mark.parametrize(("pattern", "fits"), [
    ("size of tensor a (*) must match the size of tensor b", True),
    ("SIZE OF TENSOR * non-singleton dimension", True),
    ("size of tensor b*size of tensor a", False),  # in another order
    ("Traceback*size of tensor", False),  # of two lines
    ("size of tensor a (8192)", False),
])
def test_patterns_fit_within_a_line(pattern, fits):
    assert signatures.holds_pattern(ASSERTION.casefold().splitlines(), pattern) is fits


def test_every_part_of_a_signature_is_needed(fail):
    shown = signatures.of_job(fail(HCCL))
    code = SolvedCase(error_code="EI0002")
    assert signatures.matched_parts(code, shown) == ["error_code"]
    assert signatures.matched_parts(
        SolvedCase(error_code="EI0002", diagnosis="hccl_timeout"), shown)
    assert signatures.matched_parts(
        SolvedCase(error_code="EI0002", log_pattern="Notify register times out"), shown)
    for other in ({"error_code": "EI0006"}, {"operator": "Einsum"}, {"tool": "inf.atc"},
                  {"log_pattern": "Socket build time out"}):
        assert signatures.matched_parts(
            SolvedCase(**{"error_code": "EI0002", **other}), shown) == []
    assert signatures.matched_parts(SolvedCase(tool="adapt.smoke_train"), shown) == []


def test_a_line_becomes_a_pattern_that_fits_the_next_run():
    line = HCCL.splitlines()[1]
    pattern = signatures.as_pattern(line)
    assert "EI0002" in pattern
    assert not any(varying in pattern for varying in ("10.20.30.42", "2025", "77"))
    again = line.replace("10.20.30.42", "10.9.9.9").replace("PID:77", "PID:4711").replace(
        "2025-06-24-10:02:11", "2026-01-02-03:04:05")
    assert signatures.holds_pattern([again.casefold()], pattern)
    assert signatures.as_pattern("507015 at /home/li/a.py, 0x12c0: 3 of 4 steps/s") == (
        "507015 at *, *: * of * steps/s")
