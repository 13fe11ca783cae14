"""Tools whose status or words say more than they did: their kinds judge what was made."""

import contextlib
import json

import pytest

from toolreaders import read_file
from toolreaders.source import ReadError
from workers import kinds
from workers.kinds.base import Finished

kinds.load_all()
TUNED = [{"OPAT": {"model_baseline_performance(ms)": 10.0, "model_result_performance(ms)": 8.0,
                   "opat_tuning_result": "tuning successful"}}]
BANNER = "    THE END-TO-END TOOLCHAIN TO UNLEASH HUAWEI ASCEND COMPUTE\n"
SAID = "[2026-01-01 00:00:00][ERROR][{place}] no profiling data\n"
EMPTY = {"perf.advisor": "analyzer_controller.py:401", "perf.cluster": "cluster_analysis.py:75",
         "perf.compare": "detail_performance_generator.py:80"}


@pytest.fixture
def judged(tmp_path):
    def judge(code: str, log: str, status: int = 0, **files: str):
        """Whether the kind takes a run for a success that left this log and these files."""
        readings = {}
        for name, text in {"log.txt": log, **files}.items():
            (tmp_path / name).write_text(text)
            with contextlib.suppress(ReadError):
                readings[name] = read_file(tmp_path / name)
        return kinds.get(code).judge(Finished(status, log, readings, tuple(files))).is_success

    return judge


@pytest.mark.parametrize(("log", "status", "succeeded"), [
    ("Aoe process finished\n", 0, True),
    ("<net> process finished. Performance improved by 20%\n", 0, True),
    ("[ERROR] device lost. Aoe process failed\n", 0, False),
    ("tuning 3 of 19 operators\n", 0, False), ("Aoe process finished\n", 137, False)])
def test_a_report_of_aoe_counts_only_behind_its_last_line(judged, log, status, succeeded):
    assert judged("perf.aoe", log, status, report=json.dumps(TUNED)) is succeeded


def test_a_report_without_times_of_the_model_is_a_success_that_says_so(tmp_path):
    (tmp_path / "report").write_text(json.dumps([{"OPAT": {"opat_tune_result": "tune success"}}]))
    log = "Aoe process finished\n"
    readings = {"report": read_file(tmp_path / "report")}
    judgement = kinds.get("perf.aoe").judge(Finished(0, log, readings, ("report",)))
    assert judgement.is_success is True
    assert "no times of the whole model" in judgement.message


@pytest.mark.parametrize(("after", "succeeded", "said"), [
    (5.44, False, "Slower after the tuning"), (2.99, True, "brought nothing"),
    (2.5, True, "after the tuning")])
@pytest.mark.parametrize("code", ["perf.aoe", "perf.aoe_train"])
def test_a_tuning_that_ends_slower_is_no_success(tmp_path, code, after, succeeded, said):
    report = [{"OPAT": {"model_baseline_performance(ms)": 2.99,
                        "model_result_performance(ms)": after,
                        "opat_tuning_result": "tuning successful"}}]
    (tmp_path / "aoe_result_opat.json").write_text(json.dumps(report))
    readings = {"aoe_result_opat.json": read_file(tmp_path / "aoe_result_opat.json")}
    judgement = kinds.get(code).judge(
        Finished(0, "Aoe process finished\n", readings, tuple(readings)))
    assert judgement.is_success is succeeded
    assert said in judgement.message


@pytest.mark.parametrize("code", ["adapt.smoke_train", "adapt.project_train"])
def test_mixed_precision_of_tensorflow_reaches_the_script(code):
    kind = kinds.get(code)
    given = kind.clean({"script": "~/t.py", "precision_mode": "allow_mix_precision"})
    assert kind.environment(given)["NPU_PRECISION_MODE"] == "allow_mix_precision"
    assert "NPU_PRECISION_MODE" not in kind.environment(kind.clean({"script": "~/t.py"}))


@pytest.mark.parametrize("code", EMPTY)
def test_msprof_analyze_on_empty_input_is_no_success(judged, code):
    assert judged(code, BANNER + SAID.format(place=EMPTY[code])) is False
