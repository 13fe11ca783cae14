"""Practice data in the login's home folder: sources, model file, configuration packs, dumps."""

import json
import zipfile
from pathlib import Path

EDITION = "2"  # raise it when the data below changes
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


def prepare(folder: Path) -> None:
    """Write the data of this edition once; data of the login's own stays."""
    marker = folder / "ready"
    if marker.exists() and marker.read_text() == EDITION:
        return
    _sources(folder / "inspect_net")
    (folder / "model.onnx").write_bytes(b"\x08\x07\x12\x07pytorch" + bytes(range(256)) * 256)
    _pack(folder / "config_gpu.zip", {"CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7", "SEED": "1234"},
          PIP)
    _pack(folder / "config_npu.zip", {"ASCEND_RT_VISIBLE_DEVICES": "0,1,2,3", "SEED": "1234"},
          {**PIP, "torch-npu": "2.1.0.post8"})
    _dump(folder / "dump_gpu" / "step0" / "rank0", 1.0)
    _dump(folder / "dump_npu" / "step0" / "rank0", 1.0004)
    marker.write_text(EDITION)


def _sources(folder: Path) -> None:
    (folder / "ops").mkdir(parents=True, exist_ok=True)
    (folder / "train.py").write_text(TRAIN)
    (folder / "model.py").write_text(MODEL)
    (folder / "ops" / "box_iou.cu").write_text(CUDA)
    (folder / "ops" / "binding.cpp").write_text(BINDING)


def _pack(path: Path, env: dict, pip: dict) -> None:
    with zipfile.ZipFile(path, "w") as pack:
        pack.writestr("env", json.dumps(env, indent=4))
        pack.writestr("pip", "\n".join(f"{k}={v}" for k, v in pip.items()))


def _dump(folder: Path, scale: float) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = {}
    for number, api in enumerate(("conv2d", "batch_norm", "relu", "linear")):
        factor = scale if number else 1.0
        tensor = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4, 8, 16, 16],
                  "requires_grad": True}
        values = {"Max": 3.2, "Min": -3.5, "Mean": 0.02, "Norm": 55.5}
        data[f"Functional.{api}.{number}.forward"] = {
            "input_args": [{**tensor, **values}], "input_kwargs": {},
            "output": [{**tensor, **{k: v * factor for k, v in values.items()}}]}
    (folder / "dump.json").write_text(json.dumps(
        {"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": None,
         "data": data}))
    (folder / "stack.json").write_text("{}")
    (folder / "construct.json").write_text("{}")
