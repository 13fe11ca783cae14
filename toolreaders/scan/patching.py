"""The automatic-migration patch as a unified diff for `patch -p1`."""

import ast
import difflib
import io
from collections.abc import Iterable
from pathlib import PurePosixPath

from toolreaders.scan.python_code import _says_nccl, parse

IMPORTS = ("import torch_npu", "from torch_npu.contrib import transfer_to_npu")


def migration_patch(sources: Iterable[tuple[str, bytes]]) -> str:
    """Import lines for entry scripts and hccl for nccl.

    An entry script imports torch and is imported by no other file. Files that import MindSpeed's
    adaptor or transfer_to_npu already, that do not parse or are not UTF-8 stay as they are.
    """
    parsed = {name: (text, tree) for name, text, tree in _readable(sources)}
    imported = {module for _text, tree in parsed.values() for module in _modules(tree)}
    parts = []
    for name, (text, tree) in sorted(parsed.items()):
        if set(_modules(tree)) & {"mindspeed.megatron_adaptor", "torch_npu.contrib"}:
            continue
        is_entry = PurePosixPath(name).stem not in imported
        parts += _diff(name, text, _changed(text, tree, is_entry))
    return "".join(parts)


def _readable(sources):
    for name, data in sources:
        if not name.endswith(".py") or any(c in name for c in "\n\t\""):
            continue
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        is_plain = "\r" not in text.replace("\r\n", "") and "\x0c" not in text
        if is_plain and (tree := parse(text)) is not None:
            yield name, text, tree


def _modules(tree: ast.Module) -> list[str]:
    """Modules and their last parts named by any import of the file."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [node.module or ""]
            found += [f"{node.module}.{a.name}" if node.module else a.name for a in node.names]
    return [n for name in found for n in (name, name.rsplit(".", 1)[-1])]


def _lines(text: str) -> list[str]:
    return list(io.StringIO(text, newline=""))


def _changed(text: str, tree: ast.Module, is_entry: bool) -> list[str]:
    lines = _lines(text)
    for node in ast.walk(tree):
        if _says_nccl(node) and node.lineno == node.end_lineno:
            row = lines[node.lineno - 1].encode()
            middle = row[node.col_offset:node.end_col_offset]
            middle = middle.replace(b"nccl", b"hccl").replace(b"NCCL", b"HCCL")
            lines[node.lineno - 1] = (
                row[:node.col_offset] + middle + row[node.end_col_offset:]).decode()
    place = _torch_import(tree) if is_entry else None
    if place:
        end = "\r\n" if lines[place - 1].endswith("\r\n") else "\n"
        if not lines[place - 1].endswith("\n"):
            lines[place - 1] += end
        lines[place:place] = [line + end for line in IMPORTS]
    return lines


def _torch_import(tree: ast.Module) -> int | None:
    """Last line of the first import of torch at the top level."""
    for node in tree.body:
        names = ([alias.name for alias in node.names] if isinstance(node, ast.Import)
                 else [node.module or ""] if isinstance(node, ast.ImportFrom) else [])
        if any(name.split(".")[0] == "torch" for name in names):
            return node.end_lineno
    return None


def _diff(name: str, text: str, changed: list[str]) -> list[str]:
    before = _lines(text)
    if before == changed:
        return []
    rows = difflib.unified_diff(before, changed, f"a/{name}", f"b/{name}")
    return [row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n"
            for row in rows]
