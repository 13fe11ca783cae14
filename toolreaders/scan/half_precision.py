"""Which calls compute in half precision what needs FP32 (seed S0, DOMAIN 5.8).

Softmax, cross entropy, norms, attention scores × V, embedding and output layer, all_reduce and
reduce_scatter need FP32; an RNN is sensitive. Convolution, pooling, ReLU, GELU, LSTM cells and
other matrix products bear half precision and are no findings. What flows where decides; names
only where a value comes from outside of what is followed (`data_flow`).
"""

import ast
import re

from toolreaders.scan.data_flow import HALF, HALF_MARK, PRODUCTS, SOFTMAX, Flow, last_name, operands

LAYERS = frozenset({"Embedding", "EmbeddingBag", "LayerNorm", "BatchNorm1d", "BatchNorm2d",
                    "BatchNorm3d", "RMSNorm"})
SENSITIVE = LAYERS | {"softmax", "log_softmax", "cross_entropy", "layer_norm", "batch_norm",
                      "rms_norm", "nll_loss", "all_reduce", "reduce_scatter",
                      "reduce_scatter_tensor"}
LOSSES = frozenset({"CrossEntropyLoss", "NLLLoss"})
RECURRENT = frozenset({"RNN", "GRU", "RNNCell", "GRUCell"})
# torch.distributed.algorithms.ddp_comm_hooks: gradients are all-reduced in half precision
COMPRESSING = frozenset({"fp16_compress_hook", "bf16_compress_hook"})
ENDS = re.compile(r"(?:^|_)(?:embed|embedding|embeddings|embed_tokens|wte|wpe|head|output_layer)$")
ATTENTION = re.compile(r"attn|attention|^scores$|^probs$")
RECURRENT_NAME = re.compile(r"(?:^|_)(?:rnn|gru)$")


def of_call(node: ast.Call, name: str, flow: Flow) -> str:
    """Check that a call fires: `low_precision`, `half_recurrent` or "".

    Args:
        name: last part of what is called.
    """
    made = flow.made(node.func)
    if (name in SENSITIVE or made in LOSSES) and flow.takes_half(node):
        return "low_precision"
    if made in LAYERS and flow.of(node.func) >= HALF_MARK:
        return ""  # found where the layer was made so
    if name in RECURRENT and flow.takes_half(node):
        return "half_recurrent"
    if name in PRODUCTS and any(is_half_attention(part, flow) for part in operands(node)):
        return "low_precision"
    return _of_cast(node, flow) if is_cast(node, flow) else ""


def of_assignment(node: ast.Assign, flow: Flow) -> str:
    """Check that an output or embedding layer made in half precision fires, or ""."""
    made = flow.made(node.value)
    is_half = made and flow.of(node.value) >= HALF_MARK
    named = any(ENDS.search(last_name(target)) for target in node.targets)
    return "low_precision" if is_half and named and made not in LAYERS else ""


def is_cast(node: ast.AST, flow: Flow) -> bool:
    """x.half(), x.bfloat16(), x.to(torch.float16), x.to(dtype=torch.bfloat16)."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return (node.func.attr in HALF and not node.args) or (
        node.func.attr == "to" and any(flow.of(value) >= HALF_MARK for value in given))


def is_half_attention(node: ast.AST, flow: Flow) -> bool:
    """Whether an operand is attention probabilities in half precision."""
    marks = flow.of(node)
    if marks >= HALF_MARK and marks >= SOFTMAX:
        return True
    foreign = [n for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute))
               and ATTENTION.search(last_name(n)) and not flow.is_known(n)]
    return marks >= HALF_MARK and bool(foreign)


def _of_cast(node: ast.Call, flow: Flow) -> str:
    """A layer that is turned into half precision as a whole."""
    layer = node.func.value
    made, name = flow.made(layer), "" if flow.is_known(layer) else last_name(layer)
    if made in RECURRENT or RECURRENT_NAME.search(name):
        return "half_recurrent"
    return "low_precision" if made in LAYERS or ENDS.search(name) else ""
