"""Practice data in the login's home folder: sources, model file, configuration packs, dumps."""

import json
import random
import zipfile
from collections.abc import Iterator
from math import hypot
from pathlib import Path
from statistics import fmean

EDITION = "6"  # raise it when the data below changes
TRAIN = '''"""Training of the substation inspection network (CUDA version)."""

import torch
import torch.distributed as dist
from model import InspectionNet


def main():
    dist.init_process_group(backend="nccl")
    torch.cuda.set_device(0)
    net = InspectionNet().cuda()
    net = torch.nn.DataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for images, targets in loader():
        images = images.to("cuda:0")
        torch.cuda.nvtx.range_push("forward")
        loss = torch.nn.functional.cross_entropy(net(images), targets.cuda())
        torch.cuda.nvtx.range_pop()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()


def loader():
    return []


if __name__ == "__main__":
    main()
'''
MODEL = '''import amp_C
import torch
from apex import amp


class InspectionNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 32, 3)
        self.kinds = torch.nn.Embedding(16, 32)
        self.scale = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        x = self.stem(x) * self.scale
        x[x < 0] = 0
        return x if x.is_cuda else x.cuda()
'''
CUDA = "__global__ void box_iou(const float* a, const float* b, float* out) { /* … */ }\n"
BINDING = """#include <torch/extension.h>

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("box_iou", &box_iou, "intersection over union of rotated boxes (CUDA)");
}
"""
PIP = {"torch": "2.1.0", "numpy": "1.26.4", "transformers": "4.37.2", "tokenizers": "0.15.2"}
GPU_ENV = {"CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7", "NCCL_ALGO": "Ring",
           "CUDA_LAUNCH_BLOCKING": "0"}
NPU_ENV = {"ASCEND_RT_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7", "HCCL_ALGO": "Ring",
           "HCCL_DETERMINISTIC": "True", "ASCEND_LAUNCH_BLOCKING": "0"}
HYPERPARAMETERS = {
    "nproc_per_node": "8", "tensor-model-parallel-size": "2", "num-layers": "12",
    "hidden-size": "768", "seq-length": "1024", "micro-batch-size": "1", "lr": "1.0e-4",
    "weight-decay": "0.1", "seed": "1234", "bf16": True}
WEIGHTS = ("embedding.weight", "layers.0.attention.weight", "layers.0.mlp.weight", "head.weight")
# functional API and the shape of its output, in order of execution
LAYERS = (("conv2d", [4, 8, 16, 16]), ("batch_norm", [4, 8, 16, 16]), ("relu", [4, 8, 16, 16]),
          ("adaptive_avg_pool2d", [4, 8, 1, 1]), ("linear", [4, 10]), ("cross_entropy", []))


def prepare(folder: Path) -> None:
    """Write the data of this edition once; data of the login's own stays."""
    marker = folder / "ready"
    if marker.exists() and marker.read_text() == EDITION:
        return
    sources = folder / "inspect_net"
    (sources / "ops").mkdir(parents=True, exist_ok=True)
    (sources / "train.py").write_text(TRAIN)
    (sources / "model.py").write_text(MODEL)
    (sources / "ops" / "box_iou.cu").write_text(CUDA)
    (sources / "ops" / "binding.cpp").write_text(BINDING)
    (folder / "model.onnx").write_bytes(onnx_model(bytes(range(256)) * 256, opset=13))
    (folder / "model.pb").write_bytes(tensorflow_graph(bytes(range(256)) * 256))
    (folder / "model.air").write_bytes(mindspore_air(bytes(range(256)) * 256))
    _pack(folder / "config_gpu.zip", GPU_ENV, PIP, HYPERPARAMETERS)
    packages = {**PIP, "transformers": "4.43.2"}
    _pack(folder / "config_npu.zip", NPU_ENV, packages, {**HYPERPARAMETERS, "lr": "1.25e-4"})
    _pack(folder / "config_npu_corrected.zip", NPU_ENV, packages, HYPERPARAMETERS)
    _dump(folder / "dump_gpu" / "step0" / "rank0", 0.0)
    _dump(folder / "dump_npu" / "step0" / "rank0", 4e-4)
    marker.write_text(EDITION)


def onnx_model(weights: bytes, opset: int) -> bytes:
    """ModelProto of onnx.proto: one Relu, float32 weights, the opset of the export."""
    tensor = (_length(1, len(weights) // 4) + _length(2, 1) + _field(8, b"weight")
              + _field(9, weights))
    node = _field(1, b"input") + _field(2, b"output") + _field(4, b"Relu")
    graph = (_field(1, node) + _field(2, b"inspection") + _field(5, tensor)
             + _field(11, _field(1, b"input")) + _field(12, _field(1, b"output")))
    return (_length(1, 8) + _field(2, b"pytorch") + _field(3, b"2.1.0") + _field(7, graph)
            + _field(8, _field(1, b"") + _length(2, opset)))


def tensorflow_graph(weights: bytes) -> bytes:
    """Frozen GraphDef of graph.proto: a placeholder, constant weights, one Relu."""
    tensor = _length(1, 1) + _field(4, weights)  # DT_FLOAT, tensor_content
    value = _field(5, _field(1, b"value") + _field(2, _field(8, tensor)))
    return (_field(1, _field(1, b"input") + _field(2, b"Placeholder"))
            + _field(1, _field(1, b"weight") + _field(2, b"Const") + value)
            + _field(1, _field(1, b"output") + _field(2, b"Relu") + _field(3, b"input")))


def mindspore_air(weights: bytes) -> bytes:
    """ModelDef of GE's ge_ir.proto, as mindspore.export(file_format="AIR") writes it."""
    relu = _field(1, b"output") + _field(2, b"Relu") + _field(5, b"input:0")
    constant = _field(1, b"weight") + _field(2, b"Const") + _field(10, _field(1, b"value")
               + _field(2, _field(3, weights)))
    data = _field(1, b"input") + _field(2, b"Data")
    graph = _field(1, b"segmentation") + _field(4, data) + _field(4, constant) + _field(4, relu)
    return _field(1, b"segmentation") + _length(2, 1) + _field(7, graph)


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _length(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    found = b""
    while value > 127:
        found, value = found + bytes([value & 127 | 128]), value >> 7
    return found + bytes([value])


def _pack(path: Path, env: dict, pip: dict, hyperparameters: dict) -> None:
    """A pack with the members that msprobe 26.2.0 writes."""
    figures = _figures(random.Random(1234))
    with zipfile.ZipFile(path, "w") as pack:
        pack.writestr("env", json.dumps({"LANG": "C.UTF-8", **env}, indent=4))
        pack.writestr("pip", "\n".join(f"{k}={v}" for k, v in pip.items()))
        pack.writestr("hyperparameters/hyperparameters_static.json",
                      json.dumps(hyperparameters, indent=4))
        for step in (0, 1):
            pack.writestr(f"dataset/step{step}/rank0/dataset.json", json.dumps(
                {"args": {"0": next(figures)}, "kwargs": {}}, indent=4))
            pack.writestr(f"weights/step{step}/rank0/weight.json", json.dumps(
                {name: next(figures) for name in WEIGHTS}, indent=4))
        pack.writestr("random/rank0.json", json.dumps({"torch.manual_seed": [
            {"count": 1, "stack": ["File train.py, line 10, in main, torch.manual_seed(seed)"]}]}))


def _figures(rng: random.Random) -> Iterator[dict[str, float]]:
    """Maximum, minimum, mean and norm of really drawn numbers."""
    while True:
        drawn = [rng.gauss(0, 1) for _n in range(256)]
        yield {"max": max(drawn), "min": min(drawn), "mean": fmean(drawn), "norm": hypot(*drawn)}


def _dump(folder: Path, error: float) -> None:
    """A statistics dump of one step; `error` is the relative error each layer adds."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = _figures(random.Random(99))
    shape, values, data = [4, 3, 16, 16], next(figures), {}
    for depth, (api, output_shape) in enumerate(LAYERS):
        exact = next(figures)
        output = {k: v * (1 + error * (depth + 1)) for k, v in exact.items()}
        data[f"Functional.{api}.0.forward"] = {
            "input_args": [_tensor(shape, values, depth > 0)], "input_kwargs": {},
            "output": [_tensor(output_shape, output, True)]}
        shape, values = output_shape, output
    (folder / "dump.json").write_text(json.dumps(
        {"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": None,
         "data": data}, indent=1))
    (folder / "stack.json").write_text("{}")
    (folder / "construct.json").write_text("{}")


def _tensor(shape: list[int], values: dict[str, float], requires_grad: bool) -> dict:
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": shape,
            **{name.capitalize(): value for name, value in values.items()},
            "requires_grad": requires_grad}
