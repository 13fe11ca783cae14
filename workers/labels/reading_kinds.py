"""What each kind of reading is called on pages; in files and in the API the code stands alone."""

from django.utils.translation import gettext_lazy as _

from toolreaders.base import READERS, load_readers

WORDS = {
    "accuracy_advice": _("Accuracy advice"), "accuracy_compare": _("Accuracy comparison"),
    "accuracy_dump": _("Accuracy dump"), "accuracy_graph": _("Accuracy graph"),
    "accuracy_merge": _("Merged accuracy comparison"),
    "aipp_config": _("AIPP configuration"), "api_accuracy": _("Accuracy of single APIs"),
    "compatibility_table": _("Compatibility table"), "config_check": _("Configuration check"),
    "conversion_log": _("Log of a conversion"), "dump_config": _("Configuration of a dump"),
    "evaluation": _("Evaluation scores"), "hccn_tool": _("Network of the chips"),
    "hccl_test": _("Collective communication test"),
    "host_probe": _("Host facts"), "inference_benchmark": _("Inference benchmark"),
    "memory": _("Memory profile"), "migration_analysis": _("Migration analysis"),
    "model_config": _("Model configuration"), "node_report": _("List of files on the node"),
    "npu_smi": _("NPU cards"), "nvidia_smi": _("GPU cards"), "onnx_model": _("ONNX model"),
    "overflow": _("Overflow check"), "parallel_strategy": _("Parallel strategy"),
    "performance_tuning": _("Performance tuning"),
    "profile": _("Performance profile"), "quality_ratings": _("Quality ratings"),
    "quantization": _("Quantisation"),
    "scaling": _("Scaling"), "script_transplant": _("Converted scripts"),
    "serving_config": _("Serving configuration"), "source_scan": _("Source scan"),
    "tf_conversion": _("TensorFlow conversion"),
    "tool_log": _("Log of a tool"), "torch_check": _("PyTorch check"),
    "training_arguments": _("Training arguments"), "training_log": _("Training log"),
    "version_info": _("Versions"),
}


def kind_words(kind: str) -> str:
    """The kind in the active language; one without words as it stands."""
    return str(WORDS.get(kind, kind))


def reader_words(name: str) -> str:
    """What the reader of that name reads; the name of one that is no more."""
    load_readers()
    return kind_words(READERS[name].kind) if name in READERS else name
