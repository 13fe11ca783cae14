"""Sample files for the readers' tests.

``tests/samples`` holds small genuine outputs. The whole set is used when DESK_SAMPLES names its
folder; without it those test files are not collected.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "samples"
collect_ignore_glob = [] if os.environ.get("DESK_SAMPLES") else ["test_all_*.py"]


@pytest.fixture
def sample() -> Callable[[str], Path]:
    """``sample("training/x.log")``: a genuine file."""
    return lambda name: SAMPLES / name


@pytest.fixture
def written(tmp_path) -> Callable[..., Path]:
    """``written(text_or_bytes)``: a file without a telling name."""

    def write(content: str | bytes, name: str = "file") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
