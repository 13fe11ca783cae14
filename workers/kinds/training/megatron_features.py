"""Features of MindSpeed and further arguments of Megatron, typed; what excludes what (DOMAIN 4.2).

Options: Ascend/MindSpeed, docs/en/features @ fad5ae8 (recomputation, activation-function-recompute,
swap_attention, mc2, async-ddp-param-gather, qat_quant, flash-attention, rms_norm, swiglu,
rotary-embedding); Megatron-LM core_r0.8.0, megatron/training/arguments.py.
"""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from workers.kinds.base import Parameter

RECOMPUTED = {"selective": _("Attention only (selective)"),
              "uniform": _("All layers, in groups (full, uniform)"),
              "block": _("The first layers (full, block)")}
QAT = ("w4a16-mxfp4", "w4a16-mxfp4-moe-only", "w8a16-mxfp8", "w8a16-mxfp8-moe-only")
MODEL_DETAILS = (
    Parameter("ffn_hidden_size", _("Width of the feed-forward layers"), "integer", minimum=8,
              maximum=1_048_576, is_required=False, help=_("Empty: four times the hidden size.")),
    Parameter("init_std", _("Init std"), "number", minimum=0,
              maximum=10, is_required=False),
    Parameter("vocabulary_divisor", _("Vocabulary divisible by"), "integer", minimum=1,
              maximum=65_536, is_required=False),
    Parameter("no_bias", _("Linear layers without bias"), "flag", default=False),
    Parameter("softmax_fp32", _("FP32 attention softmax"), "flag", default=False),
    Parameter("no_masked_softmax", _("Without fused masked softmax"), "flag", default=False),
    Parameter("loss_scale", _("Fixed loss scale"), "number", minimum=1, maximum=2**40,
              is_required=False, help=_("For fp16; empty: dynamic.")),
    Parameter("initial_loss_scale", _("First loss scale"), "number", minimum=1, maximum=2**40,
              is_required=False, help=_("For fp16 with dynamic scaling.")),
    Parameter("eval_iters", _("Iterations of an evaluation"), "integer", minimum=0,
              maximum=1_000_000, is_required=False),
)
FEATURES = (
    Parameter("recompute", _("Recomputation"), "choice", is_required=False,
              choices=tuple(RECOMPUTED), names=RECOMPUTED),
    Parameter("recompute_layers", _("Layers recomputed"), "integer", minimum=1, maximum=1000,
              is_required=False, help=_("Size of a group (uniform), or the first so many of a "
                                        "pipeline stage (block, or with swapping).")),
    Parameter("recompute_activation", _("Recompute the activation function"), "flag",
              default=False),
    Parameter("swap_attention", _("Swap attention's activations to the host"), "flag",
              default=False),
    Parameter("flash_attention", _("Flash attention"), "flag", default=False),
    Parameter("fused_rmsnorm", _("Fused RMSNorm"), "flag", default=False),
    Parameter("fused_swiglu", _("Fused SwiGLU"), "flag", default=False),
    Parameter("fused_rope", _("Fused rotary embedding"), "flag", default=False),
    Parameter("mc2", _("Overlap of matrix products and communication (MC2)"), "flag",
              default=False, help=_("Not for mixtures of experts, not on A3.")),
    Parameter("overlap_grad_reduce", _("Overlap gradient all-reduce"), "flag",
              default=False),
    Parameter("overlap_param_gather", _("Overlap parameter all-gather"), "flag",
              default=False),
    Parameter("qat_scheme", _("Quantisation-aware training"), "choice", is_required=False,
              choices=QAT, help=_("--qat-scheme of MindSpeed: weights are quantised and "
                                  "dequantised in the forward pass.")),
)
NAMED = {"ffn_hidden_size": "ffn-hidden-size", "init_std": "init-method-std",
         "vocabulary_divisor": "make-vocab-size-divisible-by", "loss_scale": "loss-scale",
         "initial_loss_scale": "initial-loss-scale", "eval_iters": "eval-iters",
         "recompute_layers": "recompute-num-layers", "qat_scheme": "qat-scheme"}
FLAGS = {"no_bias": "disable-bias-linear", "softmax_fp32": "attention-softmax-in-fp32",
         "no_masked_softmax": "no-masked-softmax-fusion",
         "recompute_activation": "recompute-activation-function",
         "swap_attention": "swap-attention", "flash_attention": "use-flash-attn",
         "fused_rmsnorm": "use-fused-rmsnorm", "fused_swiglu": "use-fused-swiglu",
         "fused_rope": "use-fused-rotary-pos-emb", "mc2": "use-ascend-mc2",
         "overlap_grad_reduce": "overlap-grad-reduce",
         "overlap_param_gather": "overlap-param-gather"}


def recomputation(p: dict) -> list[str]:
    """The options of the chosen way of recomputing."""
    if p["recompute"] in (None, "selective"):
        return ["--recompute-activations"] if p["recompute"] else []
    return ["--recompute-granularity", "full", "--recompute-method", p["recompute"]]


def conflicts(p: dict) -> Iterator[str]:
    """Sentences (message ids) on what the features' documents exclude."""
    if p["mc2"] and not (p["sequence_parallel"] and p["tensor_parallel"] > 1):
        yield gettext_noop("MC2 needs tensor and sequence parallelism.")
    if p["mc2"] and p["expert_parallel"] > 1:
        yield gettext_noop("MC2 does not work with mixtures of experts.")
    if p["overlap_param_gather"] and not (p["overlap_grad_reduce"] and p["distributed_optimizer"]):
        yield gettext_noop("Overlap parameter all-gather needs the distributed optimizer and "
                           "overlap gradient all-reduce.")
    if p["swap_attention"] and not p["flash_attention"]:
        yield gettext_noop("Swapping attention's activations needs flash attention.")
    if p["recompute_activation"] and p["recompute"] == "uniform":
        yield gettext_noop("Recomputing the activation function goes with full recomputation by "
                           "block only.")
    if p["recompute"] in ("uniform", "block") and not p["recompute_layers"]:
        yield gettext_noop("Full recomputation needs the number of layers.")
    if p["recompute_layers"] and not (p["recompute"] in ("uniform", "block")
                                      or p["swap_attention"]):
        yield gettext_noop("Layers recomputed go with full recomputation or with swapping.")
    if (p["loss_scale"] or p["initial_loss_scale"]) and p["precision"] != "fp16":
        yield gettext_noop("A loss scale is for fp16.")
    if p["loss_scale"] and p["initial_loss_scale"]:
        yield gettext_noop("Either a fixed loss scale or a first one of dynamic scaling.")
