"""Settings a source makes by itself: seeds, profiler, loaders, garbage collection, memory.

Only constants are read; what is computed at run time is not known. Facts of DOMAIN 5.3 to 5.5.
"""

import ast
from typing import Any

from toolreaders.scan.name_resolution import Names

SEEDS = {
    "torch.manual_seed": ("torch",), "torch.cuda.manual_seed_all": ("torch",),
    "torch_npu.npu.manual_seed_all": ("torch",), "torch.npu.manual_seed_all": ("torch",),
    "numpy.random.seed": ("numpy",), "random.seed": ("random",),
    "transformers.set_seed": ("torch", "numpy", "random"),
    "accelerate.utils.set_seed": ("torch", "numpy", "random"),
    "msprobe.pytorch.seed_all": ("torch", "numpy", "random"),
}
SCHEDULE = ("wait", "warmup", "active", "repeat")


# Batches padded to their longest sentence, and what groups sentences of like length.
PADDING = frozenset({"pad_sequence", "DataCollatorWithPadding", "DataCollatorForSeq2Seq"})
BUCKETS = ("bucket", "lengthgrouped", "sortish")
# Interfaces of pyACL's media processing, versions 1 and 2, and where their memory comes from.
MEDIA = ("acl.media.", "acl.himpi.")
MEDIA_MEMORY = ("acl.media.dvpp_malloc", "acl.himpi.dvpp_malloc", "acl.rt.malloc")
MEDIA_SCENES = {"vdec": "VDEC", "jpeg_decode": "JPEGD", "jpegd": "JPEGD"}
ADDING_UP = ("seeds", "media_scenes", "media_memory")
FOUND_ANYWHERE = ("uses_dataloader", "has_prefetch", "has_length_buckets")


class SettingsVisitor(Names, ast.NodeVisitor):
    """Collects into `found`: fact → (value, line)."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, tuple[Any, int]] = {}
        self.imported: set[str] = set()

    def keep(self, name: str, value: Any, node: ast.AST) -> None:
        self.found.setdefault(name, (value, node.lineno))

    def named_import(self, full: str) -> None:
        self.imported.add(full.split(".", 1)[0])

    def visit_Call(self, node: ast.Call) -> None:
        full = self.full_name(node.func)
        last = full.rsplit(".", 1)[-1]
        for seed in SEEDS.get(full, ()):
            self._seed(seed, node)
        if last == "DataLoader":
            self._loader(node)
        elif last == "set_compile_mode" and full.startswith(("torch.npu.", "torch_npu.")):
            self._compile_mode(node)
        elif last == "schedule" and "profiler" in full:
            self._schedule(node)
        elif last == "set_per_process_memory_fraction" and node.args:
            self.keep("memory_fraction", _constant(node.args[0]), node)
        elif full == "gc.set_threshold":
            self.keep("gc_threshold", [_constant(a) for a in node.args], node)
        elif full == "gc.disable":
            self.keep("gc_threshold", [0], node)
        elif full == "acl.init":
            self.found["acl_init_calls"] = (self.found.get("acl_init_calls", (0, 0))[0] + 1,
                                            node.lineno)
        self._media(full, node)
        self._batches(last, node)
        self.generic_visit(node)

    def _media(self, full: str, node: ast.Call) -> None:
        """VDEC and JPEGD scenes, and the calls that allocate memory of the device."""
        if full.startswith(MEDIA):
            self.keep("is_dvpp_chained", True, node)
            for part, scene in MEDIA_SCENES.items():
                if part in full:
                    self._add("media_scenes", scene, node)
        if full in MEDIA_MEMORY:
            self._add("media_memory", full, node)

    def _batches(self, last: str, node: ast.Call) -> None:
        """Prefetching, padding and grouping by length."""
        given = {keyword.arg: _constant(keyword.value) for keyword in node.keywords}
        if "prefetch" in last.lower() or "prefetch_factor" in given:
            self.keep("has_prefetch", True, node)
        if last in PADDING or given.get("padding") in (True, "longest"):
            self.keep("pads_batches", True, node)
        if any(word in last.lower() for word in BUCKETS) or "batch_sampler" in given or (
                given.get("group_by_length") is True):
            self.keep("has_length_buckets", True, node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if "prefetch" in node.name.lower():
            self.keep("has_prefetch", True, node)
        self.generic_visit(node)

    def _seed(self, seed: str, node: ast.AST) -> None:
        self._add("seeds", seed, node)

    def _add(self, fact: str, value: str, node: ast.AST) -> None:
        """One more entry of a fact that is a list."""
        known, line = self.found.get(fact, ([], node.lineno))
        self.found[fact] = (sorted({*known, value}), line)

    def _loader(self, node: ast.Call) -> None:
        self.keep("uses_dataloader", True, node)
        given = {keyword.arg: _constant(keyword.value) for keyword in node.keywords}
        if {"worker_init_fn", "generator"} & set(given):
            self._seed("loader", node)
        for name in ("num_workers", "pin_memory", "persistent_workers"):
            if given.get(name) is not None:
                self.keep(name, given[name], node)

    def _compile_mode(self, node: ast.Call) -> None:
        given = {keyword.arg: _constant(keyword.value) for keyword in node.keywords}
        if isinstance(given.get("jit_compile"), bool):
            self.keep("jit_compile", given["jit_compile"], node)

    def _schedule(self, node: ast.Call) -> None:
        given = {keyword.arg: _constant(keyword.value) for keyword in node.keywords}
        steps = {name: given.get(name, 0) for name in SCHEDULE}
        if all(isinstance(value, int) for value in steps.values()):
            self.keep("profiler", steps, node)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        value = _constant(node.value)
        if isinstance(value, int) and any("align" in name.lower() for name in names):
            self.keep("memory_alignment", value, node)
        self.generic_visit(node)


def _constant(node: ast.AST) -> Any:
    return node.value if isinstance(node, ast.Constant) else None


def settings_of(tree: ast.Module) -> dict[str, tuple[Any, int]]:
    """Facts of one file with their lines. Raises RecursionError for a tree that is too deep."""
    visitor = SettingsVisitor()
    visitor.visit(tree)
    found = {name: pair for name, pair in visitor.found.items() if pair[0] is not None}
    if "acl" not in visitor.imported:  # an alignment of memory only concerns the media APIs
        found.pop("memory_alignment", None)
    if "torch" in visitor.imported:  # then what is absent is known to be absent
        found.setdefault("seeds", ([], 1))
        for name in FOUND_ANYWHERE:
            found.setdefault(name, (False, 1))
    if "media_scenes" in found:
        found.setdefault("media_memory", ([], found["media_scenes"][1]))
    return found


def merged(files: dict[str, dict[str, tuple[Any, int]]]) -> dict[str, dict]:
    """Settings of a project: {fact: {"value", "file", "line"}}; lists add up over its files."""
    result: dict[str, dict] = {}
    for file, found in files.items():
        for name, (value, line) in found.items():
            known = result.get(name)
            place = {"value": value, "file": file, "line": line}
            if known is None or (name in FOUND_ANYWHERE and value):
                result[name] = place
            elif name in ADDING_UP:
                better = place if len(value) > len(known["value"]) else known
                result[name] = {**better, "value": sorted({*known["value"], *value})}
            elif name == "acl_init_calls" and value > known["value"]:
                result[name] = place
    return result
