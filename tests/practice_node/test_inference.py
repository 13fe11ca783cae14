"""The stand-ins of ATC and ais_bench, and of torch where there is none."""

import json
import re
from importlib.util import find_spec

import pytest

from practice_node.faults import set_faults
from toolreaders import read_file

ATC = ("atc --model=../data/model.onnx --framework=5 --output=m --soc_version={soc} "
       "--input_shape=input:1,3,224,224")


@pytest.fixture
def convert(sh, work):
    def go(soc="Ascend910B3", model="../data/model.onnx"):
        command = ATC.format(soc=soc).replace("../data/model.onnx", model)
        return sh(f"cd {work.name}; {command} > log; s=$?; cat log; exit $s")

    return go


@pytest.mark.slow
def test_conversion_writes_a_model_and_says_so(convert, work):
    answer = convert()
    assert answer.exit_status == 0
    assert answer.stdout.splitlines() == ["ATC start working now, please wait for a moment.",
                                          "ATC run success, welcome to the next use."]
    assert (work / "m.om").stat().st_size > 0
    assert read_file(work / "log").kind == "conversion_log"


@pytest.mark.parametrize(("options", "named"), [
    ({"soc": "Ascend999"}, "soc_version"), ({"model": "absent.onnx"}, "model")])
def test_wrong_arguments_are_e10001(convert, work, options, named):
    answer = convert(**options)
    assert answer.exit_status != 0
    assert "ATC run failed" in answer.stdout
    assert f"parameter [--{named}] is invalid" in answer.stdout
    assert read_file(work / "log").values["codes"] == ["E10001"]
    assert not (work / "m.om").exists()


def test_unknown_operator_on_request(convert, work, practice):
    set_faults(practice.root / "home", conversion_error=True)
    assert convert().exit_status != 0
    assert read_file(work / "log").values["codes"] == ["E19010"]


@pytest.mark.parametrize("program", ["ais_bench", "python3 -m ais_bench"])
def test_benchmark_measures_and_writes_its_summary(sh, work, program):
    answer = sh(f"cd {work.name}; {program} --model ../data/model.onnx --loop 20 --batchsize 2 "
                "--warmup_count 1 --output bench --display_all_summary 1 | tee log")
    (path,) = (work / "bench").iterdir()
    report = json.loads(path.read_text())
    times = report["npu_compute_time_list"]
    assert answer.exit_status == 0
    assert re.fullmatch(r"[\d_]+-[\d_]+_summary\.json", path.name)
    assert (len(times), len(set(times)) > 1, min(times) > 0) == (20, True, True)
    assert report["throughput"] == pytest.approx(2000 / (sum(times) / 20))
    assert {read_file(p).kind for p in (path, work / "log")} == {"inference_benchmark"}


@pytest.mark.slow
def test_a_bigger_batch_takes_longer(sh, work):
    def mean(batch):
        sh(f"ais_bench --model data/model.onnx --loop 10 --batchsize {batch} "
           f"--output {work.name}/{batch}")
        (path,) = (work / str(batch)).iterdir()
        return json.loads(path.read_text())["NPU_compute_time"]["median"]

    assert mean(32) > mean(1)


def test_missing_model_is_an_error(sh):
    answer = sh("ais_bench --model absent.om")
    assert answer.exit_status == 1
    assert "load model from file failed" in answer.stdout


@pytest.mark.skipif(find_spec("torch") is not None, reason="the real torch is used")
def test_torch_check_answers_as_on_a_node(sh):
    answer = sh("python3 -c 'import torch, torch_npu; print(torch.__version__, "
                "torch_npu.__version__, torch.npu.is_available())'")
    assert answer.stdout == "2.1.0 2.1.0.post8 True\n"
