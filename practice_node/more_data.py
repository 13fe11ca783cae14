"""Practice data of corpora, TensorFlow scripts, dumps of offline models, packages, profiles."""

import hashlib
import json
import math
import os
import random
import struct
import tarfile
from io import BytesIO
from pathlib import Path

EDITION = "7"  # raise it when the data below changes
TENSORFLOW = '''import tensorflow as tf


def main():
    x = tf.random.normal([8, 8])
    with tf.Session() as session:
        session.run(tf.reduce_sum(tf.matmul(x, x)))


main()
'''
AIPP = """aipp_op {
    aipp_mode: static
    input_format: RGB888_U8
    src_image_size_w: 224
    src_image_size_h: 224
    mean_chn_0: 124
    mean_chn_1: 117
    mean_chn_2: 104
    var_reci_chn_0: 0.0171
    var_reci_chn_1: 0.0175
    var_reci_chn_2: 0.0174
}
"""
INSTALLED_AT = 1_730_000_000  # Unix seconds
HEADER = ("Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,"
          "Bubble,Communication(Not Overlapped and Exclude Receive),Preparing")
PACKAGES = ("Ascend-hdk-910b-npu-driver", "Ascend-hdk-910b-npu-firmware", "Ascend-cann-toolkit",
            "Ascend-cann-kernels-910b", "Ascend-cann-nnal")


def prepare(folder: Path) -> None:
    """Write the data of this edition once."""
    marker = folder / "ready_more"
    if marker.exists() and marker.read_text() == EDITION:
        return
    _texts(folder)
    _tensors(folder / "om_npu", 3e-4)
    _tensors(folder / "om_golden", 0.0)
    for name, slow in (("profile_npu", 1.2), ("profile_gpu", 1.0)):
        _profile(folder / name, slow)
    _packages(folder / "packages")
    _checkpoints(folder / "ckpt")
    _installation(folder.parent / "Ascend")
    _tensorflow_source(folder / "tensorflow-2.6.5", folder / "nsync-1.22.0.tar.gz")
    marker.write_text(EDITION)


def _texts(folder: Path) -> None:
    """Corpus, scripts and configurations."""
    rows = ({"id": n, "text": f"巡检记录 {n}: transformer {n % 7} is normal."} for n in range(200))
    (folder / "corpus.jsonl").write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    (folder / "tf_net").mkdir(exist_ok=True)
    (folder / "tf_net" / "train.py").write_text(TENSORFLOW)
    (folder / "msprobe.json").write_text(json.dumps(
        {"task": "statistics", "dump_path": "dump", "rank": [0, 1], "step": [0], "level": "L1"}))
    (folder / "Opdebug.Node_OpDebug.1.5.1732082705999000").write_bytes(
        struct.pack("<5Q", 365, 396, 65, 66, 16))
    (folder / "add.json").write_text(json.dumps([{"op": "Add", "input_desc": [
        {"format": "ND", "shape": [8, 16], "type": "float16"}] * 2,
        "output_desc": [{"format": "ND", "shape": [8, 16], "type": "float16"}]}]))
    (folder / "aipp.cfg").write_text(AIPP)
    (folder / "weights").mkdir(exist_ok=True)
    (folder / "weights" / "config.json").write_text(json.dumps({
        "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "torch_dtype": "bfloat16",
        "hidden_size": 896, "num_hidden_layers": 24, "num_attention_heads": 14}, indent=2))
    for layer in range(2):
        (folder / "weights" / f"model.layers.{layer}.mlp").write_bytes(bytes(range(256)))


def _tensors(folder: Path, error: float) -> None:
    folder.mkdir(exist_ok=True)
    draw = random.Random(3)
    for op in ("Conv_0", "MaxPool_2", "Gemm_7"):
        values = [draw.gauss(0, 1) for _n in range(64)]
        noise = [1 + error * math.sin(n) for n in range(64)]
        (folder / f"{op}.output.0.f32").write_bytes(
            struct.pack("<64f", *(a * b for a, b in zip(values, noise, strict=True))))


def _profile(folder: Path, slow: float) -> None:
    """Two ranks, one step each, in microseconds."""
    for rank, (computing, waiting, free) in enumerate(((8873.7, 1963.2, 744.0),
                                                       (8878.3, 1359.0, 675.2))):
        output = folder / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True, exist_ok=True)
        busy = computing * slow
        (output / "step_trace_time.csv").write_text(
            f"{HEADER}\n50,{busy},{waiting},0.0,{waiting},{free},{busy + waiting + free},0.0,"
            f"{waiting},100.0\n")
        (output / "trace_view.json").write_text(json.dumps([
            {"name": "process_name", "ph": "M", "pid": 7, "args": {"name": "Ascend Hardware"}},
            {"name": "MatMulV2", "ph": "X", "pid": 7, "tid": 2, "ts": "1000.0", "dur": busy},
            {"name": "hcom_allReduce_", "ph": "X", "pid": 7, "tid": 3, "ts": f"{1000 + busy}",
             "dur": waiting}]))


def _packages(folder: Path) -> None:
    """Install packages that only say what they are, and the list of their checksums."""
    folder.mkdir(exist_ok=True)
    lines = []
    for name in PACKAGES:
        about = json.dumps({"name": name, "version": "8.5.0"})
        content = f'#!/bin/sh\nexec practice_package "$0" "$@"\n# {about}\n'.encode()
        (folder / f"{name}.run").write_bytes(content)
        lines.append(f"{hashlib.sha256(content).hexdigest()}  {name}.run\n")
    (folder / "SHA256SUMS").write_text("".join(lines))


def _installation(folder: Path) -> None:
    """Version files as driver, firmware and CANN leave them; parts one hour after another."""
    toolkit = folder / "ascend-toolkit" / "8.0.RC3"
    operators = toolkit / "opp" / "built-in" / "op_impl" / "ai_core" / "tbe"
    files = {
        folder / "driver" / "version.info":
            "Version=24.1.rc3\nascendhal_version=7.35.23\naicpu_version=1.0\n"
            "Innerversion=V100R001C19SPC001B205\ncompatible_version_fw=[7.0.0,7.5.99]\n",
        folder / "firmware" / "version.info":
            "Version=7.5.0.1.129\nfirmware_version=1.0\npackage_version=24.1.rc3\n"
            "compatible_version_drv=[23.0.rc3,23.0.rc3.],[24.1.rc3,24.1.rc3.]\n",
        toolkit / "aarch64-linux" / "ascend_toolkit_install.info":
            "package_name=Ascend-cann-toolkit\nversion=8.0.RC3\n"
            "innerversion=V100R001C19SPC001B205\narch=aarch64\nos=linux\n",
        operators / "kernel" / "ascend910b" / "Add.json": "{}\n",
        folder / "nnal" / "atb" / "latest" / "version.info":
            "    Ascend-cann-atb : 8.0.RC3\n    Platform : aarch64\n",
    }
    for hour, (path, text) in enumerate(files.items()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        for touched in (path, path.parent):
            os.utime(touched, (INSTALLED_AT + 3600 * hour,) * 2)
    latest = toolkit.with_name("latest")
    if not latest.is_symlink():
        latest.symlink_to(toolkit.name)


def _checkpoints(folder: Path) -> None:
    """Two steps in the safetensors format; one of two tensors was trained in between."""
    for step, bias in ((100, 0.5), (200, 0.25)):
        place = folder / f"iter_{step:07d}"
        place.mkdir(parents=True, exist_ok=True)
        header = json.dumps({
            "frozen": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
            "bias": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}}).encode()
        (place / "model.safetensors").write_bytes(
            struct.pack("<Q", len(header)) + header + struct.pack("<3f", 1, 2, bias))


SWAP = """static INLINE int atm_cas_{name}_u32_ (nsync_atomic_uint32_ *p, uint32_t o, uint32_t n) {{
	return (std::atomic_compare_exchange_strong_explicit (NSYNC_ATOMIC_UINT32_PTR_ (p), &o, n,
		std::memory_order_{order}, std::memory_order_relaxed));
}}
"""
ORDERS = {"nomb": "relaxed", "acq": "acquire", "rel": "release", "relacq": "acq_rel"}
WORKSPACE = """def _tf_repositories():
    tf_http_archive(
        name = "nsync",
        sha256 = "{sha256}",
        strip_prefix = "nsync-1.22.0",
        urls = [
            "https://mirror.example/nsync/archive/1.22.0.tar.gz",
            "https://origin.example/nsync/archive/1.22.0.tar.gz",
        ],
    )
"""


def _tensorflow_source(folder: Path, archive: Path) -> None:
    """What a build looks at: the workspace, `configure`, and nsync's archive."""
    header = "NSYNC_CPP_START_\n" + "".join(
        SWAP.format(name=name, order=order) for name, order in ORDERS.items())
    with tarfile.open(archive, "w:gz") as packed:
        entry = tarfile.TarInfo("nsync-1.22.0/platform/c++11/atomic.h")
        entry.size = len(header)
        packed.addfile(entry, BytesIO(header.encode()))
    (folder / "tensorflow").mkdir(parents=True, exist_ok=True)
    (folder / "tensorflow" / "workspace2.bzl").write_text(
        WORKSPACE.format(sha256=hashlib.sha256(archive.read_bytes()).hexdigest()))
    (folder / "configure").write_text("#!/bin/sh\necho configured\n")
    (folder / "configure").chmod(0o755)
