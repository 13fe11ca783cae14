"""Which calls compute in half precision what needs FP32 (seed S0, DOMAIN 5.8).

Softmax, cross entropy, norms, attention scores × V, embedding and output layer, all_reduce and
reduce_scatter need FP32; an RNN is sensitive. Convolution, pooling, ReLU, GELU, LSTM cells and
other matrix products bear half precision and are no findings.
"""

import ast
import re

HALF = frozenset({"half", "bfloat16", "float16"})
SENSITIVE = frozenset({"softmax", "log_softmax", "cross_entropy", "layer_norm", "batch_norm",
                       "rms_norm", "nll_loss", "all_reduce", "reduce_scatter",
                       "reduce_scatter_tensor", "Embedding", "EmbeddingBag", "LayerNorm",
                       "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "RMSNorm"})
RECURRENT = frozenset({"RNN", "GRU", "RNNCell", "GRUCell"})
PRODUCTS = frozenset({"matmul", "bmm", "einsum"})
# torch.distributed.algorithms.ddp_comm_hooks: gradients are all-reduced in half precision
COMPRESSING = frozenset({"fp16_compress_hook", "bf16_compress_hook"})
ENDS = re.compile(r"(?:^|_)(?:embed|embedding|embeddings|embed_tokens|wte|wpe|lm_head|output_layer)"
                  r"$")
ATTENTION = re.compile(r"attn|attention|^scores$|^probs$")
RECURRENT_NAME = re.compile(r"(?:^|_)(?:rnn|gru)$")


def of_call(node: ast.Call, name: str, halves: set[str]) -> str:
    """Check that a call fires: `low_precision`, `half_recurrent` or "".

    Args:
        name: last part of what is called. halves: variables that hold a half-precision tensor.
    """
    if name in SENSITIVE and _takes_half(node, halves):
        return "low_precision"
    if name in RECURRENT and _takes_half(node, halves):
        return "half_recurrent"
    if name in PRODUCTS and any(is_attention(a) and is_half(a, halves) for a in _operands(node)):
        return "low_precision"
    return _of_cast(node) if is_cast(node) else ""


def of_assignment(node: ast.Assign) -> str:
    """Check that an output or embedding layer made in half precision fires, or ""."""
    named = [_last_name(target) for target in node.targets]
    if isinstance(node.value, ast.Call) and _takes_half(node.value, set()) and any(
            ENDS.search(name) for name in named):
        return "" if _last_name(node.value.func) in SENSITIVE else "low_precision"
    return ""


def is_half(node: ast.AST, halves: set[str]) -> bool:
    """Whether an operand is cast to half precision, or was before."""
    return any((isinstance(n, ast.Attribute) and n.attr in HALF)
               or (isinstance(n, ast.Name) and n.id in halves) for n in ast.walk(node))


def _takes_half(node: ast.Call, halves: set[str]) -> bool:
    """Whether what a call is given is half precision; what it returns may be cast freely."""
    own = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    return any(is_half(part, halves) for part in (
        *node.args, *(keyword.value for keyword in node.keywords), *own))


def is_cast(node: ast.AST) -> bool:
    """x.half(), x.bfloat16(), x.to(torch.float16), x.to(dtype=torch.bfloat16)."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return (node.func.attr in HALF and not node.args) or (node.func.attr == "to" and any(
        isinstance(value, ast.Attribute) and value.attr in HALF for value in given))


def is_attention(node: ast.AST) -> bool:
    """Whether an operand is named as attention scores are."""
    return any(ATTENTION.search(_last_name(n)) for n in ast.walk(node)
               if isinstance(n, (ast.Name, ast.Attribute)))


def _operands(node: ast.Call) -> list[ast.AST]:
    own = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    return [*own, *node.args]


def _of_cast(node: ast.Call) -> str:
    """A layer that is turned into half precision as a whole."""
    layer = node.func.value
    if isinstance(layer, ast.Call):
        made = _last_name(layer.func)
        if made in RECURRENT:
            return "half_recurrent"
        return "low_precision" if made in ("Embedding", "EmbeddingBag") else ""
    name = _last_name(layer)
    if RECURRENT_NAME.search(name):
        return "half_recurrent"
    return "low_precision" if ENDS.search(name) else ""


def _last_name(node: ast.AST) -> str:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name if isinstance(name, str) else ""
