"""Practice project with the automatic migration switched on."""

import torch
from torch_npu.contrib import transfer_to_npu  # noqa: F401


def main():
    device = torch.device("cuda")  # mapped; the backend "nccl" == "hccl" is a comment
    return device, torch.cuda.is_available()


main()
