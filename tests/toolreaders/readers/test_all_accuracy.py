"""Every file of the accuracy and migration samples against the facts of its manifest row.

Collected only when DESK_SAMPLES names the folder of the whole sample set.
"""

import json
import os
import re
from pathlib import Path

import pytest

from toolreaders import ReadError, read_file

ROOT = Path(os.environ["DESK_SAMPLES"])
FOLDER = next(
    path.parent for path in ROOT.rglob("MANIFEST.md") if (path.parent / "msprobe").is_dir()
)
ROW = re.compile(r"^\| `(?P<file>[^`]+)` \| .*? \| (?P<truth>.*) \|$")
NOTES = {"MANIFEST.md", "FORMATS.md"}
# Not outputs of a tool: the command that was run, and a recipe the tool copies.
NOT_OUTPUTS = re.compile(r"(?:^|/)cmd\.txt$|_best_practice\.yaml$")
FILES = [
    path.relative_to(FOLDER).as_posix()
    for path in sorted(FOLDER.rglob("*"))
    if path.is_file() and path.name not in NOTES
]
OUTPUTS = [name for name in FILES if not NOT_OUTPUTS.search(name)]
KINDS = {
    "msprobe/compare": {"accuracy_compare", "accuracy_advice", "tool_log"},
    "msprobe/config_check": {"config_check", "tool_log"},
    "msprobe/acc_check": {"api_accuracy", "tool_log"},
    "msprobe/dump": {"accuracy_dump"},
    "msprobe/data2db": {"accuracy_dump", "tool_log"},
    "msprobe/graph_visualize": {"accuracy_graph", "tool_log"},
    "msprobe/merge_result": {"accuracy_merge", "tool_log"},
    "msprobe/overflow_check": {"overflow", "tool_log"},
    "msaccucmp/compare": {"accuracy_compare", "accuracy_advice", "tool_log"},
    "msaccucmp/opdebug": {"overflow", "tool_log"},
    "transplant": {"migration_analysis", "script_transplant"},
    "convert_tf2npu": {"tf_conversion", "tool_log"},
    "atc": {"conversion_log"},
    "amct": {"conversion_log"},
    "aoe": {"performance_tuning"},
    "modelslim": {"quantization", "tool_log"},
    "infer": {"inference_benchmark"},
    "trainlogs": {"training_log", "evaluation"},
}


def _truth() -> dict[str, str]:
    rows = (ROW.match(line) for line in (FOLDER / "MANIFEST.md").read_text().splitlines())
    return {row["file"]: row["truth"] for row in rows if row}


TRUTH = _truth()


def rows(pattern: str, name: str = "") -> list[str]:
    """Files whose manifest row matches ``pattern``."""
    return [f for f in OUTPUTS if name in f and re.search(pattern, TRUTH.get(f, ""))]


def fact(name: str, pattern: str) -> str | None:
    found = re.search(pattern, TRUTH[name])
    return found[1] if found else None


def values_of(name: str) -> dict:
    return read_file(FOLDER / name).values


def test_the_manifest_was_read():
    assert len(set(TRUTH) & set(FILES)) > 400


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_file_is_read_or_empty(name):
    if not (FOLDER / name).read_bytes().strip():
        with pytest.raises(ReadError) as error:
            read_file(FOLDER / name)
        assert error.value.code == "empty_file"
        return
    reading = read_file(FOLDER / name)
    folder = next(folder for folder in KINDS if name.startswith(folder + "/"))
    assert reading.kind in KINDS[folder]
    json.dumps(reading.values, allow_nan=False)


@pytest.mark.parametrize("name", rows(r"verdict_column="))
def test_comparison(name):
    values = values_of(name)
    verdicts = json.loads(fact(name, r"verdicts=(\{.*?\})"))
    verdicts[""] = verdicts.pop("None", 0) + verdicts.get("", 0)
    assert values["rows"] == int(fact(name, r"rows=(\d+)"))
    assert values["columns"] == int(fact(name, r"columns=(\d+)"))
    assert values["tool_verdicts"] == {key: n for key, n in verdicts.items() if n}
    assert values["unmatched"] == int(fact(name, r"unmatched_rows=(\d+)") or 0)
    assert values["nonfinite"] == int(fact(name, r"nonfinite_rows=(\d+)") or 0)
    if flagged := fact(name, r"first_flagged=row (\d+)"):
        assert values["first_flagged_by_tool"]["row"] == int(flagged)


# What was injected (TRUTH), not what the tool says.
FAULTS = {
    "conv3x3-L0": "Module.layer2.0.down.0.Conv2d.forward.0",
    "conv3x3": "Functional.conv2d.3.forward",
    "conv3x1.05": "Functional.conv2d.3.forward",
    "conv4nan": "Functional.conv2d.4.forward",
    "bn5inf": "Functional.batch_norm.5.forward",
    "relu2noise": "Functional.relu.2.forward",
    "md5-conv3x3": "Functional.conv2d.3.forward",
}
CLEAN = ("identical", "md5-same", "extra")


@pytest.mark.parametrize("name", rows(r"verdict_column="))
def test_first_deviating_operator(name):
    folder = name.split("/")[-2]
    values = values_of(name)
    op = next((op for start, op in FAULTS.items() if folder.startswith(start)), None)
    if op:
        assert values["first_deviating"] == values["suspect"] == op
    elif folder.startswith(CLEAN):
        assert values["first_deviating"] is None
    elif folder.startswith("weightpert"):
        assert values["first_deviating_row"]["role"] in ("input", "parameters")
        assert values["suspect"] is None
    elif folder.startswith("bf16"):
        assert values["dtype_mismatches"] > 0


@pytest.mark.parametrize("name", rows(r"Line=\S+ \(0-based"))
def test_advisor(name):
    line = fact(name, r"Line=(\S+)")
    assert values_of(name)["data_row"] == (None if line == "NA" else int(line))


@pytest.mark.parametrize("name", rows(r"^pass_check="))
def test_config_check(name):
    values = values_of(name)
    assert values["summary"] == json.loads(fact(name, r"pass_check=(\{.*?\})"))
    levels = json.loads(fact(name, r"levels=(\{.*?\});"))
    for sheet in ("env", "pip", "hyperparameters"):
        assert values["sheets"][sheet]["levels"] == levels.get(sheet, {})
    for sheet in ("dataset", "weights"):
        different = fact(name, rf'"{sheet}": "(\d+) of')
        assert values["sheets"][sheet]["different"] == int(different)


@pytest.mark.parametrize("name", rows(r"\d+ data rows", "transplant/"))
def test_transplant_tables(name):
    values = values_of(name)
    assert values["rows"] == int(fact(name, r"(\d+) data rows"))
    if (apis := fact(name, r"APIs (\{.*?\})")) and values["form"] == "table":
        for api, count in json.loads(apis).items():
            assert values["apis"][api] == count
    if operations := fact(name, r"Operation Type (\{.*?\})"):
        assert values["operations"] == json.loads(operations)
    if values["form"] == "table":
        assert values["table"] == Path(name).stem


@pytest.mark.parametrize("name", rows(r"run log, \d+ lines|old format", "transplant/"))
def test_transplant_logs(name):
    values = values_of(name)
    assert values["lines"] == int(fact(name, r"(\d+) lines"))
    assert values["succeeded"] is True
    assert values["old_format"] is ("old format" in TRUTH[name])


@pytest.mark.parametrize("name", rows(r"statistics table \{", "transplant/"))
def test_transplant_statistics(name):
    expected = json.loads(fact(name, r"statistics table (\{.*?\})"))
    assert values_of(name)["statistics"] == expected


@pytest.mark.parametrize("name", rows(r"\d+ rows; column", "convert_tf2npu/"))
def test_tf_tables(name):
    values = values_of(name)
    assert values["rows"] == int(fact(name, r"(\d+) rows"))
    assert values["classes"] == json.loads(fact(name, r"(\{.*?\})"))


@pytest.mark.parametrize("name", rows(r"In brief", "convert_tf2npu/"))
def test_tf_briefs(name):
    values = values_of(name)
    assert values["total"] == int(fact(name, r"In brief: Total API: (\d+)"))
    assert values["unique"]["total"] == int(fact(name, r"duplicate: Total API: (\d+)"))
    for label, count in re.findall(r"[,n] ?(?:which )?([A-Z][\w ]+): (\d+)", TRUTH[name])[:3]:
        if label in values["classes"]:
            assert int(count) in (values["classes"][label], values["unique"]["classes"][label])


@pytest.mark.parametrize(
    "name", rows(r"[1-9]\d* change lines|[1-9]\d* lines `NPU", "convert_tf2npu/")
)
def test_tf_reports(name):
    assert values_of(name)["rows"] == int(fact(name, r"(\d+) (?:change )?lines"))


@pytest.mark.parametrize("name", rows(r"^[1-9]\d* lines$", "need_migration_doc"))
def test_tf_manual(name):
    assert values_of(name)["lines"] == int(fact(name, r"^(\d+) lines"))


@pytest.mark.parametrize("name", rows(r"rows, \d+ columns", "msaccucmp/"))
def test_offline_comparison(name):
    values = values_of(name)
    assert values["rows"] == int(fact(name, r"(\d+) rows"))
    assert values["columns"] == int(fact(name, r"(\d+) columns"))
    assert values["low_cosine"] == int(fact(name, r"cosine<0.99 in (\d+)"))
    assert len(values["fail_reasons"]) == int(fact(name, r"CompareFailReason set in (\d+)"))
    assert values["overflow"] == json.loads(fact(name, r"OverFlow (\{.*?\})") or "{}")


@pytest.mark.parametrize("name", rows(r"status=\d+ task=\d+", "msaccucmp/"))
def test_opdebug(name):
    blocks = {block["block"]: block for block in values_of(name)["blocks"]}
    reported = re.findall(r"(?:acc_type=)?([\w ]+?) status=(\d+) task=(\d+)", TRUTH[name])
    for block, status, task in reported:
        found = blocks[block.strip()]
        assert (found["status"], found["task_id"]) == (int(status), int(task))


@pytest.mark.parametrize("name", rows(r"entries$", "dump.json"))
def test_dumps(name):
    values = values_of(name)
    assert values["entries"] == int(fact(name, r"(\d+) entries"))
    if "rank1 has NaN from" in TRUTH[name]:
        assert values["first_nonfinite"] == "Functional.conv2d.4.forward"


@pytest.mark.parametrize("name", rows(r"SQLite; tables"))
def test_databases(name):
    expected = {k: int(n) for k, n in re.findall(r"(\w+)=(\d+)", TRUTH[name].split(". ")[0])}
    assert values_of(name)["tables"] == expected


@pytest.mark.parametrize("name", rows(r"UTF-8 BOM; \d+ rows", "acc_check/"))
def test_acc_check(name):
    values = values_of(name)
    reported = {k: json.loads(v) for k, v in re.findall(r"([\w ]+)=(\{.*?\})", TRUTH[name])}
    assert values["rows"] == int(fact(name, r"(\d+) rows"))
    if len(reported) == 1:
        assert values["tool_verdicts"] == next(iter(reported.values()))
    else:
        assert values["tool_verdicts"] == {key.strip(): item for key, item in reported.items()}


@pytest.mark.parametrize("name", rows(r"rank_\d: \d+ op", "overflow_check/"))
def test_overflow_check(name):
    values = values_of(name)
    assert values["first_rank"] == fact(name, r"(rank_\d)")
    assert values["first_op"] == fact(name, r"first `([^`]+)`")


@pytest.mark.parametrize("name", rows(r"JSON document", "fusion_result/"))
def test_fusion(name):
    values = values_of(name)
    assert values["documents"] == int(fact(name, r"(\d+) JSON document"))
    assert values["effect_times"] == int(fact(name, r"effect_times=(\d+)"))
    assert values["sessions"][0] == fact(name, r"first session (\S+)")


@pytest.mark.parametrize("name", [n for n in OUTPUTS if n.startswith("atc/failed/")])
def test_atc_failures(name):
    values = values_of(name)
    code = fact(name, r"\b([EW][A-Z]?\d{4,5})\b")
    assert (values["succeeded"], values["first_code"]) == (False, code)
