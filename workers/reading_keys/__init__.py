"""Which keys each reader's values have, read from the readers' own source text.

Follows the expression handed to ``self.reading(…)``. Keys that are made at run time (names of
metrics, of files) are not listed; a reader names what cannot be followed in its `more_keys`.
"""

from toolreaders import Reader, load_readers
from workers.reading_keys.tracing import keys_of

__all__ = ["as_markdown", "keys_of", "table"]


def table() -> list[tuple[str, list[Reader]]]:
    """(kind, its readers), both in alphabetical order."""
    kinds: dict[str, list[Reader]] = {}
    for reader in load_readers():
        kinds.setdefault(reader.kind, []).append(reader)
    return sorted(kinds.items())


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
"""


def as_markdown() -> str:
    """The whole of docs/reading-keys.md."""
    return HEAD + "".join(_of_kind(kind, readers) for kind, readers in table())


def _of_kind(kind: str, readers: list[Reader]) -> str:
    every = [keys_of(reader) for reader in readers]
    shared = set.intersection(*every)
    common = [f"Every reader: {_listed(shared)}.\n\n"] if shared and len(every) > 1 else []
    rows = [f"| `{reader.name}` | {reader.version} | {reader.tool or ''} | "
            f"{_listed(keys - shared if common else keys)} |\n"
            for reader, keys in zip(readers, every, strict=True)]
    return "".join([f"\n## {kind}\n\n", *common,
                    "| Reader | Version | Tool | Keys |\n|---|---|---|---|\n", *rows])


def _listed(keys: set[str]) -> str:
    return ", ".join(f"`{key}`" for key in sorted(keys))
