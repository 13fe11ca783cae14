"""Keys of an expression, followed through literals, names, unions and called functions."""

import ast
from collections.abc import Iterator

from toolreaders import Reader
from toolreaders.training.series import TrainingLogReader
from workers.reading_keys.sources import (
    Function,
    Place,
    called,
    is_name,
    method,
    module_of,
    returned,
    text_of,
)

HANDS_OVER = ("reading", "_reading")  # the latter: readers' own short forms of it


class Tracer:
    """Collects the keys of expressions; each function is entered once per arguments."""

    def __init__(self) -> None:
        self.entered: set = set()

    def keys(self, node: ast.AST | None, at: Place) -> Iterator[str]:
        if isinstance(node, ast.Dict):
            yield from self._of_dict(node, at)
        elif isinstance(node, ast.DictComp):
            yield from self._of_comprehension(node, at)
        elif isinstance(node, ast.BinOp):
            yield from self.keys(node.left, at)
            yield from self.keys(node.right, at)
        elif isinstance(node, ast.IfExp):
            yield from self.keys(node.body, at)
            yield from self.keys(node.orelse, at)
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                yield from self.keys(value, at)
        elif isinstance(node, ast.Name):
            yield from self._of_name(node.id, at)
        elif isinstance(node, ast.Call):
            yield from self._of_call(node, at, None)

    def _of_dict(self, node: ast.Dict, at: Place) -> Iterator[str]:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                yield from self.keys(value, at)
            elif name := text_of(key, at):
                yield name

    def _of_comprehension(self, node: ast.DictComp, at: Place) -> Iterator[str]:
        """Keys over a constant tuple or dict; others are made at run time."""
        source = node.generators[0].iter
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute):
            if source.func.attr == "items" and isinstance(node.key, ast.Name) and isinstance(
                    source.func.value, ast.Name):
                yield from self._of_name(source.func.value.id, at)
            return
        constant = module_of(at.module).constants.get(getattr(source, "id", ""), source)
        if isinstance(constant, ast.Tuple | ast.List) and isinstance(node.key, ast.Name):
            yield from (item.value for item in constant.elts if isinstance(item, ast.Constant)
                        and isinstance(item.value, str))

    def _of_name(self, name: str, at: Place) -> Iterator[str]:
        mark = (at.module, at.function.name, at.given, name)
        if mark in self.entered:
            return
        self.entered.add(mark)
        yield from self.keys(module_of(at.module).constants.get(name), at)
        for node in ast.walk(at.function):
            yield from self._assigned(node, name, at)

    def _assigned(self, node: ast.AST, name: str, at: Place) -> Iterator[str]:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                yield from self._target(target, node.value, name, at)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and (
                is_name(node.func.value, name)) and node.args:
            if node.func.attr == "update":
                yield from self.keys(node.args[0], at)
            elif node.func.attr == "setdefault" and (key := text_of(node.args[0], at)):
                yield key

    def _target(self, target, value, name: str, at: Place) -> Iterator[str]:
        if is_name(target, name):
            yield from self.keys(value, at)
        elif isinstance(target, ast.Subscript) and is_name(target.value, name):
            if key := text_of(target.slice, at):
                yield key
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Call):
            for index, part in enumerate(target.elts):
                if is_name(part, name):
                    yield from self._of_call(value, at, index)

    def _of_call(self, node: ast.Call, at: Place, index: int | None) -> Iterator[str]:
        for wrapped in ("dict", "cast"):  # dict(values), dict(a=1)
            if isinstance(node.func, ast.Name) and node.func.id == wrapped:
                for part in (*node.args, *(k.value for k in node.keywords if k.arg is None)):
                    yield from self.keys(part, at)
                yield from (k.arg for k in node.keywords if k.arg)
                return
        function, place = called(node, at)
        if function is None:
            if isinstance(node.func, ast.Name):  # without_none({…}), json_safe({…})
                for part in node.args:
                    yield from self.keys(part, at)
            return
        mark = (place.module, function.name, place.given, index)
        if mark in self.entered:
            return
        self.entered.add(mark)
        for part in node.args:  # a function may return what it was given, with less or more
            if isinstance(part, ast.Dict):
                yield from self.keys(part, at)
        for found in returned(function):
            part = found.elts[index] if index is not None and isinstance(
                found, ast.Tuple) else found
            yield from self.keys(part, place)


def keys_of(reader: Reader) -> set[str]:
    """Top-level keys of `values` that the reader may give."""
    owner, found = type(reader), set(reader.more_keys)
    for name in ("read", "series"):
        for function, place in _reached(owner, name):
            for node in ast.walk(function):
                found |= set(_handed_over(node, place))
    if isinstance(reader, TrainingLogReader):
        function = module_of("toolreaders.training.series").functions["series_values"]
        place = Place("toolreaders.training.series", None, function)
        for value in returned(function):
            found |= set(Tracer().keys(value, place))
    return found


def _reached(owner: type, name: str) -> Iterator[tuple[Function, Place]]:
    """A method of the class and the methods of `self` that it calls."""
    waiting, seen = [name], set()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        function, place = method(owner, current)
        if function is None or place is None:
            continue
        yield function, place
        waiting += [node.func.attr for node in ast.walk(function) if isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute) and is_name(node.func.value, "self")]


def _handed_over(node: ast.AST, place: Place) -> Iterator[str]:
    """Keys of what goes into `self.reading(…)`, or as `extras` into a loss series."""
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Attribute) and node.func.attr in HANDS_OVER and node.args:
        yield from Tracer().keys(node.args[0], place)
    for keyword in node.keywords:
        if keyword.arg == "extras":
            yield from Tracer().keys(keyword.value, place)
