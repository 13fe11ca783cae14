"""R-SCR: source code (DOMAIN 5.2). The detectors are those of the source scan.

`scripts`: file name → text. `migration`: automatic, tool or manual.
"""

from django.utils.translation import gettext_lazy as _

from workers.rules.base import BLOCK, INFO, WARN, rule
from workers.rules.scanned import found_in_scan


def _automatic(code):
    found = found_in_scan(code)
    return lambda f: found(f) if f["migration"] == "automatic" else []


def _manual(code):
    found = found_in_scan(code)
    return lambda f: found(f) if f["migration"] == "manual" else []


def _dtype(f):
    scaled, wide = f["loss_scaling"], f["gradient_accumulation_dtype"]
    if f["dtype"] == "fp16":
        return scaled != "dynamic"
    return f["dtype"] == "bf16" and (scaled != "none" or wide != "fp32")


rule("R-SCR-01", BLOCK, "S4, X7", "scripts migration",
     _("Automatic migration does not support channels_last."),
     _("Use contiguous_format, that is, remove the memory_format argument."),
     _automatic("R-SCR-01"), _("automatic migration"))
rule("R-SCR-02", BLOCK, "S4, X7", "scripts migration",
     _("Automatic migration masks torch.jit.script."),
     _("Remove the decorator; if script mode is really needed, migrate with the tool."),
     _automatic("R-SCR-02"), _("automatic migration"))
rule("R-SCR-03", BLOCK, "S4, X7", "scripts",
     _("Later logic compares with the string nccl."),
     _("Compare with hccl, or with both."), found_in_scan("R-SCR-03"))
rule("R-SCR-04", BLOCK, "S4", "scripts migration",
     _("init_process_group starts the nccl backend."), _("Use backend='hccl'."),
     _manual("R-SCR-04"), _("manual migration"))
rule("R-SCR-05", INFO, "S0, X10", "scripts",
     _("mindspeed.megatron_adaptor patches nccl and amp_C itself; findings of these are left out."),
     _("Keep the import."), found_in_scan("R-SCR-05"))
rule("R-SCR-06", BLOCK, "S4", "scripts",
     _("apex and amp_C are CUDA extensions."),
     _("Use the Ascend build of apex, or the optimiser of torch_npu."), found_in_scan("R-SCR-06"))
rule("R-SCR-07", WARN, "S1, S4", "scripts",
     _("CUDA calls remain."),
     _("Import transfer_to_npu, or change the device to npu."), found_in_scan("R-SCR-07"))
rule("R-SCR-08", WARN, "S1", "scripts",
     _("transfer_to_npu.get_npu_device is not found in public sources."),
     _("Use torch.device('npu')."), found_in_scan("R-SCR-08"))
rule("R-SCR-09", BLOCK, "S1", "scripts",
     _("A custom CUDA extension or kernel needs an operator for the NPU."),
     _("Plan operator development, or find an operator of the library that replaces it."),
     found_in_scan("R-SCR-09"))
rule("R-SCR-10", BLOCK, "S0", "scripts",
     _("mindspeed.megatron_adaptor must be imported after torch."),
     _("Move the import below import torch."), found_in_scan("R-SCR-10"))
rule("R-SCR-11", BLOCK, "X7", "gpu2npu_distributed uses_dataloader",
     _("The distributed mode of the tool needs torch.utils.data.DataLoader."),
     _("Load the data with DataLoader; name the model variable with -t."),
     lambda f: bool(f["gpu2npu_distributed"]) and not f["uses_dataloader"])
rule("R-SCR-12", WARN, "S0", "scripts",
     _("The host waits for the device in every round of a loop."),
     _("Collect on the device and read every so many steps."), found_in_scan("R-SCR-12"))
rule("R-SCR-13", WARN, "S0", "scripts",
     _("This operator is computed in half precision but needs FP32."),
     _("Cast its input to FP32 and the result back."), found_in_scan("R-SCR-13"))
rule("R-SCR-14", BLOCK, "S0", "dtype loss_scaling gradient_accumulation_dtype",
     _("FP16 needs dynamic loss scaling; BF16 needs none, but gradients accumulated in FP32."),
     _("Change the mixed-precision settings."), _dtype)
rule("R-SCR-15", WARN, "S0", "scripts",
     _("RMSNorm must cast its input up to FP32."),
     _("Compute the mean of squares on x.float()."), found_in_scan("R-SCR-15"))
rule("R-SCR-16", BLOCK, "S0", "scripts",
     _("TPU strategies and deprecated TensorFlow APIs are not supported."),
     _("Use the TensorFlow 2.6 API."), found_in_scan("R-SCR-16"), "TensorFlow 2.6")
rule("R-SCR-17", WARN, "S0", "scripts",
     _("A recurrent network is computed in half precision, to which it is sensitive."),
     _("Keep RNN and GRU in FP32; LSTM cells, convolution and pooling tolerate BF16."),
     found_in_scan("R-SCR-17"))
rule("R-SCR-18", INFO, "S0", "scripts",
     _("Every sample is decoded while the training waits for it."),
     _("Convert the data to a binary format once, or cache what was decoded."),
     found_in_scan("R-SCR-18"))
rule("R-SCR-19", INFO, "S0", "scripts",
     _("The batch is prepared sample by sample on the host."),
     _("Only stack in collate_fn; convert and normalise the batch on the device (fast_collate)."),
     found_in_scan("R-SCR-19"))
rule("R-SCR-20", INFO, "S0, X25", "scripts",
     _("GELU of TensorFlow has a faster approximation on the NPU."),
     _("Try npu_device.ops.gelu or npu_unary_ops.gelu and check convergence."),
     found_in_scan("R-SCR-20"), "TensorFlow")
rule("R-SCR-21", INFO, "S0", "scripts",
     _("The loader's workers start again in every epoch, and the NPU waits for them."),
     _("Make it once, with persistent_workers=True, or as an infinite loader."),
     found_in_scan("R-SCR-21"))
rule("R-SCR-22", INFO, "S0", "scripts",
     _("Masks are decoded on the CPU by one core."),
     _("Move the computation to the NPU, or spread it over several processes."),
     found_in_scan("R-SCR-22"))
rule("R-SCR-23", WARN, "S0", "scripts",
     _("One card reads the data and hands it on to the others, which often slows all down."),
     _("Let every card read its own share, or measure what the broadcast costs."),
     found_in_scan("R-SCR-23"))
