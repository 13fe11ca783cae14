"""What a kind's argument list starts on a node, with tools that only say how they were called."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from django.utils.translation import override

from engagements.errors import InvalidInput
from workers import kinds, models
from workers.runtimes import command
from workers.runtimes.chosen import Chosen
from workers.runtimes.command import Launch

kinds.load_all()
SAY = """#!/bin/sh
{ printf "%s" "$(basename "$0")"; for word; do printf "|%s" "$word"; done; echo; } >> "$LOG"
"""


class Node:
    """A folder with tools; `run` gives the calls that a kind's command made, word by word."""

    def __init__(self, root: Path):
        self.root, self.bin, self.home = root, root / "bin", root / "home"
        for folder in (self.bin, self.home, root / "work"):
            folder.mkdir()

    def tool(self, name: str, text: str = "", folder: Path | None = None) -> Path:
        path = (folder or self.bin) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SAY + text)
        path.chmod(0o755)
        return path

    def python(self) -> None:
        """A python3 that runs scripts of ours and says how it was called with anything else."""
        path = self.tool("python3")
        real = f'if [ "$1" = -c ]; then exec "{sys.executable}" "$@"; fi'
        path.write_text(SAY.replace("\n", f"\n{real}\n", 1))

    def run(self, code: str, **given) -> list[list[str]]:
        kind = kinds.get(code)
        values = kind.clean({**kind.example_parameters(), **given})
        text = command.text(Launch(kind.argv(values), kind.environment(values)), Chosen(),
                            models.Node())
        log = self.root / "calls"
        log.write_text("")
        subprocess.run(["sh", "-c", text], cwd=self.root / "work", check=False, timeout=60, env={
            "PATH": f"{self.bin}:{os.defpath}", "HOME": str(self.home), "LOG": str(log),
            "LD_LIBRARY_PATH": "/from/set_env"}, capture_output=True)
        return [line.split("|") for line in log.read_text().splitlines()]


@pytest.fixture
def node(tmp_path):
    return Node(tmp_path)


OLD = "case $1 in --help) echo 'usage: msprobe [-h] -f {pytorch,mindspore}';; esac\n"
NEW = "case $1 in --help) echo 'usage: msprobe [-h] {compare,config_check}';; esac\n"


@pytest.mark.parametrize(("release", "before"), [(OLD, ["-f", "pytorch"]), (NEW, [])])
def test_config_check_in_the_form_of_the_installed_msprobe(node, release, before):
    node.tool("msprobe", release)
    asked, called = node.run("acc.config_check", bench="~/gpu.zip", candidate="/d/npu.zip")
    assert asked == ["msprobe", "--help"]
    assert called == ["msprobe", *before, "config_check", "-c", f"{node.home}/gpu.zip",
                      "/d/npu.zip", "-o", "check"]


def test_compare_of_new_and_old_msprobe(node):
    node.tool("msprobe", NEW)
    assert node.run("acc.compare", target="~/npu", golden="/gpu")[1] == [
        "msprobe", "compare", "-tp", f"{node.home}/npu", "-gp", "/gpu", "-o", "compare"]
    node.tool("msprobe", OLD)
    assert node.run("acc.compare", target="~/npu", golden="/gpu")[1] == [
        "msprobe", "-f", "pytorch", "compare", "-i", "compare.json", "-o", "compare"]
    assert (node.root / "work" / "compare.json").read_text() == (
        f'{{"npu_path": "{node.home}/npu", "bench_path": "/gpu", "is_print_compare_log": true}}')


@pytest.mark.parametrize("below", ["Ascend/ascend-toolkit/latest", "Ascend/cann"])
def test_tools_off_the_path_are_found_below_cann(node, below):
    tools = node.home / below / "tools"
    node.tool("pytorch_analyse.sh", folder=tools / "ms_fmk_transplt")
    called, = node.run("survey.pt_analyse", source="~/net")
    assert called == ["pytorch_analyse.sh", "-i", f"{node.home}/net", "-o", "analysis",
                      "-v", "2.1.0", "-m", "torch_apis"]
    script = node.tool("msaccucmp.py", folder=tools / "operator_cmp" / "compare")
    node.tool("python3")
    called, = node.run("acc.dump_to_npy", dump="/d")
    assert called == ["python3", str(script), "convert", "-d", "/d", "-v", "2", "-out", "result"]


def test_a_tool_of_the_path_comes_first_and_a_missing_one_starts_nothing(node):
    assert node.run("adapt.gpu2npu", source="/net") == []
    node.tool("pytorch_gpu2npu.sh")
    assert node.run("adapt.gpu2npu", source="/net", entry="/net/a.py", model_variable="net") == [
        ["pytorch_gpu2npu.sh", "-i", "/net", "-o", "migrated", "-v", "2.1.0", "distributed",
         "-m", "/net/a.py", "-t", "net"]]


@pytest.mark.parametrize("adapter", ["npu_device", "npu_bridge"])
def test_converter_of_either_tf_adapter(node, adapter):
    node.tool("python3")
    script = node.tool("main.py", folder=node.home / "Ascend/tfplugin/latest/python/site-packages"
                       / adapter / "convert_tf2npu")
    called, = node.run("survey.tf_scan", source="/net", entry="/net/train.py")
    assert called == ["python3", str(script), "-i", "/net", "-o", "converted", "-r", "report",
                      "-m", "/net/train.py"]


@pytest.fixture
def packages(node):
    folder = node.root / "packages"
    for name in ("driver.run", "firmware.run", "toolkit.run", "nnal.run"):
        node.tool(name, folder=folder)
    sums = subprocess.run("sha256sum *.run", shell=True, cwd=folder, check=True,
                          capture_output=True, text=True).stdout
    (folder / "SUMS").write_text(sums)
    return folder


@pytest.mark.parametrize(("state", "order"), [(1, ["driver.run", "firmware.run"]),
                                              (0, ["firmware.run", "driver.run"])])
def test_firmware_comes_first_over_an_installed_driver(node, packages, state, order):
    node.tool("npu-smi", f"exit {state}\n")
    asked, *installed, _listed = node.run(
        "env.hdk_install", driver=f"{packages}/driver.run", firmware=f"{packages}/firmware.run",
        checksums=f"{packages}/SUMS", confirmed=True)
    options = {"driver.run": ["--full", "--install-for-all", "--quiet"],
               "firmware.run": ["--full", "--quiet"]}
    assert asked == ["npu-smi", "info"]
    assert installed == [[name, *options[name]] for name in order]


def test_packages_with_another_checksum_are_not_run(node, packages):
    (packages / "toolkit.run").write_text(SAY + "# changed\n")
    given = {"checksums": f"{packages}/SUMS", "confirmed": True, "install_path": "~/ascend"}
    assert node.run("env.cann_install", toolkit=f"{packages}/toolkit.run", **given) == []


def test_what_follows_the_toolkit_finds_its_environment(node, packages):
    (node.home / "ascend/ascend-toolkit").mkdir(parents=True)
    (node.home / "ascend/ascend-toolkit/set_env.sh").write_text("export ASCEND_HOME_PATH=here\n")
    node.tool("nnal.run", 'echo "$ASCEND_HOME_PATH" >> "$LOG"\n', folder=packages)
    sums = subprocess.run("sha256sum *.run", shell=True, cwd=packages, check=True,
                          capture_output=True, text=True).stdout
    (packages / "SUMS").write_text(sums)
    calls = node.run("env.cann_install", toolkit=f"{packages}/toolkit.run",
                     nnal=f"{packages}/nnal.run", checksums=f"{packages}/SUMS", confirmed=True,
                     install_path="~/ascend")
    option = ["--install", "--quiet", f"--install-path={node.home}/ascend"]
    assert calls == [["toolkit.run", *option], ["nnal.run", *option], ["here"]]


def test_container_gets_the_weights_of_the_home_folder(node):
    node.tool("docker")
    run, look = node.run("env.mindie_container", image="mindie:2", weights="~/qwen", devices=1,
                         confirmed=True)
    assert run[:6] == ["docker", "run", "--name", "mindie", "--mount",
                       f"type=bind,source={node.home}/qwen,target=/weights,readonly"]
    assert {"--device=/dev/davinci0", "--device=/dev/davinci_manager"} <= set(run)
    assert look[:2] == ["docker", "inspect"]


def test_model_is_spread_over_its_cards(node):
    (node.root / "atb").mkdir()
    node.python()
    given = {"weights": "/w", "atb_speed": str(node.root / "atb")}
    one, = node.run("inf.mindie_run", **given)
    assert one[:4] == ["python3", "examples/run_pa.py", "--model_path", "/w"]
    four, = node.run("inf.mindie_run", cards=4, **given)
    assert four[:9] == ["python3", "-m", "torch.distributed.run", "--nproc_per_node", "4",
                        "--master_port", "20030", "-m", "examples.run_pa"]


@pytest.mark.parametrize(("launcher", "words"), [
    ("python", ["python3", "/a.py", "--x", "1"]), ("bash", ["bash", "/a.py", "--x", "1"]),
    ("torchrun", ["python3", "-m", "torch.distributed.run", "--nproc_per_node", "4", "/a.py",
                  "--x", "1"])])
def test_a_script_is_started_as_asked(node, launcher, words):
    node.python()
    node.tool("bash")
    called, = node.run("adapt.smoke_train", script="/a.py", arguments="--x 1", cards=4,
                       launcher=launcher)
    assert called == words


def test_msprof_gets_the_application_as_one_word(node):
    node.tool("msprof")
    assert node.run("perf.msprof", script="~/a.py", arguments="--x 1", launcher="torchrun",
                    cards=2) == [
        ["msprof", "--application=python3 -m torch.distributed.run --nproc_per_node 2 "
                   f"{node.home}/a.py --x 1", "--output=.", "--aic-metrics=PipeUtilization"]]


def test_lite_converter_keeps_the_libraries_of_the_node(node):
    place = node.root / "lite/tools/converter"
    node.tool("converter_lite", 'echo "$LD_LIBRARY_PATH" >> "$LOG"\n', place / "converter")
    (place / "lib").mkdir()
    called, libraries = node.run("inf.mslite", model_file="~/m.onnx", library_path=f"{place}/lib")
    assert libraries == [f"{place}/lib:/from/set_env"]
    assert called == ["converter_lite", f"--modelFile={node.home}/m.onnx", "--outputFile=model",
                      "--fmk=ONNX", "--saveType=MINDIR", "--optimize=ascend_oriented"]


def test_caffe_needs_its_weights(node):
    with pytest.raises(InvalidInput):
        node.run("inf.mslite", framework="CAFFE", model_file="/m.prototxt")
    node.tool("converter_lite")
    called, = node.run("inf.mslite", framework="CAFFE", model_file="/m.prototxt",
                       weight_file="~/m.caffemodel", target="general")
    assert called[2:] == ["--outputFile=model", f"--weightFile={node.home}/m.caffemodel",
                          "--fmk=CAFFE", "--saveType=MINDIR_LITE", "--optimize=general"]


def test_atc_options(node):
    node.tool("atc")
    called, = node.run("inf.atc", model_file="~/m.onnx", input_shape="x:1,3;y:1", mode="3",
                       fusion_switches="~/off.cfg")
    assert called == ["atc", f"--model={node.home}/m.onnx",
                      f"--fusion_switch_file={node.home}/off.cfg", "--framework=5",
                      "--output=model", "--soc_version=Ascend910B3", "--input_shape=x:1,3;y:1",
                      "--mode=3"]
    with pytest.raises(InvalidInput):
        node.run("inf.atc", output="other/model")


def test_benchmark_of_an_offline_model_with_data(node):
    node.tool("python3")
    assert node.run("inf.om_bench", model_file="~/m.om", input="~/bins", loop=3) == [
        ["python3", "-m", "ais_bench", "--output", "bench", "--model", f"{node.home}/m.om",
         "--input", f"{node.home}/bins", "--batchsize", "1", "--loop", "3",
         "--warmup_count", "5"]]


def test_offline_models_of_several_batches_in_turn(node):
    node.tool("python3")
    files = ({"model_file": "~/m_bs{batch}.om"}, {"model_file": "~/m.om"})
    assert [[call[call.index("--model") + 1:-4] for call in node.run(
        "inf.om_bench", batches="1,8", **each)] for each in files] == [
        [[f"{node.home}/m_bs1.om", "--batchsize", "1"],
         [f"{node.home}/m_bs8.om", "--batchsize", "8"]],
        [[f"{node.home}/m.om", "--batchsize", "1", "--dymBatch", "1"],
         [f"{node.home}/m.om", "--batchsize", "8", "--dymBatch", "8"]]]


@pytest.mark.parametrize(("dynamic", "shape", "sizes", "refused"), [
    ("dynamic_batch_size", "x:-1,3", "1,4,8", ""), ("dynamic_image_size", "x:1,3,-1,-1",
                                                    "416,416;832,832", ""),
    ("dynamic_dims", "a:-1,3;b:-1,4", "1,224;8,448", ""),
    ("dynamic_dims", "a:-1,3;b:-1,4", "1,224;8", "“8” is not 2 positive numbers"),
    ("dynamic_batch_size", "x:1,3", "1,4", "-1 in the input shape"),
    ("dynamic_batch_size", "x:-1,3", "4", "2 to 100"), ("", "x:-1,3", "4", "Say which sizes")])
def test_sizes_of_a_dynamic_model(node, dynamic, shape, sizes, refused):
    node.tool("atc")
    given = {"model_file": "~/m.onnx", "dynamic": dynamic, "input_shape": shape, "sizes": sizes,
             "extra": "--output_type=FP32"}
    with override("en"):
        if refused:
            with pytest.raises(InvalidInput, match=refused):
                node.run("inf.atc", **given)
        else:
            assert node.run("inf.atc", **given)[0][-3:] == [
                f"--{dynamic}={sizes}", "--mode=0", "--output_type=FP32"]


@pytest.mark.parametrize(("tokenizer", "script", "option"), [
    ("HuggingFaceTokenizer", "/m/tools/preprocess_data.py", "--tokenizer-model"),
    ("PretrainedFromHF", "/m/preprocess_data.py", "--tokenizer-name-or-path")])
def test_preprocessing_of_megatron_and_of_mindspeed_llm(node, tokenizer, script, option):
    node.tool("python3")
    called = node.run("adapt.preprocess", megatron="/m", tokenizer=tokenizer,
                      tokenizer_model="/t")[0]
    assert called[1] == script
    assert called[called.index("/t") - 1] == option


def test_synthetic_data_of_the_serving_benchmark(node):
    node.tool("benchmark")
    called, = node.run("inf.mindie_bench", dataset="/d.json", dataset_type="synthetic")
    assert called[1:5] == ["--SyntheticConfigPath", "/d.json", "--DatasetType", "synthetic"]


def test_choices_are_shown_by_name():
    framework = next(p for p in kinds.get("inf.atc").parameters if p.name == "framework")
    assert framework.shown("5") == "ONNX (5)"
    assert framework.schema()["x-names"]["3"] == "TensorFlow"
    assert shlex.join(framework.choices) == "0 1 3 5"
    with pytest.raises(InvalidInput, match=r"Caffe \(0\)"):
        framework.clean("7")
