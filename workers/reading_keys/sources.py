"""Source texts of the readers as syntax trees: functions, and what they are called with."""

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

Function = ast.FunctionDef


@dataclass
class Module:
    """Functions, classes, constants and imports of one module."""

    functions: dict[str, Function] = field(default_factory=dict)
    methods: dict[str, dict[str, Function]] = field(default_factory=dict)
    constants: dict[str, ast.expr] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)  # name → module


@cache
def module_of(name: str) -> Module:
    """The parsed module of that dotted name."""
    found = Module()
    for node in ast.parse(inspect.getsource(sys.modules[name])).body:
        if isinstance(node, ast.FunctionDef):
            found.functions[node.name] = node
        elif isinstance(node, ast.ClassDef):
            found.methods[node.name] = {item.name: item for item in node.body
                                        if isinstance(item, ast.FunctionDef)}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.constants[node.targets[0].id] = node.value
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("toolreaders"):
            found.imports |= {alias.asname or alias.name: node.module for alias in node.names}
    return found


@dataclass(frozen=True)
class Place:
    """Where an expression stands: module, class of `self`, function, constant arguments."""

    module: str
    owner: type | None
    function: Function
    given: tuple[tuple[str, str], ...] = ()


Found = tuple[Function | None, Place | None]


def is_name(node: ast.AST, name: str) -> bool:
    """Whether the expression is just that name."""
    return isinstance(node, ast.Name) and node.id == name


def text_of(node: ast.AST, at: Place) -> str | None:
    """A constant text, also one put together from constant arguments."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    given = dict(at.given)
    if isinstance(node, ast.Name):
        return given.get(node.id)
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else
                 given.get(getattr(part.value, "id", "")) for part in node.values]
        return "".join(map(str, parts)) if None not in parts else None
    return None


def returned(function: Function) -> Iterator[ast.expr]:
    """What a function returns or yields."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
            yield node.value


def called(node: ast.Call, at: Place) -> Found:
    """The function of ours that is called, and where it stands."""
    if isinstance(node.func, ast.Attribute) and is_name(node.func.value, "self") and at.owner:
        return method(at.owner, node.func.attr)
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    module = module_of(at.module)
    home = at.module if name in module.functions else module.imports.get(name)
    function = module_of(home).functions.get(name) if home in sys.modules else None
    if function is None:
        return None, None
    names = [argument.arg for argument in function.args.args]
    constants = tuple((name, text) for name, value in zip(names, node.args, strict=False)
                      if (text := text_of(value, at)))
    return function, Place(home, None, function, constants)


def method(owner: type, name: str) -> Found:
    """The method of a class or its bases, and where it stands."""
    for base in owner.__mro__:
        known = module_of(base.__module__).methods if base.__module__.startswith(
            "toolreaders") else {}
        if function := known.get(base.__name__, {}).get(name):
            return function, Place(base.__module__, owner, function)
    return None, None
