"""Where rules come from, by the marks that rules name (DOMAIN chapter 14)."""

from django.utils.translation import gettext_lazy as _

CITED = {
    "S0": _("Solution guide of a service provider, V01, 2025-06-25"),
    "S1": _("Training course on migration, accuracy and profiling"),
    "S2": _("Description of an AI computing optimisation service"),
    "S3": _("Walkthrough of a tuning with figures of each round"),
    "S4": _("Study notes for HCIP-AI Ascend"),
    "X1": _("Ascend documentation of PYTORCH_NPU_ALLOC_CONF, CANN 8.0 and PyTorch 6.0 to 7.1"),
    "X3": _("msprobe: description of its configuration file"),
    "X7": _("Ascend documentation of the GPU-to-NPU script conversion, and its test scripts"),
    "X8": _("Ascend documentation of PyTorch Analyse, several releases"),
    "X9": _("Ascend documentation of ATC's --framework, several releases"),
    "X10": _("MindSpeed, megatron_adaptor.py at commit 02c49f5d"),
    "X11": _("Environment variables of torch_npu and MindSpore"),
    "X12": _("Outputs of npu-smi and notes from the field"),
    "X16": _("Ascend documentation of repeated measurements, TensorFlow 8.0 and MindSDK 7.3"),
    "X20": _("Container start lines with /dev/davinci_manager"),
    "X21": _("Megatron-LM's code that prints the training log"),
    "X25": _("Ascend migration guides of TensorFlow 1.15 and 2.6.5: replacing GELU"),
    "X26": _("Ascend documentation of pyACL: sub-allocation of memory, dvpp_malloc; CANN 7.0"),
    "X27": _("Ascend documentation of pyACL: retrieval of feature vectors (acl.fv)"),
    "X28": _("Public sources of the tools, release by release; named in each row of the table"),
    "X29": _("torch_npu's profiler: experimental_config.py at commit 0396f002, its documentation"),
    "X30": _("CANN's environment variables, chapter on the log, 8.0"),
    "K": _("General practice; have it confirmed for your case"),
    "D": _("Derived for this product"),
}


def marks(source: str) -> list[str]:
    """The marks in a rule's source: `S0, X1` names two."""
    return [mark.strip() for mark in source.split(",") if mark.strip()]
