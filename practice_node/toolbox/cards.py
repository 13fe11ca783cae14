"""Which practice cards are in use: a note per running process, read by the npu-smi stand-in.

As with real ones, a process that uses a card holds its device file open.
"""

import contextlib
import json
import os

COUNT = 8


def _folder(name="running"):
    return os.path.join(os.environ.get("HOME", "."), ".practice", name)


def visible():
    """The cards this process may use, as CANN reads ASCEND_RT_VISIBLE_DEVICES."""
    words = os.environ.get("ASCEND_RT_VISIBLE_DEVICES", "").split(",")
    return [int(w) for w in words if w.strip().isdigit()] or list(range(COUNT))


@contextlib.contextmanager
def occupied(numbers, megabytes):
    """Note this process on the cards while the block runs."""
    os.makedirs(_folder(), exist_ok=True)
    path = os.path.join(_folder(), f"{os.getpid()}.json")
    with open(path, "w") as stream:
        json.dump({"pid": os.getpid(), "cards": numbers, "megabytes": megabytes}, stream)
    try:
        os.makedirs(_folder("dev"), exist_ok=True)
        with contextlib.ExitStack() as stack:
            for number in numbers:
                stack.enter_context(open(os.path.join(_folder("dev"), f"davinci{number}"), "a"))
            yield
    finally:
        os.unlink(path)


def processes():
    """Card -> (pid, megabytes) of what runs now; notes of dead processes are removed."""
    found = {}
    for name in sorted(os.listdir(_folder())) if os.path.isdir(_folder()) else []:
        path = os.path.join(_folder(), name)
        try:
            with open(path) as stream:
                note = json.load(stream)
            os.kill(note["pid"], 0)
        except (OSError, ValueError):
            with contextlib.suppress(OSError):
                os.unlink(path)
            continue
        for card in note["cards"]:
            found.setdefault(card, []).append((note["pid"], note["megabytes"]))
    return found
