"""The source scan: what it finds, what it leaves out, hostile archives, the patch."""

import io
import json
import shutil
import subprocess
import tarfile
import zipfile

import pytest
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from toolreaders.base import ReadError
from toolreaders.scan import patch_of, scan_path, scan_texts, source_files

TRAIN = """import torch
import torch.nn as nn
from torch import jit
import flash_attn
import torch.distributed as dist


@jit.script
def f(x):
    return x.to(memory_format=torch.channels_last)


def main(args):
    dist.init_process_group(backend="nccl")
    if args.backend == "nccl":
        torch.cuda.set_device(0)
    net = nn.DataParallel(f).cuda()
    for step in range(10):
        loss = net(step)
        print(loss)
        total = loss.item()
    return torch.nonzero(total)


if __name__ == "__main__":
    main(None)
"""


def found(report):
    return {(f.check, f.line) for f in report.findings}


def test_python_is_read_by_its_tree():
    assert found(scan_texts({"train.py": TRAIN})) == {
        ("library", 4), ("jit_script", 8), ("channels_last", 10),
        ("nccl_backend", 14), ("nccl_logic", 15), ("cuda_call", 16), ("unsupported_api", 17),
        ("cuda_call", 17), ("host_sync", 20), ("host_sync", 21), ("dynamic_shape", 22)}


TENSORFLOW = """import tensorflow as tf
import tensorflow.compat.v1 as tf1
import horovod.tensorflow as hvd
x = tf.compat.v1.layers.conv3d(y, 8, 3)
x = tf1.layers.dense(x, 4)
x = tf.nn.softmax_cross_entropy_with_logits(tf.keras.layers.Dense(4)(x), y)
loss = hvd.allreduce(tf.reduce_mean(x))
rank = hvd.rank()
"""


def test_deprecated_interfaces_of_tensorflow_and_horovod_s_collectives():
    report = scan_texts({"net.py": TENSORFLOW})
    assert found(report) == {
        ("library", 3), ("tensorflow_api", 4), ("tensorflow_api", 5), ("horovod_api", 7)}
    assert {f.note for f in report.findings if f.line in (4, 7)} == {
        "tensorflow.compat.v1.layers.conv3d", "horovod.tensorflow.allreduce"}


def test_words_in_comments_and_texts_do_not_count():
    text = '"""Uses .cuda() and nccl."""\n# x.cuda()\nname = "nccl is fast"\n'
    assert scan_texts({"a.py": text}).findings == []


def test_outside_a_loop_reading_a_value_is_no_finding():
    assert scan_texts({"a.py": "def f(loss):\n    return loss.item()\n"}).findings == []


def test_a_file_that_does_not_parse_is_read_by_lines():
    report = scan_texts({"old.py": "import torch\nprint 'x'\nx = x.cuda()\n"})
    assert (report.unparsed, found(report)) == (["old.py"], {("cuda_call", 3)})


def test_adaptor_suppresses_what_it_patches():
    files = {"train.py": "import torch\nimport mindspeed.megatron_adaptor\n",
             "fused.py": "import amp_C\nif b == 'nccl':\n    x.cuda()\n"}
    report = scan_texts(files)
    assert {f.check for f in report.findings} == {"adaptor", "cuda_call"}
    assert report.suppressed == 2
    without = scan_texts({"fused.py": files["fused.py"]})
    assert {"apex", "nccl_logic"} <= {f.check for f in without.findings}


def test_device_of_mindspore():
    report = scan_texts({"train.py": (
        "import mindspore as ms\nfrom mindspore import context\n"
        "ms.set_context(mode=0, device_target='GPU')\ncontext.set_context(device_target='GPU')\n"
        "ms.set_device('GPU', 0)\nms.set_context(device_target='Ascend')\n"
        "ms.set_context(mode=0)\n")})
    assert {(f.line, f.check) for f in report.findings} == {
        (n, "mindspore_device") for n in (3, 4, 5)}


def test_other_files():
    report = scan_texts({
        "ops/k.cu": "__global__ void k() {}", "ops/b.cpp": "#include <cuda_runtime.h>\n",
        "run.sh": "set -e\nexport CUDA_VISIBLE_DEVICES=0\n", "c.yaml": "dist:\n  backend: nccl\n",
        "setup.py": "from torch.utils.cpp_extension import CUDAExtension\nCUDAExtension('x')\n"})
    assert {(f.file, f.line, f.check) for f in report.findings} == {
        ("ops/k.cu", 1, "cuda_kernel"), ("ops/b.cpp", 1, "cuda_extension"),
        ("run.sh", 2, "cuda_setting"), ("c.yaml", 2, "nccl_backend"),
        ("setup.py", 2, "cuda_extension")}


def test_effort_is_counted_per_file_or_project():
    files = {"a.py": "x.cuda()\ny.cuda()\n", "b.py": "x.cuda()\n", "c.py": "import apex\n",
             "d.py": "import apex\n"}
    rows = {r["check"]: r for r in scan_texts(files).effort()}
    assert (rows["cuda_call"]["places"], rows["cuda_call"]["files"]) == (3, 2)
    assert rows["cuda_call"]["days"] == rows["cuda_call"]["days_each"] * 2
    assert rows["apex"]["days"] == rows["apex"]["days_each"]


def outcome_of(path) -> str:
    try:
        scan_path(path)
    except ReadError as error:
        return error.code
    return "scanned"


def make_zip(path, entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


def make_tar(path, members):
    with tarfile.open(path, "w:gz") as archive:
        for info, data in members:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def test_archives_and_folders_agree(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(TRAIN)
    zipped = make_zip(tmp_path / "s.zip", {"train.py": TRAIN})
    tarred = make_tar(tmp_path / "s.tar.gz", [(tarfile.TarInfo("train.py"), TRAIN.encode())])
    reports = [scan_path(p).findings for p in (tmp_path / "src", zipped, tarred)]
    assert reports[0] == reports[1] == reports[2] != []


def test_hostile_members_are_skipped_and_named(tmp_path):
    link = tarfile.TarInfo("link.py")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    path = make_tar(tmp_path / "s.tar.gz", [
        (tarfile.TarInfo("../out.py"), b"x.cuda()"), (tarfile.TarInfo("/abs.py"), b"x.cuda()"),
        (link, b""), (tarfile.TarInfo("ok.py"), b"x.cuda()")])
    report = scan_path(path)
    assert [f.file for f in report.findings] == ["ok.py"]
    assert sorted(report.skipped) == [("../out.py", "traversal"), ("/abs.py", "traversal"),
                                      ("link.py", "link")]


@pytest.mark.slow
def test_bombs_are_refused(tmp_path):
    big = {f"{n}.py": b"#" * source_files.MAX_FILE_BYTES for n in range(17)}
    with pytest.raises(ReadError) as caught:
        scan_path(make_zip(tmp_path / "s.zip", big))
    assert caught.value.code == "too_large"
    one = make_zip(tmp_path / "one.zip", {"a.py": b"#" * (source_files.MAX_FILE_BYTES + 1)})
    assert scan_path(one).skipped == [("a.py", "too_large")]


def test_too_many_members_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(source_files, "MAX_MEMBERS", 3)
    with pytest.raises(ReadError) as caught:
        scan_path(make_zip(tmp_path / "s.zip", {f"{n}.py": b"" for n in range(5)}))
    assert caught.value.code == "too_large"


@pytest.mark.parametrize("text", ["-" * 100_000 + "1", "(" * 5_000, "a" + ".b" * 50_000,
                                  "x=" + "1+" * 100_000 + "1", "\0", "\ud800"])
def test_deep_and_odd_sources(text):
    assert scan_texts({"a.py": text}).files == 1


@given(st.binary(max_size=2_000), st.sampled_from(["a.py", "a.cpp", "a.sh", "a.yaml", "a.cu"]))
def test_arbitrary_bytes_of_a_file(tmp_path_factory, data, name):
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / name).write_bytes(data)
    report = scan_path(folder)
    assert report.files == 1
    json.dumps(report.as_json())
    patch_of(folder)


@given(st.binary(max_size=2_000), st.sampled_from([b"", b"PK\x03\x04", b"\x1f\x8b\x08\x00"]))
def test_arbitrary_bytes_of_an_archive(tmp_path_factory, data, magic):
    path = tmp_path_factory.mktemp("fuzz") / "a.zip"
    path.write_bytes(magic + data)
    assert outcome_of(path) in ("scanned", "unknown_format", "damaged_file", "too_large")


@given(st.integers(0, 400), st.integers(0, 255))
def test_damaged_archives(tmp_path_factory, place, value):
    folder = tmp_path_factory.mktemp("fuzz")
    for path in (make_zip(folder / "s.zip", {"train.py": TRAIN}),
                 make_tar(folder / "s.tgz", [(tarfile.TarInfo("t.py"), TRAIN.encode())])):
        data = bytearray(path.read_bytes())
        data[place % len(data)] = value
        path.write_bytes(data)
        assert outcome_of(path) in ("scanned", "unknown_format", "damaged_file", "too_large")


@pytest.mark.skipif(not shutil.which("patch"), reason="needs patch")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_patch_applies(tmp_path, end):
    (tmp_path / "lib").mkdir()
    (tmp_path / "train.py").write_bytes(TRAIN.replace("\n", end).encode())
    (tmp_path / "lib" / "net.py").write_text("import torch\nBACKEND = 'nccl'")
    (tmp_path / "go.py").write_text("import torch\nfrom lib import net")
    patch = patch_of(tmp_path)
    done = subprocess.run(["patch", "-p1", "--binary"], cwd=tmp_path, input=patch.encode(),
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
    train = (tmp_path / "train.py").read_bytes().decode()
    assert f"import torch{end}import torch_npu{end}from torch_npu.contrib import" in train
    assert 'backend="hccl"' in train
    assert "nccl" not in train
    assert (tmp_path / "lib" / "net.py").read_text() == "import torch\nBACKEND = 'hccl'"
    assert (tmp_path / "go.py").read_text().count("transfer_to_npu") == 1
    assert patch_of(tmp_path) == ""


def test_command(tmp_path, capsys):
    (tmp_path / "train.py").write_text("x.cuda()\n")
    call_command("scan", str(tmp_path), "--json")
    values = json.loads(capsys.readouterr().out)
    assert values["by_severity"] == {"block": 0, "warn": 1, "info": 0}
    assert values["findings"][0]["line"] == 1
