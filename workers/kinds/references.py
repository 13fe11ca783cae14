"""References: how a parameter names a file or folder that lies elsewhere than on the job's node.

`desk:file/12` a stored file; `desk:job/34` or `desk:job/34/dump/step0` stored files of a job;
`desk:work/34/…` what lies in a job's folder on its node, collected or not; `desk:node/5/data/x`
the path /data/x of a node. They stand in path parameters and as words of a command line; before
the start each is brought to the node, or found there, and replaced by its path.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workers.kinds.base import JobKind

FORM = re.compile(r"desk:(?P<kind>file|job|work|node)/(?P<key>\d{1,12})(?P<path>(?:/[^/]+)*)/?")
PREFIX = "desk:"


@dataclass(frozen=True)
class Reference:
    """What lies elsewhere. `path` has no slash at its ends; of a node it is meant from / on."""

    kind: str
    key: int
    path: str = ""

    def __str__(self) -> str:
        return f"{PREFIX}{self.kind}/{self.key}" + (f"/{self.path}" if self.path else "")


def reference_of(text: Any) -> Reference | None:
    """The reference that a text is; None for every other text."""
    found = FORM.fullmatch(text) if isinstance(text, str) else None
    if not found or ".." in found["path"].split("/") or not found["path"].isprintable():
        return None
    return Reference(found["kind"], int(found["key"]), found["path"].strip("/"))


def references_in(kind: "JobKind", values: Mapping[str, Any]) -> dict[str, Reference]:
    """The references of a kind's values by slot: the parameter's name, for words with a number."""
    found = {slot: reference_of(text) for slot, text in _texts(kind, values)}
    return {slot: reference for slot, reference in found.items() if reference}


def with_paths(kind: "JobKind", values: Mapping[str, Any], paths: Mapping[str, str]
               ) -> dict[str, Any]:
    """The values with paths of the node in place of references, by slot."""
    placed = dict(values)
    for parameter in kind.parameters:
        name, value = parameter.name, values.get(parameter.name)
        if parameter.type == "words" and isinstance(value, list):
            placed[name] = [paths.get(f"{name}-{n}", word) for n, word in enumerate(value, 1)]
        elif name in paths:
            placed[name] = paths[name]
    return placed


def _texts(kind: "JobKind", values: Mapping[str, Any]):
    for parameter in kind.parameters:
        value = values.get(parameter.name)
        if parameter.type == "path":
            yield parameter.name, value
        elif parameter.type == "words" and isinstance(value, list):
            for number, word in enumerate(value, 1):
                yield f"{parameter.name}-{number}", word
