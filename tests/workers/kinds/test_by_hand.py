"""Changes made by hand, checks of training data, and what a profile holds: scripts of the desk."""

import json
import subprocess
import sys
from hashlib import sha256

import pytest
from django.utils.translation import override

from engagements.errors import InvalidInput
from tests.workers.kinds.outputs import good, text_of
from workers import kinds
from workers.kinds.node_scripts import run_script

kinds.load_all()


@pytest.fixture
def ran(tmp_path):
    """Runs a script of the desk in a folder of its own; its report, or None."""
    def go(name: str, *arguments: str, report: str):
        work = tmp_path / "work"
        work.mkdir(exist_ok=True)
        done = subprocess.run(run_script(name, *arguments, python=sys.executable), cwd=work,
                              capture_output=True, text=True, check=False)
        path = work / f"{report}.report.json"
        return done, json.loads(path.read_text()) if path.exists() else None
    return go


def test_every_changed_place_is_on_record(ran, tmp_path):
    for name, text in (("a", "x = 1\ndevice = 'cuda'\ny = 2\nz = 'nccl'\n"),
                       ("b", "x = 1\ndevice = 'npu'\ny = 2\nz = 'hccl'\nw = 3\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text(text)
    (tmp_path / "b" / "new.sh").write_text("torchrun\n")
    (tmp_path / "a" / "old.bin").write_bytes(b"\0")
    _done, report = ran("code_changes", str(tmp_path / "a"), str(tmp_path / "b"), "why",
                        report="changes")
    train, = (entry for entry in report["files"] if entry["name"] == "train.py")
    assert [(p["line"], p["removed"], p["added"]) for p in train["places"]] == [
        (2, 1, 1), (4, 1, 2)]
    assert (report["note"], report["compared"], report["left_out"]) == ("why", 2, 1)
    assert "+device = 'npu'" in (tmp_path / "work" / "migrated-code.diff").read_text()
    assert (tmp_path / "work" / "migrated-code.tar.gz").stat().st_size > 0


@pytest.mark.parametrize("subject", ["tbe", "ai_cpu", "ascend_c", "atb"])
def test_work_on_operators_is_recorded_as_such(judge, subject):
    """Seed S1 and S2: own operators (TBE, AI CPU) and work on the ATB library."""
    kind = kinds.get("adapt.code_changes")
    judgement = judge("adapt.code_changes", good("adapt.code_changes"), subject=subject)
    assert (judgement.is_success, judgement.results["subject"]) == (True, subject)
    with override("en"):
        [parameter] = [p for p in kind.parameters if p.name == "subject"]
        assert "operator" in parameter.shown(subject).lower()


def test_no_difference_is_no_migration(judge):
    files = good("adapt.code_changes")
    report = {**json.loads(files["changes.report.json"]), "files": [], "place_count": 0}
    judgement = judge("adapt.code_changes",
                      {**files, "changes.report.json": json.dumps(report).encode()})
    assert (judgement.is_success, text_of(judgement)[:19]) == (False, "None of 4 files dif")


def test_repeated_texts_and_passages_of_the_test_set_are_found(ran, tmp_path):
    corpus, tests = tmp_path / "c.jsonl", tmp_path / "t.jsonl"
    rows = ["one two three four five", "One two  three four five!", "", "变压器 油温 正常 无 渗漏",
            "nothing shared here at all", "bell\u0007"]
    corpus.write_text("".join(json.dumps({"text": row}) + "\n" for row in rows)
                      + json.dumps({"other": 1}) + "\n")
    tests.write_text(json.dumps({"text": "he said: two three four, then"}) + "\n")
    _done, report = ran("corpus_check", str(corpus), "text", str(tests), "3", report="cleaning")
    found = {name: report[name] for name in
             ("rows", "missing", "empty", "repeated", "leaked", "control")}
    assert found == {"rows": 7, "missing": 1, "empty": 1, "repeated": 1, "leaked": 2,
                     "control": 1}
    assert report["examples"]["leaked"] == [1, 2]
    assert report["scripts"] == {"Latin": 4, "Han": 1}


REFERENCE = ["the oil of the transformer is warm and its level is normal",
             "the level of the oil in the tank is low and the pump is off"]
DIRTY = {
    "the pump of the transformer is on and the oil is warm": [],
    "short text": ["words", "perplexity"], "<p>the oil of the pump</p> <br> is warm": ["html"],
    "the oil is warm see https://a.example and www.b.example": ["links"],
    "!!! ??? the oil *** is === warm ((( now )))": ["punctuation"],
    "the oil is the oil is the oil is the oil is": ["repetition"],
    "the casino of the pump is warm and low": ["listed"],
    "变压器油温正常无渗漏现象": ["language", "perplexity"],
    "xqz vjk qqx zzv kjx qzx wvk": ["perplexity"],
    "the pump of the transformer is on AND the oil is warm!": ["repeated"],
    "the tank of oil number seven is quite empty": ["leaked"]}


def test_cleaning_keeps_what_no_limit_speaks_against_and_names_reasons(ran, tmp_path):
    corpus, tests = tmp_path / "c.jsonl", tmp_path / "t.jsonl"
    reference, listed = tmp_path / "r.jsonl", tmp_path / "bad.txt"
    for path, rows in ((corpus, DIRTY), (reference, REFERENCE),
                       (tests, ["the tank of oil number seven"])):
        path.write_text("".join(json.dumps({"text": row}) + "\n" for row in rows))
    listed.write_text("casino\n")
    kind = kinds.get("adapt.corpus_clean")
    p = kind.clean({
        "corpus": str(corpus), "tests": str(tests), "passage": 6,
        "output": str(tmp_path / "o.jsonl"),
        "script": "Latin", "least_words": 4, "most_links": 1, "phrase": 3, "most_repetition": 0.4,
        "listed": str(listed), "reference": str(reference), "most_perplexity": 18})
    _done, report = ran("corpus_check", *kind.argv(p)[3:], report="cleaning")
    lines = (tmp_path / "work/removed.jsonl").read_text().splitlines()
    removed = [json.loads(line) for line in lines]
    assert {row["text"]: row["reasons"] for row in removed} == {
        text: reasons for text, reasons in DIRTY.items() if reasons}
    assert (tmp_path / "o.jsonl").read_text() == corpus.read_text().splitlines()[0] + "\n"
    assert (report["rows"], report["kept"], report["removed"]) == (11, 1, 10)
    assert report["sha256"] == sha256((tmp_path / "o.jsonl").read_bytes()).hexdigest()
    least, _median, _most, largest = report["spread"]["perplexity"]
    assert least < 18 < largest


def test_limits_of_a_cleaning_fit_together():
    kind = kinds.get("adapt.corpus_clean")
    with pytest.raises(InvalidInput):
        kind.clean({"corpus": "~/c.jsonl", "least_words": 9, "most_words": 8})
    with pytest.raises(InvalidInput):
        kind.clean({"corpus": "~/c.jsonl", "most_perplexity": 100})


def test_a_test_set_without_texts_is_an_error_and_none_is_told(ran, tmp_path, judge):
    corpus, tests = tmp_path / "c.jsonl", tmp_path / "t.jsonl"
    corpus.write_text('{"text": "a b c"}\n')
    tests.write_text('{"question": "a b c"}\n')
    done, report = ran("corpus_check", str(corpus), "text", str(tests), "3", report="cleaning")
    assert (done.returncode, report) == (2, None)
    files = good("adapt.corpus_check")
    without = {**json.loads(files["cleaning.report.json"]), "test_rows": 0}
    judgement = judge("adapt.corpus_check", {
        **files, "cleaning.report.json": json.dumps(without).encode()})
    assert text_of(judgement).endswith("No test set was given: leakage was not looked for.")


def test_a_rank_without_a_timeline_is_named(judge):
    files = good("perf.trace_folder")
    report = json.loads(files["insight.report.json"])
    report["ranks"][1]["files"] = ["step_trace_time.csv"]
    judgement = judge("perf.trace_folder",
                      {**files, "insight.report.json": json.dumps(report).encode()})
    assert (judgement.is_success, text_of(judgement)) == (
        False, "1 of 2 ranks has no timeline: rank1_ascend_pt.")


def test_calibration_goes_through_atc():
    with override("en"):
        kind = kinds.get("inf.atc")
        argv = kind.argv(kind.clean({"model_file": "~/m.onnx", "compression": "~/c.cfg"}))
    assert "--compression_optimize_conf" in argv[2]
    assert argv[9] == "~/c.cfg"
