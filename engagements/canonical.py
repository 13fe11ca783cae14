"""One text of plain facts, and its checksum."""

import hashlib
import json
from typing import Any


def content_hash(snapshot: dict) -> str:
    """SHA-256 of the snapshot as canonical JSON (sorted keys, no spaces, UTF-8)."""
    return hashlib.sha256(canonical(snapshot).encode()).hexdigest()


def canonical(facts: Any) -> str:
    """The one JSON text of plain facts that checksums are made over."""
    return json.dumps(facts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
