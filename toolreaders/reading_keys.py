"""docs/reading-keys.md: the keys of the values by kind, from the types beside the readers."""

import importlib
import re
import sys
from typing import is_typeddict

from toolreaders.base import FORMATS, load_readers

HEAD = """# Keys of the readings

Made by `python manage.py regenerate`; a test says when it is old.

`read --json` gives `values` with these keys at the top level. A key may be absent or null where
the file does not tell. Keys may be added with a reader's next version, they are never renamed. Keys
whose names come from the file itself (metrics, packages, operators) stand one level below. `lines`
holds the line of the file on which a value stands.

Units stand at the end of a name: `_ms`, `_us`, `_s` time; `_bytes`, `_kb`, `_mb` memory, in steps
of 1,024; `_per_second` rates; `_percent` of 100. `improvement`, `reduction`, `relative` and
efficiencies are fractions; `scale` says whether scores are fractions or per cent. Losses, gradient
norms and counts have no unit.

`parts` beside `values` lists what else the file holds: `kind`, `reader`, `first_line`, `last_line`,
and `values` as that kind has them, or an `error` with code and message.

A `Number` that is not finite is one of the texts "nan", "inf", "-inf"; a `Record` has keys of its
own. `python -m toolreaders read FILE --json` shows which keys a file has.
"""


def values_types() -> dict[str, type]:
    """The type of the values by kind: a TypedDict. Kinds that other packages bring are not here."""
    modules = (importlib.import_module(f"toolreaders.{name}.values") for name in FORMATS)
    return dict(sorted(pair for module in modules for pair in module.KINDS.items()))


def as_markdown() -> str:
    """The whole of docs/reading-keys.md."""
    parts: dict[str, type] = {}
    kinds = [_of_kind(kind, values, parts) for kind, values in values_types().items()]
    named = [f"\n### {name}\n\n{part.__doc__}\n\n{_keys(part, parts)}"
             for name, part in parts.items()]
    return "".join([HEAD, *kinds, "\n## Parts\n", *named])


def _of_kind(kind: str, values: type, parts: dict[str, type]) -> str:
    rows = [f"| `{reader.name}` | {reader.version} | {reader.tool or ''} |\n"
            for reader in load_readers() if reader.kind == kind]
    return "".join([f"\n## {kind}\n\n{values.__doc__}\n\n{_keys(values, parts)}\n",
                    "| Reader | Version | Tool |\n|---|---|---|\n", *rows])


def _keys(values: type, parts: dict[str, type]) -> str:
    """The table of a type's keys; types of its module that they name are added to ``parts``."""
    rows = []
    for key, annotation in values.__annotations__.items():
        text = annotation.__forward_arg__
        for name in re.findall(r"\w+", text):
            if is_typeddict(part := getattr(sys.modules[values.__module__], name, None)):
                parts[name] = part
        rows.append(f"| `{key}` | {text.replace(' | ', ' or ')} |\n")
    return "".join(["| Key | Value |\n|---|---|\n", *rows])
