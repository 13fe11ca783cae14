"""References: how a parameter names a file or folder that lies elsewhere than on the job's node.

`desk:file/12` a stored file; `desk:job/34` or `desk:job/34/dump/step0` stored files of a job;
`desk:work/34/…` what lies in a job's folder on its node, collected or not; `desk:node/5/data/x`
the path /data/x of a node. They stand in path parameters and as words of a command line; before
the start each is brought to the node, or found there, and replaced by its path.
"""

import re
from dataclasses import dataclass
from typing import Any

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
