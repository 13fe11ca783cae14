"""How facts are called for people, where their own name does not say it."""

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from engagements.text.text_joining import listed

LABELS = {
    "is_set_env_sourced": _("set_env.sh sourced"), "has_kernels": _("kernels package"),
    "uses_single_operators": _("single operators called"), "is_compiling": _("built here"),
    "is_dump": _("dump"), "is_config_check_passed": _("configuration check passed"),
    "baseline_runs": _("runs of the baseline"), "nonfinite_losses": _("losses not finite"),
    "config_ranks": _("ranks in the dump configuration"), "dump_steps": _("steps dumped"),
    "dump_ranks": _("ranks dumped"), "input_differences": _("data and weights"),
    "numa_nodes": _("NUMA nodes"), "cards_per_node": _("cards of the node"),
    "world_size": _("cards in all"), "num_layers": _("layers"),
    "num_heads": _("attention heads"), "hidden_size": _("hidden size"),
    "gbs": _("global batch"), "mbs": _("micro batch"), "tp": "TP", "pp": "PP", "cp": "CP",
    "declared_dp": "DP", "processes": _("processes"), "peak_lr": _("peak learning rate"),
    "final_lr": _("final learning rate"), "train_iters": _("iterations"),
    "warmup_steps": _("warm-up steps"), "eval_interval": _("evaluation interval"),
    "save_interval": _("saving interval"), "data_storage": _("disk of the data"),
    "is_evaluation_accepted": _("scores are accepted"),
    "is_weights_deliverable": _("weights are delivered"),
    "install_order": _("order of installation"), "tool_path": _("folder of the tools"),
    "shm_size_gb": _("shared memory (GB)"), "cards": _("cards"),
    "packages": _("packages"), "container_image": _("image"),
    "container_engines": _("container engines"),
    "mindie_image": _("MindIE image"), "product": _("product"),
    "mindie_dtype": _("data type of the model"), "model_family": _("model family"),
    "quantisation": _("quantisation"), "granularity": _("granularity"),
    "parameters_billion": _("parameters (billion)"), "asd_variables": _("ASD variables"),
    "jit_compile": _("compilation while running (jit_compile)"),
    "seeds": _("seeds"), "profiler": _("schedule of the profiler"),
    "profiler_settings": _("settings of the profiler"),
    "gc_threshold": _("threshold of garbage collection"),
    "num_workers": _("loader workers"), "cpus": _("processor cores"),
    "memory_fraction": _("memory fraction"), "memory_alignment": _("memory alignment"),
    "acl_init_calls": _("calls of acl.init"), "is_dvpp_chained": _("DVPP or AIPP in front"),
    "framework": _("framework"), "model_file": _("model file"),
    "soc_version": _("SoC version"), "chip": _("chip"), "opset": "opset",
    "has_prefetch": _("prefetching"), "pads_batches": _("padded batches"),
    "has_length_buckets": _("grouped by length"),
    "media_scenes": _("media scenes"), "media_memory": _("memory allocated by"),
    "source_dtype": _("data type on the source platform"),
    "uses_dataloader": _("DataLoader used"), "uses_lite": "MindSpore Lite",
    "gpu2npu_distributed": _("distributed mode of the tool"),
    "seq_length": _("sequence length"), "init_std": _("standard deviation of the first weights"),
    "batch_growth": _("growth of the batch"),
    "tool_options": _("options of the command"),
}
# Inside a place these stand as they are written in the file; alone they need words.
ALONE = {
    "arch": _("processor architecture"), "atc_mode": _("mode of ATC"), "cann": "CANN",
    "chips": _("chips"), "clip_grad": _("gradient clipping"),
    "compares_with_baseline": _("a baseline to compare with"),
    "config_check": _("configuration check"),
    "container_devices": _("devices of the container"), "dtype": _("data type"),
    "dump_baseline": _("dump settings of the baseline"),
    "dump_candidate": _("dump settings of the NPU run"), "gcc": "GCC",
    "gradient_accumulation_dtype": _("data type of gradient accumulation"),
    "hdk": _("driver and firmware"), "input_format": _("input format"),
    "json_configs": _("JSON configurations"), "lite_input": _("input of MindSpore Lite"),
    "loss_scaling": _("loss scaling"), "megatron": "Megatron", "migration": _("way of migration"),
    "mindie_parallel": _("parallel set-up of MindIE"), "mindspeed": "MindSpeed",
    "mindspore": "MindSpore", "optimizer": _("optimizer"), "os": _("operating system"),
    "python": "Python", "scripts": _("scripts"), "split": _("split of the data set"),
    "tensorflow": "TensorFlow", "tensorflow_package": _("TensorFlow package"),
    "torch": "PyTorch", "torch_npu_plugin": _("torch_npu plug-in"),
    "weight_decay": _("weight decay"),
}


def fact_words(name: str) -> str:
    """A fact in the active language; variables and packages stand as they are called."""
    return str(LABELS.get(name) or ALONE.get(name, name))


def place_text(place: str) -> str:
    """A place whose fact names are replaced by what they are called, in the active language."""
    return listed(str(LABELS.get(part, part)) for part in place.split(", "))


def value_text(value: str) -> str:
    """Yes and no for truth values, also within a list of values."""
    words = {"True": gettext("yes"), "False": gettext("no")}
    return listed(words.get(part, part) for part in value.split(", "))
