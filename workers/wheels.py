"""Pure Python packages as wheels (packaging.python.org, “Binary distribution format”)."""

import base64
import hashlib
import zipfile
from collections.abc import Iterable
from pathlib import Path


def wheel_name(name: str, version: str) -> str:
    """The file name of a wheel for any system."""
    return f"{name}-{version}-py3-none-any.whl"


def write_wheel(
    out: Path, folder: Path, *, name: str, version: str, script: str,
    requirements: Iterable[str] = (),
) -> None:
    """Write what the folder holds as a wheel; `script` is its command, “name = module:function”."""
    metadata = [
        "Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", "Requires-Python: >=3.11",
        *(f"Requires-Dist: {need}" for need in requirements)]
    about = f"{name}-{version}.dist-info"
    contents = {path.relative_to(folder).as_posix(): path.read_bytes()
                for path in sorted(folder.rglob("*")) if path.is_file()}
    contents |= {
        f"{about}/METADATA": _lines(metadata),
        f"{about}/WHEEL": _lines(["Wheel-Version: 1.0", "Generator: Delivery Desk",
                                  "Root-Is-Purelib: true", "Tag: py3-none-any"]),
        f"{about}/entry_points.txt": _lines(["[console_scripts]", script])}
    record = f"{about}/RECORD"
    rows = [f"{path},sha256={_digest(content)},{len(content)}"
            for path, content in contents.items()]
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in contents.items():
            wheel.writestr(path, content)
        wheel.writestr(record, _lines([*rows, f"{record},,"]))


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
