"""Dotted names in a syntax tree, with imports resolved."""

import ast


class Names(ast.NodeVisitor):
    """Base of visitors that ask for full names: `np.x` after `import numpy as np` is `numpy.x`."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}  # local name → full dotted name

    def named_import(self, full: str) -> None:
        """Called for each module or name that is imported."""

    def full_name(self, node: ast.AST) -> str:
        """Dotted name of an attribute chain; empty for anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join([self.names.get(node.id, node.id), *reversed(parts)])

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            top = alias.name.split(".")[0]
            self.names[alias.asname or top] = alias.name if alias.asname else top
            self.named_import(alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names if not node.level else ():
            full = f"{node.module}.{alias.name}"
            self.names[alias.asname or alias.name] = full
            self.named_import(full)
