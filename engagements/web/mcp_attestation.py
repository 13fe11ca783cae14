"""What the MCP server over HTTP brings instead of an agent's key, which goes no further than there.

`mcp.HASH.SECONDS.SIGNATURE`: the key's hash, when it was signed, and an HMAC (SHA-256) of both
under the secret that portal and MCP server share.
"""

import hashlib
import hmac
import time

from django.conf import settings

PREFIX = "mcp"
VALID_SECONDS = 60


def attested_hash(words: str) -> str:
    """The hash of the key that the MCP server has seen within a minute; empty for anything else."""
    prefix, *rest = words.split(".")
    if prefix != PREFIX or len(rest) != 3 or not settings.MCP_SECRET:
        return ""
    key_hash, seconds, signature = rest
    wanted = hmac.new(settings.MCP_SECRET.encode(), f"{key_hash}.{seconds}".encode(),
                      hashlib.sha256).hexdigest()
    is_fresh = seconds.isdecimal() and abs(time.time() - int(seconds)) <= VALID_SECONDS
    return key_hash if is_fresh and hmac.compare_digest(wanted.encode(), signature.encode()) else ""
