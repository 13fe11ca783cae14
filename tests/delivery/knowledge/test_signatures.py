"""What a failed job shows of itself, and which patterns fit."""

import pytest

from delivery.knowledge import anonymity, signatures
from delivery.knowledge.anonymity import Names
from delivery.knowledge.models import SolvedCase
from tests.delivery.knowledge.conftest import ASSERTION, HCCL, OPERATOR, SOFTWARE

NAMES = Names(frozenset({"国家电网", "npu-grid-07", "ep2501"}))


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


@pytest.mark.parametrize(("text", "found"), [
    ("用户国家电网的 EP2501 项目", ["EP2501", "国家电网"]),
    ("node NPU-GRID-07 fails, npu-grid-070 does not", ["NPU-GRID-07"]),
    ("EP25011 is another word", []),
    ("ask li.wei@grid.example", ["li.wei@grid.example"]),
    ("root@npu-9:~# npu-smi info", ["root@npu-9"]),
    ("look into /home/liwei/train.py", ["/home/liwei/train.py"]),
    ("C:\\Users\\liwei\\x.log", ["C:\\Users\\liwei\\x.log"]),
    ("source /usr/local/Ascend/ascend-toolkit/set_env.sh and enlarge /dev/shm", []),
    ("see https://www.hiascend.com/document/detail/zh/x", []),
    ("12 tokens/s, TP/PP = 2/4, torch/nn", []),
    ("rank 5 at 10.20.30.42 is silent", ["10.20.30.42"]),
    ("firmware 7.3.0.1.231 with driver 24.1.0.3, 127.0.0.1", []),
    ("link fe80:1:2:3:4:5:6:7 is down at 12:30:45", ["fe80:1:2:3:4:5:6:7"]),
])
def test_what_a_text_tells_of_whose_it_is(text, found):
    assert sorted(anonymity.telling(text, NAMES)) == sorted(found)
    cleaned = anonymity.without_names(text, NAMES)
    assert anonymity.telling(cleaned, NAMES) == []
    assert found or cleaned == text


def test_a_line_becomes_a_pattern_that_fits_the_next_run():
    line = HCCL.splitlines()[1]
    pattern = anonymity.as_pattern(line, NAMES)
    assert "EI0002" in pattern
    assert not any(telling in pattern for telling in ("10.20.30.42", "2025", "77"))
    again = line.replace("10.20.30.42", "10.9.9.9").replace("PID:77", "PID:4711").replace(
        "2025-06-24-10:02:11", "2026-01-02-03:04:05")
    assert signatures.holds_pattern([again.casefold()], pattern)
