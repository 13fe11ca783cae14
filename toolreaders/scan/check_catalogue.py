"""What the scan looks for, as data: severity, rule, effort and what to do (DOMAIN 5.2, 5.8).

Effort in person-days is a planning value until measured: `days` per file in which the check
fires, or once per project where the work is shared by all places.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType

from toolreaders.sentences import gettext_noop as _

BLOCK, WARN, INFO = "block", "warn", "info"
PER_FILE, PER_PROJECT = "file", "project"


@dataclass(frozen=True)
class Check:
    code: str
    rule: str  # code of the validation rule, or empty
    severity: str
    title: str
    action: str
    days: Decimal
    per: str


def _check(code, rule, severity, title, action, days="0", per=PER_FILE):
    return code, Check(code, rule, severity, title, action, Decimal(days), per)


CHECKS: Mapping[str, Check] = MappingProxyType(dict((
    _check("cuda_call", "R-SCR-07", WARN, _("CUDA call or device string"),
           _("Import transfer_to_npu, or change the device to npu."), "0.1"),
    _check("unsupported_api", "", BLOCK, _("API without an NPU counterpart"),
           _("Replace it: DistributedDataParallel for DataParallel, torch_npu.profiler for NVTX."),
           "0.5"),
    _check("private_api", "", INFO, _("Private PyTorch interface"),
           _("Check that the call is still needed on the NPU."), "0.1"),
    _check("nccl_logic", "R-SCR-03", BLOCK, _("Logic that depends on the word nccl"),
           _("Compare with hccl, or with both."), "0.2"),
    _check("nccl_backend", "R-SCR-04", WARN, _("Backend nccl"),
           _("Use hccl; automatic migration maps init_process_group itself."), "0.1"),
    _check("apex", "R-SCR-06", BLOCK, _("apex or amp_C"),
           _("Use the Ascend build of apex, or the optimiser of torch_npu."), "1", PER_PROJECT),
    _check("cuda_extension", "R-SCR-09", BLOCK, _("Build of a custom CUDA extension"),
           _("Plan operator development, or find a library operator that replaces it."),
           "2", PER_PROJECT),
    _check("cuda_kernel", "R-SCR-09", BLOCK, _("CUDA source file"),
           _("Write the operator for the NPU, or replace it by library operators."), "5"),
    _check("jit_script", "R-SCR-02", BLOCK, _("torch.jit.script"),
           _("Remove the decorator; automatic migration masks it."), "0.2"),
    _check("channels_last", "R-SCR-01", BLOCK, _("channels_last memory format"),
           _("Use contiguous_format."), "0.1"),
    _check("low_precision", "R-SCR-13", WARN, _("Sensitive operator in half precision"),
           _("Cast its input to FP32 and the result back."), "0.2"),
    _check("half_recurrent", "R-SCR-17", WARN, _("Recurrent network in half precision"),
           _("Keep RNN and GRU in FP32; LSTM cells, convolution, pooling and activations tolerate "
             "BF16."), "0.2"),
    _check("rms_norm", "R-SCR-15", WARN, _("RMSNorm without FP32"),
           _("Compute the mean of squares on x.float()."), "0.2"),
    _check("host_sync", "R-SCR-12", WARN, _("Host waits for the device in a loop"),
           _("Collect on the device and read every so many steps."), "0.2"),
    _check("decoding_loader", "R-SCR-18", INFO, _("Data set that decodes every sample"),
           _("Convert the data to a binary format once, or cache what was decoded."), "0.5"),
    _check("host_collate", "R-SCR-19", INFO, _("Batch prepared sample by sample on the host"),
           _("Only stack in collate_fn; convert, transpose and normalise the batch on the device "
             "(fast_collate of timm)."), "0.3"),
    _check("epoch_loader", "R-SCR-21", INFO, _("Loader made anew in every epoch"),
           _("Make it once, with persistent_workers=True, or as an infinite loader."), "0.2"),
    _check("mask_decode", "R-SCR-22", INFO, _("Masks decoded on the CPU"),
           _("Move the computation to the NPU, or spread it over several processes."), "0.5"),
    _check("one_reader", "R-SCR-23", WARN, _("Rank 0 reads the data for all"),
           _("Let every card read its own share, or measure what the broadcast costs."), "0.5"),
    _check("library", "", WARN, _("Library with an NPU replacement"),
           _("Install the replacement named in the snippet's note."), "0.5", PER_PROJECT),
    _check("dynamic_shape", "", WARN, _("Shape that depends on the data"),
           _("Pad or mask to a fixed shape, or turn off binary compilation (jit_compile=False)."),
           "0.3"),
    _check("unknown_device_helper", "R-SCR-08", WARN, _("get_npu_device"),
           _("Use torch.device('npu')."), "0.1"),
    _check("adaptor", "R-SCR-05", INFO, _("MindSpeed adaptor"),
           _("Keep the import; it patches nccl and amp_C itself.")),
    _check("adaptor_order", "R-SCR-10", BLOCK, _("Adaptor imported before torch"),
           _("Move the import below import torch."), "0.1"),
    _check("tensorflow_api", "R-SCR-16", BLOCK, _("TPU strategy or deprecated TensorFlow API"),
           _("Use the TensorFlow 2.6 API."), "0.5"),
    _check("tensorflow_gelu", "R-SCR-20", INFO, _("GELU of TensorFlow"),
           _("Try npu_device.ops.gelu (TensorFlow 2.6, function mode) or npu_unary_ops.gelu "
             "(TensorFlow 1.15); it is an approximation, so check convergence."), "0.2"),
    _check("horovod_api", "", BLOCK, _("Collective operation of Horovod"),
           _("Use hccl_ops, npu_distributed_optimizer_wrapper and get_rank_id of npu_bridge."),
           "0.5"),
    _check("vector_search", "R-INF-17", INFO, _("Feature vector retrieval (acl.fv)"),
           _("Migrate and test it apart from the model: 1:N and N:M search, repository and "
             "release."), "1", PER_PROJECT),
    _check("mindspore_device", "", WARN, _("Device target GPU of MindSpore"),
           _("Set the device target to Ascend; init() without an argument then takes HCCL."),
           "0.1"),
    _check("cuda_setting", "R-SCR-07", INFO, _("CUDA or NCCL setting in a script or file"),
           _("Use ASCEND_RT_VISIBLE_DEVICES, HCCL variables and npu-smi."), "0.05"),
)))

# What MindSpeed's adaptor patches itself (R-SCR-05).
SUPPRESSED_BY_ADAPTOR = frozenset({"nccl_logic", "nccl_backend", "apex"})

# Import name → what to use on the NPU.
LIBRARIES: Mapping[str, str] = MappingProxyType({
    "flash_attn": "torch_npu.npu_fusion_attention", "xformers": "torch_npu.npu_fusion_attention",
    "transformer_engine": "MindSpeed", "triton": "triton-ascend", "vllm": "vllm-ascend",
    "tensorrt": "ATC + ACL", "torch2trt": "ATC + ACL", "torch_tensorrt": "ATC + ACL",
    "tensorrt_llm": "MindIE", "pycuda": "pyACL", "cupy": "torch_npu", "pynvml": "npu-smi",
    "nvidia.dali": "DVPP", "bitsandbytes": "torch_npu, msmodelslim", "megatron": "MindSpeed",
    "deepspeed": "deepspeed + torch_npu", "mmcv": "mmcv (NPU build)",
    "torchvision": "torchvision_npu",
    "horovod": "npu_bridge (hccl_ops)", "auto_gptq": "msmodelslim", "awq": "msmodelslim",
})

UNSUPPORTED_APIS = (
    "torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "torch.cuda.nvtx",
    "torch.cuda.CUDAGraph", "torch.cuda.graph", "torch.cuda.make_graphed_callables",
    "torch.cuda.cudart", "torch.cuda.profiler",
)
