"""Findings of one Python file by its syntax tree. Nothing is imported or executed."""

import ast
import re
import warnings

from toolreaders.scan import data_loading, half_precision
from toolreaders.scan.check_catalogue import LIBRARIES, UNSUPPORTED_APIS
from toolreaders.scan.data_flow import Flow
from toolreaders.scan.findings import MAX_SNIPPET, Finding
from toolreaders.scan.name_resolution import Names
from toolreaders.scan.tensorflow_apis import DEPRECATED, GELU, HOROVOD

CANNOT_PARSE = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
CUDA_DEVICE = re.compile(r"^cuda(?::.*)?$")
CUDA_MODULES = ("torch.cuda", "torch.backends.cuda")
SYNC_METHODS = frozenset({"item", "cpu", "numpy", "tolist"})
SYNC_FUNCTIONS = frozenset({"torch.isfinite", "torch.isnan", "torch.isinf", "math.isfinite",
                            "torch.cuda.synchronize"})
DYNAMIC = frozenset({"nonzero", "masked_select", "unique", "unique_consecutive", "bincount"})
# mindspore.set_context(device_target="GPU"), mindspore.set_device("GPU") (MindSpore 2.2, 2.5)
MINDSPORE_DEVICE = ("mindspore.set_context", "mindspore.context.set_context",
                    "mindspore.set_device")
EXTENSIONS = frozenset({"CUDAExtension", "load_inline"})


def parse(text: str) -> ast.Module | None:
    """The syntax tree, or None for a file that does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except CANNOT_PARSE:
        return None


def scan_tree(file: str, text: str, tree: ast.Module) -> list[Finding]:
    """Findings of a parsed file. Raises RecursionError for a tree that is too deep."""
    visitor = _Visitor(file, text)
    visitor.visit(tree)
    return visitor.findings


class _Visitor(Names, ast.NodeVisitor):
    def __init__(self, file: str, text: str) -> None:
        super().__init__()
        self.file, self.lines = file, text.split("\n")
        self.findings: list[Finding] = []
        self.loops = 0
        self.flow = Flow(self.full_name)
        self.torch_imported = False

    def add(self, node: ast.AST, check: str, note: str = "") -> None:
        line = getattr(node, "lineno", 1)
        snippet = self.lines[line - 1].strip()[:MAX_SNIPPET] if line <= len(self.lines) else ""
        self.findings.append(Finding(self.file, line, check, snippet, note))

    # imports

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.names[alias.asname or alias.name.split(".")[0]] = (
                alias.name if alias.asname else alias.name.split(".")[0])
            self._imported(node, alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        for alias in node.names:
            full = f"{module}.{alias.name}" if module else alias.name
            if not node.level:
                self.names[alias.asname or alias.name] = full
                self._named(node, full)
        if not node.level:
            names = [f"{module}.{alias.name}" for alias in node.names]
            self._imported(node, next((n for n in names if "megatron_adaptor" in n), module))

    def _imported(self, node: ast.AST, module: str) -> None:
        top = module.split(".", maxsplit=1)[0]
        if module.startswith("mindspeed.megatron_adaptor"):
            self.add(node, "adaptor")
            if not self.torch_imported:
                self.add(node, "adaptor_order")
        elif top in ("apex", "amp_C"):
            self.add(node, "apex", module)
        elif top == "torch":
            self.torch_imported = True
        known = next((n for n in LIBRARIES if module == n or module.startswith(f"{n}.")), None)
        if known:
            self.add(node, "library", f"{known} → {LIBRARIES[known]}")

    # names and calls

    def visit_Attribute(self, node: ast.Attribute) -> None:
        full = self.full_name(node)
        if not full:
            self.generic_visit(node)
            return
        self._named(node, full)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and "." in (full := self.names.get(node.id, "")):
            self._named(node, full)

    def _named(self, node: ast.AST, full: str) -> None:
        last = full.rsplit(".", 1)[-1]
        if _below(full, UNSUPPORTED_APIS):
            self.add(node, "unsupported_api", full)
        elif _below(full, CUDA_MODULES) and not isinstance(node, ast.ImportFrom):
            self.add(node, "cuda_call", full)
        elif full.startswith("torch._C."):
            self.add(node, "private_api", full)
        elif _below(full, ("torch.jit.script", "torch.jit.script_method")):
            self.add(node, "jit_script", full)
        elif full.startswith("torch.channels_last"):
            self.add(node, "channels_last", full)
        elif _below(full, DEPRECATED):
            self.add(node, "tensorflow_api", full)
        elif _below(full, GELU):
            self.add(node, "tensorflow_gelu", full)
        elif _below(full, HOROVOD):
            self.add(node, "horovod_api", full)
        elif full.startswith("acl.fv."):
            self.add(node, "vector_search", full)
        elif last in half_precision.COMPRESSING and not isinstance(node, ast.ImportFrom):
            self.add(node, "low_precision", full)
        elif last == "get_npu_device":
            self.add(node, "unknown_device_helper", full)
        elif last in EXTENSIONS and not isinstance(node, ast.ImportFrom):
            self.add(node, "cuda_extension", full)

    def visit_Call(self, node: ast.Call) -> None:
        full = self.full_name(node.func)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method == "cuda" and not full.startswith("torch.cuda"):
            self.add(node, "cuda_call", ".cuda()")
        if (method in DYNAMIC and not full.startswith(("np.", "numpy."))) or (
                full.startswith("torch.") and full.rsplit(".", 1)[-1] in DYNAMIC):
            self.add(node, "dynamic_shape", method or full)
        called = method or full.rsplit(".", 1)[-1]
        if half := half_precision.of_call(node, called, self.flow):
            self.add(node, half, method or full)
        if full in MINDSPORE_DEVICE and _names_gpu(node):
            self.add(node, "mindspore_device", "GPU")
        if full in data_loading.MASK_DECODERS:
            self.add(node, "mask_decode", full)
        if self.loops:
            self._in_loop(node, full, method)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        if half := half_precision.of_assignment(node, self.flow):
            self.add(node, half)
        self.flow.assign(node.targets, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.generic_visit(node)
        if node.value is not None:
            self.flow.assign([node.target], node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        self.generic_visit(node)
        self.flow.cast_in_place(node.value)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.MatMult) and half_precision.is_half_attention(
                node.left, self.flow):
            self.add(node, "low_precision", "@")
        self.generic_visit(node)

    def _in_loop(self, node: ast.Call, full: str, method: str) -> None:
        if method in SYNC_METHODS and not node.args:
            self.add(node, "host_sync", f".{method}()")
        elif full in SYNC_FUNCTIONS:
            self.add(node, "host_sync", full)
        elif full == "print" and any(_is_bare_loss(a) for a in node.args):
            self.add(node, "host_sync", "print(loss)")

    # strings

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        words = [c for side in sides for c in ast.walk(side) if _says_nccl(c)]
        if words:
            self.add(node, "nccl_logic")
        for side in sides:
            if not any(_says_nccl(c) for c in ast.walk(side)):
                self.visit(side)

    def visit_Constant(self, node: ast.Constant) -> None:
        if not isinstance(node.value, str):
            return
        if CUDA_DEVICE.match(node.value):
            self.add(node, "cuda_call", node.value[:40])
        elif _says_nccl(node):
            self.add(node, "nccl_backend")

    # blocks

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        for call in data_loading.loaders_of_epochs(node, self):
            self.add(call, "epoch_loader", "DataLoader")
        for part in (node.target, node.iter):
            self.visit(part)
        self._loop(node.body)
        for part in node.orelse:
            self.visit(part)

    visit_AsyncFor = visit_For  # noqa: N815

    def visit_While(self, node: ast.While) -> None:
        self._loop([node.test, *node.body])
        for part in node.orelse:
            self.visit(part)

    def _loop(self, parts) -> None:
        self.loops += 1
        for part in parts:
            self.visit(part)
        self.loops -= 1

    def visit_FunctionDef(self, node) -> None:
        if call := data_loading.collating_call(node):
            self.add(call, "host_collate", node.name)
        for call, name in data_loading.read_by_one_rank(node, self):
            self.add(call, "one_reader", name)
        outer, self.loops = self.loops, 0  # the body runs where it is called
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        flow = self.flow.inside(names)
        self.generic_visit(node)
        self.flow.leave(flow)
        self.loops = outer

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if node.name.lower().endswith("rmsnorm") and not _casts_up(node):
            self.add(node, "rms_norm", node.name)
        for call, name in data_loading.decoding_calls(node, self):
            self.add(call, "decoding_loader", name)
        outer = self.flow.inside([name for name in self.flow.known if name.startswith("self.")])
        self.generic_visit(node)
        self.flow.known = outer


def _below(name: str, roots) -> bool:
    return any(name == root or name.startswith(f"{root}.") for root in roots)


def _names_gpu(node: ast.Call) -> bool:
    given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "device_target")]
    return any(isinstance(value, ast.Constant) and value.value == "GPU" for value in given)


def _says_nccl(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and (
        node.value.lower() == "nccl")


def _is_bare_loss(node: ast.AST) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return isinstance(name, str) and "loss" in name.lower()


def _casts_up(node: ast.ClassDef) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr in ("float", "float32", "rms_norm",
                                                           "npu_rms_norm")
               for n in ast.walk(node))
