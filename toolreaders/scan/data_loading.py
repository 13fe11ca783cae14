"""Data loading that burdens the host (seed S0, “IO optimisation”)."""

import ast
from collections.abc import Iterator

from toolreaders.scan.name_resolution import Names

DECODERS = frozenset({
    "PIL.Image.open", "cv2.imread", "cv2.VideoCapture", "imageio.imread", "imageio.v2.imread",
    "torchvision.io.read_image", "torchvision.io.read_video", "torchaudio.load", "librosa.load",
    "soundfile.read", "decord.VideoReader", "gzip.open", "json.loads", "pandas.read_csv",
})
PER_SAMPLE = frozenset({"permute", "transpose", "normalize", "div", "div_", "sub", "sub_",
                        "to_tensor", "ToTensor"})
# Reading the data, not a checkpoint: that one rank may well read and hand on.
READERS = frozenset({
    "numpy.load", "pandas.read_csv", "pandas.read_parquet", "pandas.read_json", "h5py.File",
    "datasets.load_dataset", "datasets.load_from_disk", "json.load", "pickle.load", *DECODERS})
HANDING_ON = frozenset(f"torch.distributed.{name}" for name in (
    "broadcast", "broadcast_object_list", "scatter", "scatter_object_list"))
MASK_DECODERS = frozenset({"pycocotools.mask.decode"})
LOADER = "torch.utils.data.DataLoader"
LOOPS = (ast.For, ast.ListComp, ast.GeneratorExp)


def decoding_calls(node: ast.ClassDef, names: Names) -> Iterator[tuple[ast.Call, str]]:
    """Calls of a data set's `__getitem__` that decode a file: (call, full name)."""
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name == "__getitem__":
            for inner in ast.walk(part):
                if isinstance(inner, ast.Call) and names.full_name(inner.func) in DECODERS:
                    yield inner, names.full_name(inner.func)


def collating_call(node: ast.FunctionDef) -> ast.Call | None:
    """The first call of a collate function that works on one sample after the other."""
    if "collate" not in node.name.lower():
        return None
    for loop in ast.walk(node):
        if isinstance(loop, LOOPS):
            for inner in ast.walk(loop):
                if isinstance(inner, ast.Call) and _name(inner.func) in PER_SAMPLE:
                    return inner
    return None


def loaders_of_epochs(node: ast.For, names: Names) -> Iterator[ast.Call]:
    """Loaders that a loop over epochs makes anew: their workers start in every epoch."""
    if not any("epoch" in _name(part).lower() for part in ast.walk(node.target)):
        return
    for part in node.body:
        for inner in ast.walk(part):
            if isinstance(inner, ast.Call) and names.full_name(inner.func) in (
                    LOADER, "torch.utils.data.dataloader.DataLoader"):
                yield inner


def read_by_one_rank(node: ast.FunctionDef, names: Names) -> Iterator[tuple[ast.Call, str]]:
    """Reads of data under a condition on rank 0, in a function that hands them on to the others."""
    calls = [(part, names.full_name(part.func)) for part in ast.walk(node)
             if isinstance(part, ast.Call)]
    if not any(name in HANDING_ON for _call, name in calls):
        return
    inside = {id(part) for condition in ast.walk(node)
              if isinstance(condition, ast.If) and _asks_rank_zero(condition.test)
              for line in condition.body for part in ast.walk(line)}
    yield from ((call, name) for call, name in calls if name in READERS and id(call) in inside)


def _asks_rank_zero(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq) and any(
        isinstance(side, ast.Constant) and side.value == 0
        for side in (test.left, *test.comparators)) and any(
        "rank" in _name(part).lower() for part in ast.walk(test))


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
