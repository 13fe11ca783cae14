"""Sentences of job kinds that once said more than was looked at."""

import json
from pathlib import Path

import pytest

from tests.workers.kinds.outputs import good, text_of
from toolreaders.verdicts.devices import device_in
from workers import kinds
from workers.kinds.judgement import Finished, Judgement
from workers.kinds.success_checks import device_proven, error_lines
from workers.models import PURPOSE_OF_STAGE, Purpose

LOGS = ("log.txt", "pytorch_analysis.txt")
SMOKE = "adapt.smoke_train"
TRANSPLANT = "analysis/net_analysis/"
HEADERS = {
    "framework_unsupported_op": "Torch API,Affected 3rd-party API",
    "unknown_op": "Torch API,Affected 3rd-party API",
    "migration_needed_op": "Torch API,Affected 3rd-party API",
    "cuda_op": "OP Name,Affected 3rd-party API",
    "full_unsupported_results": "File,3rd-party API,Message",
    "affinity_api_call": "File,Start Line,End Line,Api Type,Api Call Name,Affinity Api Name",
}
THIRD_PARTY = {"framework_unsupported_op": ["torch.nn.DataParallel,main.a", "torch.xpu.a,main.b"],
               "unknown_op": ["torch.accelerator.a,main.c", "torch.accelerator.b,main.c",
                              "torch.accelerator.c,main.d"],
               "migration_needed_op": [], "cuda_op": [],
               "full_unsupported_results": ["main.py,main.main,x"]}


def analysis(tables: dict[str, list[str]], *lines: str, files: int = 1) -> dict[str, bytes]:
    """Output of pytorch_analyse.sh with these rows per table and these lines in its log."""
    width = max(map(len, tables), default=0) + 4
    rule = f"+{'-' * (width + 2)}+------------+"
    log = ["2026-01-01 00:00:00 [INFO]    PyTorch analysis start working now, please wait."]
    for number in range(files):
        log += [f"2026-01-01 00:00:00 [INFO]    Start the analysis of m{number}.py.",
                *(lines if number == 0 else ()),
                f"2026-01-01 00:00:00 [INFO]    Analysis of m{number}.py completed."]
    log += ["2026-01-01 00:00:00 [INFO]    [Progress:100.00%]  Analyse run succeeded, welcome.",
            *(f"| {name + '.csv':{width}} | {len(rows):10} |" for name, rows in tables.items()),
            rule, ""]
    found = {f"{TRANSPLANT}{name}.csv": "\n".join([HEADERS[name], *rows, ""]).encode()
             for name, rows in tables.items()}
    return {"log.txt": "\n".join(log).encode(), **found}


def test_third_party_mode_counts_its_own_tables(judge):
    judgement = judge("survey.pt_analyse", analysis(THIRD_PARTY), mode="third_party")
    assert judgement.is_success
    assert text_of(judgement).startswith("2 unsupported, 3 unknown and 0 APIs to be migrated")
    assert "in 1 file." in text_of(judgement)


def test_affinity_mode_counts_its_own_table_and_says_what_it_did_not_look_for(judge):
    row = "a.py,1,1,special,input[condition] = value,torch_npu.contrib.function.x"
    judgement = judge("survey.pt_analyse", analysis({"affinity_api_call": [row]}),
                      mode="affinity_apis")
    assert text_of(judgement) == ("1 API use with an affinity API in 1 file. Unsupported APIs were "
                                  "not looked for in this mode.")


def test_dynamic_shape_mode_knows_nothing_of_shapes_yet(judge):
    judgement = judge("survey.pt_analyse", analysis({}, files=3), mode="dynamic_shape")
    assert text_of(judgement).startswith("3 files were prepared to record shapes. Nothing is known")


@pytest.mark.parametrize("mode", ["torch_apis", "affinity_apis"])
def test_tables_of_another_mode_are_not_counted(judge, mode):
    judgement = judge("survey.pt_analyse", analysis(THIRD_PARTY), mode=mode)
    assert not judgement.is_success
    assert "missing or not recognised" in text_of(judgement)


def test_a_table_with_other_rows_than_the_log_counts_is_partial(judge):
    files = analysis(THIRD_PARTY)
    name = f"{TRANSPLANT}unknown_op.csv"
    files[name] = files[name].rsplit(b"\n", 2)[0] + b"\n"
    judgement = judge("survey.pt_analyse", files, mode="third_party")
    assert text_of(judgement).startswith("unknown_op.csv: the log counts other rows")


@pytest.mark.parametrize("code", ["survey.pt_analyse", "adapt.gpu2npu"])
def test_a_file_that_the_tool_cannot_parse_is_named(judge, code):
    mark = (b"2026-01-01 00:00:00 [WARNING] [Progress: 50.00%]  old.py has unsupported python "
            b"syntax, skip.\n")
    files = good(code)
    for name in [name for name in files if name.endswith((*LOGS, "msFmkTranspltlog.txt"))]:
        files[name] = files[name].replace(
            b"completed.\n", b"completed.\n" + mark, 1)
    judgement = judge(code, files)
    assert not judgement.is_success
    assert text_of(judgement).startswith("1 of 2 files was not analysed (old.py)")


TF = "report/report_npu_20261123193511/"
OLD_BRIEF = (b"1.In brief: Total API: 70, in which Support: 69, Unsupport: 1, NA: 0\n"
             b"2.After eliminate duplicate: Total API: 25, in which Support: 24, Unsupport: 1\n")
OLD_FAILED = b"Finish conver file: /home/a.py\n\n/home/b.py:7 tf.x is not support migration.\n"


def tf_scan(**reports: bytes) -> dict[str, bytes]:
    files = good("survey.tf_scan")
    for name, content in reports.items():
        files[f"{TF}{name}.txt"] = content
        files["log.txt"] = files["log.txt"].replace(f"desk: empty {TF}{name}.txt\n".encode(), b"")
    return files


@pytest.mark.parametrize("reports", [
    {"failed_report": OLD_FAILED}, {"api_brief_report": OLD_BRIEF},
    {"failed_report": b"Finish conver file: a.py\n\n/b.py:7, NPU Unsupport API: tf.x\n"}])
def test_an_unsupported_use_is_found_in_every_layout(judge, reports):
    judgement = judge("survey.tf_scan", tf_scan(**reports))
    assert text_of(judgement) == "1 use of 4 is not supported on the NPU."


def test_a_report_of_unknown_layout_is_not_none(judge):
    judgement = judge("survey.tf_scan", tf_scan(failed_report=b"Release 9\nb.py tf.x bad\n"))
    assert (judgement.is_success, "cannot be read" in text_of(judgement)) == (False, True)


def test_none_names_what_was_searched(judge):
    assert text_of(judge("survey.tf_scan", tf_scan())) == (
        "None unsupported among 4 API uses in 1 file; of 0 the support is not known, 0 are "
        "deprecated; 2 places changed.")


def test_uses_in_no_class_are_not_known(judge):
    files = tf_scan()
    files["log.txt"] = files["log.txt"].replace(b"Support: 3,", b"Support: 1,").replace(
        b"Analysing: 0", b"Analysing: 1")
    assert "of 2 the support is not known" in text_of(judge("survey.tf_scan", files))


def test_a_file_too_large_to_convert_is_named(judge):
    files = tf_scan()
    files["log.txt"] = files["log.txt"].replace(
        b"Finish conver,",
        b"WARNING:The file:/big.py size is over 10M, skip convert.\nFinish conver,")
    judgement = judge("survey.tf_scan", files)
    assert (judgement.is_success, "Not converted: /big.py" in text_of(judgement)) == (False, True)


@pytest.mark.parametrize("name", [
    "OpDebug.Node_Opdebug.1.5.1", "Opdebug.Node_OpDebug.1.5.1", "opdebug.node_opdebug.1.5.1"])
def test_overflow_states_are_known_in_every_spelling(judge, name):
    files = {"log.txt": b"device: npu:0\n", f"output/{name}": b"x",
             "output/Gemm.Gemm_7.1.5.1": b"x"}
    judgement = judge("inf.overflow_dump", files)
    assert text_of(judgement).startswith("1 overflow: Gemm_7.")


def test_no_overflow_needs_proof_that_the_dump_was_on(judge):
    log = b"device: npu:0\n"
    without = judge("inf.overflow_dump", {"log.txt": log, "acl.json": b"{}"})
    assert (without.is_success, text_of(without)[:12]) == (False, "Not provable")
    assert judge("inf.overflow_dump", {"log.txt": log + b"desk: acl.json is used\n"}).is_success


def with_nan(dump: bytes, calls: int) -> bytes:
    found = json.loads(dump)
    for name in list(found["data"])[:calls]:
        for part in ("input_args", "output"):
            for tensor in found["data"][name].get(part) or []:
                tensor["Mean"] = float("nan")
    return json.dumps(found).encode()


def test_dumps_with_nan_say_so_in_singular_and_plural(judge):
    files = good("acc.dump")
    first, second = (name for name in files if name.endswith("/dump.json"))
    one = {name: content for name, content in files.items() if "rank1" not in name}
    assert text_of(judge("acc.dump", one)).startswith("1 dump with ")
    assert text_of(judge("acc.dump", files, ranks=2)).startswith("2 dumps with ")
    one[first] = with_nan(one[first], 3)
    judgement = judge("acc.dump", one)
    assert text_of(judgement).startswith("1 dump was written; NaN or Inf in 3 of its ")
    assert judgement.results["nonfinite"] == 3
    both = {**files, first: with_nan(files[first], 2), second: with_nan(files[second], 1)}
    assert "NaN or Inf in 3 of their" in text_of(judge("acc.dump", both, ranks=2))


def test_differences_of_configurations_are_findings_with_their_level(judge):
    judgement = judge("acc.config_check", good("acc.config_check"))
    found = {finding["item"]: finding for finding in judgement.results["findings"]}
    assert {"HCCL_DETERMINISTIC", "transformers"} <= set(found)
    assert {name: found["transformers"][name] for name in ("level", "sheet", "bench", "npu")} == {
        "level": "error", "sheet": "pip", "bench": "4.37.2", "npu": "4.43.2"}
    assert text_of(judgement).startswith("Differences to look at: 3 errors, 0 warnings")


def test_equal_configurations_name_what_was_compared(judge):
    same = Path(__file__).parents[2] / "samples" / "accuracy" / "config_check" / "same.xlsx"
    judgement = judge("acc.config_check", {"log.txt": b"", "check/result.xlsx": same.read_bytes()})
    assert text_of(judgement).startswith("No difference in ")
    assert "env" in text_of(judgement)


# The device -------------------------------------------------------------------------


def smoke(line: str) -> dict[str, bytes]:
    log = good(SMOKE)["log.txt"].replace(b"device: npu:0\n", b"")
    return {"log.txt": log + line.encode() + b"\n"}


@pytest.mark.parametrize(("line", "device"), [
    ("desk: device npu 3: process 7 holds it open", "npu 3"), ("device: npu:0", "npu:0"),
    ("Running on Ascend910B3", "Ascend910B3")])
def test_a_training_is_a_success_where_its_device_is_proven(judge, line, device):
    judgement = judge(SMOKE, smoke(line), cards=1)
    assert (judgement.is_success, judgement.results["device"]) == (True, device)


@pytest.mark.parametrize("line", [
    "", "device: cpu", "npu:0 is not available, falling back to cpu",
    "RuntimeWarning: cannot open npu:0", "Namespace(device='npu:0', steps=10)",
    "run.py --device npu:0", "built for Ascend910B3",
    "desk: no device: none was held open in 9 looks"])
def test_without_a_device_a_training_proves_nothing(judge, line):
    judgement = judge(SMOKE, smoke(line), cards=1)
    assert (judgement.is_success, judgement.results["not_provable"]) == (False, "device")
    assert text_of(judgement).startswith("Not provable: the command succeeded, but neither")


def test_a_training_on_a_gpu_names_it(judge):
    judgement = judge(SMOKE, smoke("desk: device gpu 1: process 7 holds it open"), cards=1)
    assert text_of(judgement) == ("Not provable: the processes of the job used gpu 1, and no NPU.")


def test_devices_are_listed_once_each_in_order():
    log = "".join(f"desk: device npu {n}: process {n} holds it open\n" for n in (10, 2, 2))
    assert device_in(log) == "npu 2, npu 10"


def test_the_line_that_msprobe_prints_without_cann_is_no_error():
    assert error_lines("2026-01-01 00:00:00 (7) [ERROR] Please verify that the CANN environment is "
                       "properly configured.\n[ERROR] no data\n") == ["[ERROR] no data"]


@pytest.mark.parametrize(("stage", "is_success"), [("design", True), ("train_tune", False)])
def test_a_baseline_of_the_source_platform_needs_no_npu(stage, is_success):
    finished = Finished(0, "desk: device gpu 1: process 7 holds it open",
                        is_of_source=PURPOSE_OF_STAGE[stage] == Purpose.SOURCE)
    found = device_proven(kinds.get("adapt.megatron_train"), finished, Judgement(True, "done"))
    assert found.is_success is is_success


def test_an_analysis_keeps_its_findings_for_the_page_of_the_job(judge):
    judgement = judge("survey.pt_analyse", analysis(THIRD_PARTY), mode="third_party")
    severities = [row["severity"] for row in judgement.results["findings"]]
    assert severities == ["block"] * 2 + ["warn"] * 3
    assert all(row["text"] for row in judgement.results["findings"])


def test_the_check_of_the_migration_keeps_its_findings_what_blocks_first(judge):
    row = {"line": 8, "text": "cuda"}
    found = [{**row, "rule": "R-SCR-07", "severity": "warning", "file": "a.py"},
             {**row, "rule": "R-SCR-06", "severity": "blocking", "file": "b.py"}]
    report = {"desk_report": "patch_check", "findings": found, "files": 2, "blocking": 1,
              "warnings": 1}
    judgement = judge("adapt.auto_patch_check", {
        "patch_check.report.json": json.dumps(report).encode()})
    assert [(row["severity"], row["file"]) for row in judgement.results["findings"]] == [
        ("block", "b.py"), ("warn", "a.py")]
