"""No kind takes for a success, or for “none found”, what was not looked at.

`tests/samples/kinds` holds what the `good_run` of each kind left. Every test damages it in one
way and asks the kind again.
"""

from fnmatch import fnmatch
from pathlib import PurePosixPath

import pytest

from tests.workers.kinds.outputs import SAMPLES, Files, good, text_of
from workers import kinds
from workers.kinds.base import Judgement
from workers.kinds.example_runs import LogShows

pytestmark = pytest.mark.slow

kinds.load_all()
UNKNOWN = b"layout of release 99\nsomething that no reader knows\n"
NOT_FOUND = b"sh: 1: tool-of-the-kind: not found\n"
ERROR = b"[ERROR] 2026-01-01 00:00:00 a part of the work failed and was left out\n"
CASES = {kind.code: kind.good_run for kind in kinds.all_kinds()
         if kind.runs_on_node and kind.good_run and not kind.code.startswith("test.")}


@pytest.fixture
def judged(judge):
    def of_case(code: str, files: Files, status: int | None = None) -> Judgement:
        run = CASES[code]
        return judge(code, files, status=run.status if status is None else status,
                     cards=run.cards, **run.parameters)

    return of_case


def evidence(code: str) -> list[str]:
    """Files of the good run on which its success rests, without the log."""
    patterns = (*kinds.get(code).judged_files, *CASES[code].files)
    return [name for name, content in good(code).items() if name != "log.txt" and content
            and any(fnmatch(name, pattern) for pattern in patterns)]


def with_middle(log: bytes, line: bytes) -> bytes:
    lines = log.splitlines(keepends=True)
    return b"".join([*lines[:len(lines) // 2], line, *lines[len(lines) // 2:]])


def cut(content: bytes) -> bytes:
    """The first half, ended inside of a line."""
    half = content[:len(content) // 2]
    return half[:half.rfind(b"\n") - 3] if b"\n" in half[4:] else half


def sibling(code: str, name: str) -> str | None:
    """The name of one more file of the same kind; None where there can be one only."""
    path = PurePosixPath(name)
    names = [path.with_name(f"more_{path.name}"), path.parent.parent / "more" / path.name]
    patterns = (*kinds.get(code).judged_files, *CASES[code].files)
    return next((str(other) for other in names
                 if any(fnmatch(str(other), pattern) for pattern in patterns)), None)


def test_every_kind_has_its_good_run():
    assert {folder.name for folder in SAMPLES.iterdir()} == set(CASES)


def test_every_kind_that_holds_cards_says_what_it_claims_of_them():
    silent = {kind.code for kind in kinds.all_kinds() if kind.code in CASES
              and kind.cards_for(kind.clean(kind.example_parameters()))
              and not kind.claims_device}
    # what they leave is the same wherever it was computed
    assert silent == {"acc.config_pack", "acc.dump", "acc.tf_dump", "acc.eval",
    "adapt.onnx_export", "inf.quant"}
    # scores are not
    assert kinds.get("acc.eval").figures_need_device({})


@pytest.mark.parametrize("code", CASES)
def test_the_good_run_is_a_success(judged, code):
    judgement = judged(code, good(code))
    assert judgement.is_success, text_of(judgement)


@pytest.mark.parametrize("code", CASES)
def test_empty_output(judged, code):
    assert not judged(code, {"log.txt": b""}).is_success
    if CASES[code].log_shows is not LogShows.NOTHING:
        assert not judged(code, {**good(code), "log.txt": b""}).is_success


@pytest.mark.parametrize("status", [126, 127])
@pytest.mark.parametrize("code", CASES)
def test_missing_tool(judged, code, status):
    for files in ({"log.txt": NOT_FOUND}, {**good(code), "log.txt": NOT_FOUND}):
        judgement = judged(code, files, status)
        assert not judgement.is_success
        assert "tool-of-the-kind" in text_of(judgement)


@pytest.mark.parametrize("code", CASES)
def test_other_status(judged, code):
    assert not judged(code, good(code), 1).is_success
    assert not judged(code, good(code), 137).is_success


@pytest.mark.parametrize("code", CASES)
def test_wrong_layout(judged, code):
    for name in evidence(code) if CASES[code].reads_content else ():
        judgement = judged(code, {**good(code), name: UNKNOWN})
        assert not judgement.is_success or name in text_of(judgement), (name, text_of(judgement))
    if CASES[code].log_shows is LogShows.RESULT:
        assert not judged(code, {**good(code), "log.txt": UNKNOWN}).is_success


@pytest.mark.parametrize("code", CASES)
def test_output_of_another_kind(judged, code):
    alike = {code, *CASES[code].also_of}
    taken = [other for other in CASES
             if other not in alike and judged(code, good(other)).is_success]
    assert taken == []


@pytest.mark.parametrize("code", CASES)
def test_partial_output(judged, code):
    files = good(code)
    for name in evidence(code):
        without = {other: content for other, content in files.items() if other != name}
        assert not judged(code, without).is_success, name
        if CASES[code].reads_content:
            half = judged(code, {**files, name: cut(files[name])})
            assert not half.is_success or name in text_of(half), (name, text_of(half))
    if CASES[code].log_shows is LogShows.RESULT:
        half = judged(code, {**files, "log.txt": cut(files["log.txt"])})
        assert not half.is_success, text_of(half)


@pytest.mark.parametrize("code", CASES)
def test_error_in_the_middle(judged, code):
    files = good(code)
    judgement = judged(code, {**files, "log.txt": with_middle(files["log.txt"], ERROR)})
    assert not judgement.is_success or "a part of the work failed" in text_of(judgement)
    assert judgement.is_success in (False, kinds.get(code).may_log_errors)


@pytest.mark.parametrize("code", CASES)
def test_one_unreadable_file_among_readable_ones(judged, code):
    for name in evidence(code) if CASES[code].reads_content else ():
        if other := sibling(code, name):
            judgement = judged(code, {**good(code), other: UNKNOWN})
            assert not judgement.is_success or other in text_of(judgement), (
                other, text_of(judgement))
