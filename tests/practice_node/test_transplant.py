"""The stand-ins of msfmktransplt: what they find is really in the source, in genuine tables."""

import ast
import csv

import pytest

from practice_node.faults import set_faults
from toolreaders import read_file


@pytest.fixture
def source(work):
    """A small CUDA program."""
    folder = work / "net"
    folder.mkdir()
    (folder / "main.py").write_text(
        "import amp_C\n"
        "import torch\n"
        "from torch import nn\n"
        "def main(gpu):\n"
        "    torch.distributed.init_process_group('nccl')\n"
        "    torch.cuda.set_device(gpu)\n"
        "    net = nn.DataParallel(nn.Linear(2, 2)).cuda(gpu)\n"
        "    device = torch.device(\"cuda:0\")\n"
        "    nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n"
        "    if torch.cuda.is_bf16_supported():\n"
        "        pass\n"
        "    opt = torch.optim.SGD(\n"
        "        net.parameters(), lr=0.1)\n")
    (folder / "ops.cpp").write_text('m.def("box_iou", &box_iou, "");\n')
    return folder


def rows(path):
    with path.open(newline="") as stream:
        return list(csv.reader(stream))[1:]


def test_analysis_finds_what_is_there(sh, work, source):
    answer = sh(f"cd {work.name} && mkdir o && pytorch_analyse.sh -i net -o o -v 2.1.0")
    found = work / "o" / "net_analysis"
    assert (answer.exit_status, answer.stdout) == (0, "")
    assert "Analyse run succeeded" in answer.stderr
    assert rows(found / "unsupported_api.csv") == [
        ["main.py", "7", "7", "torch.nn.DataParallel", "NA"],
        ["main.py", "9", "9", "torch.nn.utils.clip_grad_norm_", "NA"]]
    assert rows(found / "unknown_api.csv") == [
        ["main.py", "10", "10", "torch.cuda.is_bf16_supported"]]
    assert rows(found / "cuda_op_list.csv") == [["ops.cpp", "box_iou"]]
    assert ["main.py", "12", "13", "torch.optim.SGD"] in [
        r[:4] for r in rows(found / "api_performance_advice.csv")]


def test_every_file_of_the_analysis_is_read_by_the_product(sh, work, source):
    sh(f"cd {work.name} && mkdir o && pytorch_analyse.sh -i net -o o -v 2.1.0 2> log")
    assert {read_file(p).kind for p in (work / "o/net_analysis").iterdir()} == {
        "migration_analysis"}
    assert read_file(work / "o/net_analysis/unsupported_api.csv").values["rows"] == 2
    assert read_file(work / "log").kind == "migration_analysis"


def test_verdict_depends_on_the_version(sh, work, source):
    sh(f"cd {work.name} && mkdir o && pytorch_analyse.sh -i net -o o -v 2.8.0")
    assert [r[3] for r in rows(work / "o/net_analysis/unsupported_api.csv")] == [
        "torch.nn.DataParallel"]


@pytest.mark.parametrize("mode", ["third_party", "affinity_apis", "dynamic_shape"])
def test_other_modes_run(sh, work, source, mode):
    answer = sh(f"cd {work.name} && mkdir o && pytorch_analyse.sh -i net -o o -v 2.1.0 -m {mode}")
    names = {p.name for p in (work / "o/net_analysis").iterdir()}
    wanted = {"third_party": "framework_unsupported_op.csv",
              "affinity_apis": "affinity_api_call.csv", "dynamic_shape": "main.py"}[mode]
    assert answer.exit_status == 0
    assert wanted in names


def test_migration_rewrites_a_copy_and_lists_each_change(sh, work, source):
    before = (source / "main.py").read_text()
    answer = sh(f"cd {work.name} && mkdir o && pytorch_gpu2npu.sh -i net -o o -v 2.1.0")
    copy = (work / "o/net_msft/main.py").read_text()
    changes = [r[3:] for r in rows(work / "o/net_msft/transplant_result_file/change_list.csv")]
    assert "MsFmkTransplt run succeeded" in answer.stderr
    assert (source / "main.py").read_text() == before
    ast.parse(copy)
    assert "'hccl'" in copy
    assert "torch_npu.npu.set_device(gpu)" in copy
    assert ".npu(gpu)" in copy
    assert '"npu:0"' in copy
    assert "cuda" not in copy.replace("cuda_op", "")
    call = "change function torch.cuda.set_device to torch_npu.npu.set_device"
    assert ["MODIFY", call] in changes
    assert ["DELETE", "import amp_C has been removed"] in changes
    assert ["INSERT", "import torch_npu"] in changes


def test_every_file_of_the_migration_is_read_by_the_product(sh, work, source):
    sh(f"cd {work.name} && mkdir o && pytorch_gpu2npu.sh -i net -o o -v 2.1.0")
    result = work / "o/net_msft/transplant_result_file"
    kinds = {p.name: read_file(p).kind for p in result.iterdir()}
    assert kinds["change_list.csv"] == kinds["msFmkTranspltlog.txt"] == "script_transplant"
    assert kinds["unknown_api.csv"] == "migration_analysis"


def test_distributed_migration_leaves_a_start_script(sh, work, source):
    sh(f"cd {work.name} && mkdir o && "
       "pytorch_gpu2npu.sh -i net -o o -v 2.1.0 distributed -m net/main.py -t net")
    assert "net/main.py" in (work / "o/net_msft_multi/run_distributed_npu.sh").read_text()


def test_file_with_a_syntax_error_is_only_a_warning(sh, work, source):
    (source / "old.py").write_text("print 'python 2'\n")
    answer = sh(f"cd {work.name} && mkdir o && pytorch_gpu2npu.sh -i net -o o -v 2.1.0")
    assert "unsupported python syntax, skip" in answer.stderr
    assert answer.exit_status == 0


def test_output_folder_must_exist(sh, work, source):
    answer = sh(f"cd {work.name} && pytorch_analyse.sh -i net -o absent -v 2.1.0")
    assert answer.exit_status == 2


def test_stopped_run_leaves_tables_but_no_success(sh, work, source, practice):
    set_faults(practice.root / "home", analysis_error=True)
    answer = sh(f"cd {work.name} && mkdir o && pytorch_gpu2npu.sh -i net -o o -v 2.1.0")
    assert answer.exit_status == 1
    assert "run succeeded" not in answer.stderr
    assert (work / "o/net_msft/transplant_result_file/unsupported_api.csv").exists()


def test_sample_source_on_the_node_has_findings(sh, work):
    sh(f"cd {work.name} && mkdir o && pytorch_analyse.sh -i ../data/inspect_net -o o -v 2.1.0")
    found = work / "o/inspect_net_analysis"
    counts = {p.name: len(rows(p)) for p in found.glob("*.csv")}
    assert counts["unsupported_api.csv"] == 2
    assert counts["unknown_api.csv"] == 3
    assert counts["cuda_op_list.csv"] == 1
    assert counts["api_precision_advice.csv"] == 1
