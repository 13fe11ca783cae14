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
    # what flows decides, whatever it is called
    "probabilities under another name": (
        "p = torch.softmax(s, -1)\nw = F.dropout(p, 0.1)\n"
        "out = torch.matmul(w.half(), v)"),
    "probabilities cast where they are made": (
        "w = F.softmax(s, dim=-1, dtype=torch.float32).to(torch.bfloat16)\no = w @ v"),
    "probabilities of a layer": "m = nn.Softmax(-1)\np = m(s)\no = torch.bmm(p.half(), v)",
    "scores of half operands": "s = q.half() @ k.half().transpose(1, 2) / 8\np = s.softmax(-1)",
    "loss of an output in half": (
        "fc = nn.Linear(4, 10).to(torch.bfloat16)\nlogits = fc(x)\n"
        "loss = F.cross_entropy(logits.view(-1, 10), y)"),
    "loss of a whole model in half": (
        "net = Net()\nloss_of = nn.CrossEntropyLoss()\nnet.half()\n"
        "loss = loss_of(net(x), y)"),
    "output layer turned where it is made": "head = nn.Linear(4, 10).to(torch.bfloat16)",
    "norm turned half": "self.n1 = nn.LayerNorm(8).half()",
    "layer turned half in another line": "e = nn.Embedding(10, 4)\ne.half()",
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
    "a convolution that is called attention": (
        "attn = F.conv2d(x, w)\nout = torch.matmul(attn.half(), v)"),
    "probabilities kept in FP32": "p = torch.softmax(s, -1)\nout = torch.matmul(p, v)",
    "cast back before the product": "p = torch.softmax(s, -1)\no = p.half().float() @ v",
    "inputs of a model whose result is not known": "loss = F.cross_entropy(model(x.half()), y)",
    "output cast up before the loss": (
        "fc = nn.Linear(4, 10).half()\nloss = F.cross_entropy(fc(x).float(), y)"),
    "softmax with FP32 asked for": "p = F.softmax(s.half(), -1, dtype=torch.float32)",
    "half with a whole operand": "s = q.half() + bias_of(x)\np = F.softmax(s, -1)",
    "another layer in half": "up = nn.Linear(4, 16).to(torch.bfloat16)\nh = up(x)",
    "softmax in FP32": "p = torch.softmax(x.float(), -1).half()",
}


def checks(code: str) -> list[tuple[str, int]]:
    report = scan_texts({"net.py": HEAD + code + "\n"})
    return [(f.check, f.line) for f in report.findings]


@pytest.mark.parametrize("case", SENSITIVE)
def test_what_needs_fp32_is_found_at_its_line(case):
    code = SENSITIVE[case]
    found = [place for place in checks(code) if place[0] == "low_precision"]
    assert found == [("low_precision", 3 + code.count("\n") + 1)]


@pytest.mark.parametrize("case", BEARING)
def test_what_bears_half_precision_is_no_finding(case):
    assert checks(BEARING[case]) == []


ATTENTION = """class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv = nn.Linear(d, 3 * d)
        self.norm = nn.LayerNorm(d, dtype=torch.float16)
        self.out = nn.Linear(d, 9).bfloat16()

    def forward(self, x, y):
        q, k, v = self.qkv(x).chunk(3, -1)
        att = (q @ k.transpose(-2, -1)) * 0.125
        att = F.softmax(att, dim=-1).to(torch.float16)
        x = att @ v
        return F.cross_entropy(self.out(x), y)
"""


def test_a_layer_of_the_class_is_followed_into_its_methods():
    assert checks(ATTENTION) == [("low_precision", line) for line in (8, 15, 16)]


def test_long_chains_take_no_time():
    """Each expression is looked at once: a chain of products would double with every link."""
    assert checks("y = x" + ".matmul(w)" * 200) == []


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


@pytest.mark.parametrize(("code", "value"), [
    ("torch.npu.set_compile_mode(jit_compile=False)", False),
    ("import torch_npu\ntorch_npu.npu.set_compile_mode(jit_compile=True)", True)])
def test_the_compile_mode_is_a_setting(code, value):
    settings = scan_texts({"t.py": HEAD + code + "\n"}).as_json()["settings"]
    assert settings["jit_compile"]["value"] is value


def test_retrieval_of_feature_vectors_is_found_with_its_calls():
    report = scan_texts({"search.py": (
        "import acl\npara = acl.fv.create_init_para(1024)\nacl.fv.init(para)\n"
        "acl.fv.search(0, given, found)\nacl.fv.search(1, given, found)\nacl.fv.release()\n")})
    assert [(f.check, f.rule, f.line) for f in report.findings] == [
        ("vector_search", "R-INF-17", line) for line in (2, 3, 4, 5, 6)]
