"""Lines of settings in a JSON file."""

import re
from collections.abc import Iterable


def key_lines(text: str, keys: Iterable[str]) -> dict[str, int]:
    """The line on which each key stands for the first time; absent keys are left out."""
    found = {key: re.search(rf'"{re.escape(key)}"\s*:', text) for key in keys}
    return {key: text.count("\n", 0, hit.start()) + 1 for key, hit in found.items() if hit}
