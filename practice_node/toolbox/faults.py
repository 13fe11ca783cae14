"""What shall fail, as asked for in the variable PRACTICE_FAULT or in ~/.practice/faults.json."""

import json
import os


def fault(name):
    """The value of a fault, or None. PRACTICE_FAULT is a list like `nan_loss:20,slow`."""
    asked = from_variable()
    return asked[name] if name in asked else from_file().get(name)


def from_variable():
    asked = {}
    for word in os.environ.get("PRACTICE_FAULT", "").replace(",", " ").split():
        name, _colon, value = word.partition(":")
        asked[name] = int(value) if value.isdigit() else True
    return asked


def from_file():
    path = os.path.join(os.environ.get("HOME", "."), ".practice", "faults.json")
    try:
        with open(path) as stream:
            asked = json.load(stream)
    except (OSError, ValueError):
        return {}
    return asked if isinstance(asked, dict) else {}
