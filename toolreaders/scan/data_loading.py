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


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
