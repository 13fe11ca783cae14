"""Canonical JSON and its SHA-256: the form in which facts are hashed, sealed and signed.

The form has a version, so that what was sealed under one can be checked after a newer one came.
Version 1: keys sorted, no blanks between parts, non-ASCII characters as they are, UTF-8.
Version 0: the same with a blank behind every comma and colon. Rows of quotes, change requests,
timesheets, weekly reports, waivers, criteria and baseline sheets hold hashes of it, minutes print
one; they stay with it.
"""

import hashlib
import json
from collections.abc import Callable
from typing import Any

CURRENT_VERSION, SPACED = 1, 0
ENCODERS: dict[int, Callable[[Any], str]] = {
    SPACED: lambda facts: json.dumps(facts, ensure_ascii=False, sort_keys=True),
    1: lambda facts: json.dumps(facts, ensure_ascii=False, sort_keys=True, separators=(",", ":")),
}


def canonical(facts: Any, version: int = CURRENT_VERSION) -> str:
    """The one text of JSON-able facts. Raises KeyError for a version that does not exist."""
    return ENCODERS[version](facts)


def content_hash(facts: Any, version: int = CURRENT_VERSION) -> str:
    """SHA-256 of the text's UTF-8 bytes, as 64 hexadecimal digits.

    A lone surrogate, which UTF-8 does not know, is hashed as its three bytes would be.
    """
    return hashlib.sha256(canonical(facts, version).encode(errors="surrogatepass")).hexdigest()
