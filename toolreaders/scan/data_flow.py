"""What is known of a value by the assignments before it: its data type, and where it comes from.

Marks of a value: `half`, `softmax` (probabilities, also behind dropout, masks and views), and
`made:Linear` for what a constructor returned. A mark is lost where a value is computed in a way
that is not followed: parameters of functions, containers, what autocast decides at run time.
"""

import ast
from collections.abc import Callable, Iterable

Marks = frozenset[str]
NONE: Marks = frozenset()
HALF_MARK, SOFTMAX = frozenset({"half"}), frozenset({"softmax"})
HALF = frozenset({"half", "bfloat16", "float16"})
FULL = frozenset({"float", "float32", "double", "float64"})
CASTS = frozenset({"to", "type", "type_as", "astype"})
PRODUCTS = frozenset({"matmul", "bmm", "einsum", "mm", "baddbmm"})
# Methods that return the values they were called on, and attributes that do.
SAME = frozenset({
    "view", "reshape", "transpose", "permute", "contiguous", "clone", "detach", "masked_fill",
    "unsqueeze", "squeeze", "expand", "flatten", "cuda", "npu", "cpu", "eval", "train",
    "requires_grad_", "T", "mT", "data", "grad"})


class Flow:
    """Marks by name, within one function; `self.x` is known in all methods of its class.

    Args:
        full_name: dotted name of a call or attribute, with imports resolved.
    """

    def __init__(self, full_name: Callable[[ast.AST], str]) -> None:
        self.full_name = full_name
        self.known: dict[str, Marks] = {}
        self._found: dict[int, Marks] = {}  # by expression, until something is assigned

    def inside(self, parameters: Iterable[str]) -> dict[str, Marks]:
        """Enter a function: its parameters are not known. Returns what to restore at its end."""
        outer = self.known
        self._found = {}
        self.known = {name: marks for name, marks in outer.items() if name not in set(parameters)}
        return outer

    def leave(self, outer: dict[str, Marks]) -> None:
        own = {name: marks for name, marks in self.known.items() if name.startswith("self.")}
        self.known, self._found = {**outer, **own}, {}

    def assign(self, targets: Iterable[ast.AST], value: ast.AST) -> None:
        marks = self.of(value)
        for target in targets:
            for name in [target] if dotted(target) else ast.walk(target):
                if text := dotted(name):
                    self.known[text] = marks if name is target else NONE
        self._found = {}

    def cast_in_place(self, node: ast.AST) -> None:
        """`layer.half()` as a statement changes the layer itself."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = dotted(node.func.value)
            if name and any(mark.startswith("made:") for mark in self.known.get(name, ())):
                self.known[name] = self.of(node)
                self._found = {}

    def is_known(self, node: ast.AST) -> bool:
        return dotted(node) in self.known

    def made(self, node: ast.AST) -> str:
        """The constructor that made a layer: Embedding, Linear; empty where it is not known."""
        return next((mark[5:] for mark in self.of(node) if mark.startswith("made:")), "")

    def of(self, node: ast.AST) -> Marks:
        """The marks of an expression."""
        if id(node) not in self._found:
            self._found[id(node)] = self._of(node)
        return self._found[id(node)]

    def _of(self, node: ast.AST) -> Marks:
        if (text := dotted(node)) in self.known:
            return self.known[text]
        if isinstance(node, ast.Attribute):
            if node.attr in HALF and self.full_name(node).startswith(("torch.", "np.", "numpy.")):
                return HALF_MARK
            return self.of(node.value) if node.attr in SAME else (
                self.of(node.value) & HALF_MARK if node.attr == "dtype" else NONE)
        if isinstance(node, ast.Subscript):
            return self.of(node.value)
        if isinstance(node, ast.BinOp):
            return self._of_operation(node)
        return self._of_call(node) if isinstance(node, ast.Call) else NONE

    def _of_operation(self, node: ast.BinOp) -> Marks:
        sides = [self.of(side) for side in (node.left, node.right)
                 if not isinstance(side, ast.Constant)]
        if isinstance(node.op, ast.MatMult) or not sides:
            return _product(sides)
        return _product(sides) | (SOFTMAX & frozenset().union(*sides))

    def _of_call(self, node: ast.Call) -> Marks:
        name = last_name(node.func)
        if isinstance(node.func, ast.Attribute) and (
                name in CASTS | SAME or (name in HALF | FULL and not node.args)):
            return self._of_method(node, name, self.of(node.func.value))
        if "dropout" in name.lower() and node.args and not name[:1].isupper():
            return self.of(node.args[0])
        if name in PRODUCTS:
            return _product([self.of(part) for part in operands(node)
                             if not isinstance(part, ast.Constant)])
        half = HALF_MARK if self.takes_half(node) else NONE
        if name in ("softmax", "log_softmax") or self.made(node.func) == "Softmax":
            return SOFTMAX | half
        if name[:1].isupper():
            return half | {f"made:{name}"}
        return self.of(node.func) & HALF_MARK if self.made(node.func) else NONE

    def _of_method(self, node: ast.Call, name: str, own: Marks) -> Marks:
        """Casts, and methods that return what they were called on."""
        if name in CASTS:
            return self._cast(own, [*node.args, *(keyword.value for keyword in node.keywords)])
        if name in HALF:
            return own | HALF_MARK
        return own - HALF_MARK if name in FULL else own

    def _cast(self, own: Marks, given: list[ast.AST]) -> Marks:
        if any(self.of(part) >= HALF_MARK for part in given):
            return own | HALF_MARK
        is_full = any(last_name(part) in FULL for part in given)
        return own - HALF_MARK if is_full else own

    def takes_half(self, node: ast.Call) -> bool:
        """Whether a call computes in half: by its dtype where it names one, else by its inputs."""
        asked = next((k.value for k in node.keywords if k.arg == "dtype"), None)
        if asked is not None:
            return self.of(asked) >= HALF_MARK
        return any(self.of(part) >= HALF_MARK for part in (
            *operands(node), *(keyword.value for keyword in node.keywords)))


def operands(node: ast.Call) -> list[ast.AST]:
    """What a call is given: the tensor whose method it is, and its positional arguments."""
    own = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    return [*own, *node.args]


def dotted(node: ast.AST) -> str:
    """`x` or `self.x`; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    return f"self.{node.attr}" if is_own and node.value.id == "self" else ""


def last_name(node: ast.AST) -> str:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name if isinstance(name, str) else ""


def _product(sides: list[Marks]) -> Marks:
    return HALF_MARK if sides and all(side >= HALF_MARK for side in sides) else NONE
