"""Names of raw files in evidence bundles: documents print them, bundles are written with them."""

import re
from pathlib import PurePosixPath


def raw_name(name: str, sha256: str) -> str:
    """raw/<first digits of the checksum>-<file name in plain letters>."""
    return f"raw/{plain_name(name, sha256)}"


def plain_name(name: str, sha256: str) -> str:
    """The name in plain letters behind the first digits of the checksum."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", PurePosixPath(name.replace("\\", "/")).name)
    return f"{sha256[:16]}-{plain.strip('._-')[-80:] or 'file'}"
