"""Operators that need FP32, and those that bear half precision (seed S0, DOMAIN 5.8)."""

import pytest

from toolreaders.scan import scan_texts

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
SENSITIVE = {  # case: code in which the last line is the place
    "softmax": "p = torch.softmax(x.half(), -1)",
    "softmax, data type named": "p = F.softmax(x, dim=-1, dtype=torch.float16)",
    "cross entropy": "loss = F.cross_entropy(logits.bfloat16(), y)",
    "layer norm": "x = F.layer_norm(x.to(torch.bfloat16), (8,))",
    "batch norm": "x = F.batch_norm(x.half(), mean, var)",
    "attention times V": "out = torch.matmul(attn_probs.half(), v)",
    "attention times V, operator": "out = attn.to(torch.bfloat16) @ v",
    "embedding made half": "e = nn.Embedding(10, 4, dtype=torch.float16)",
    "embedding turned half": "self.embed_tokens.half()",
    "output layer made half": "self.lm_head = nn.Linear(4, 10, dtype=torch.bfloat16)",
    "output layer turned half": "model.output_layer.to(torch.float16)",
    "all_reduce": "torch.distributed.all_reduce(grad.half())",
    "all_reduce of what was cast": "flat = grad.half()\ntorch.distributed.all_reduce(flat)",
    "reduce_scatter": "torch.distributed.reduce_scatter_tensor(out, x.bfloat16())",
    "gradients compressed": (
        "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks as hooks\n"
        "net.register_comm_hook(None, hooks.bf16_compress_hook)"),
}
BEARING = {
    "convolution": "y = F.conv2d(x.bfloat16(), w)",
    "pooling": "y = F.max_pool2d(x.half(), 2)",
    "activations": "y = F.gelu(F.relu(x.bfloat16()))",
    "LSTM cell": "cell = nn.LSTMCell(4, 4, dtype=torch.bfloat16)",
    "other product": "y = torch.matmul(hidden.half(), w)",
    "FP32 again": "flat = grad.half()\nflat = grad\ntorch.distributed.all_reduce(flat)",
    "another function's variable": (
        "def one(g):\n    flat = g.half()\n    return flat\n"
        "def two(flat):\n    torch.distributed.all_reduce(flat)"),
    "softmax in FP32": "p = torch.softmax(x.float(), -1).half()",
}


def checks(code: str) -> list[tuple[str, int]]:
    report = scan_texts({"net.py": HEAD + code + "\n"})
    return [(f.check, f.line) for f in report.findings]


@pytest.mark.parametrize("case", SENSITIVE)
def test_what_needs_fp32_is_found_at_its_line(case):
    code = SENSITIVE[case]
    assert checks(code) == [("low_precision", 3 + code.count("\n") + 1)]


@pytest.mark.parametrize("case", BEARING)
def test_what_bears_half_precision_is_no_finding(case):
    assert checks(BEARING[case]) == []


@pytest.mark.parametrize("code", [
    "r = nn.RNN(4, 4, dtype=torch.bfloat16)", "r = nn.GRU(4, 4).half()", "self.gru.bfloat16()"])
def test_recurrent_networks_are_sensitive(code):
    assert checks(code) == [("half_recurrent", 4)]


def test_media_scenes_and_their_memory_are_settings_of_the_source():
    settings = scan_texts({
        "video.py": "import acl\nacl.himpi.vdec_send_stream(1, s, f, 0)\n",
        "memory.py": "import acl\nacl.media.dvpp_jpeg_decode_async(c)\nacl.rt.malloc(8, 0)\n",
    }).as_json()["settings"]
    assert settings["media_scenes"]["value"] == ["JPEGD", "VDEC"]
    assert settings["media_memory"]["value"] == ["acl.rt.malloc"]


def test_retrieval_of_feature_vectors_is_found_with_its_calls():
    report = scan_texts({"search.py": (
        "import acl\npara = acl.fv.create_init_para(1024)\nacl.fv.init(para)\n"
        "acl.fv.search(0, given, found)\nacl.fv.search(1, given, found)\nacl.fv.release()\n")})
    assert [(f.check, f.rule, f.line) for f in report.findings] == [
        ("vector_search", "R-INF-17", line) for line in (2, 3, 4, 5, 6)]
