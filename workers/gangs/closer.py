"""Ends the listener of this check."""

import os
import signal
import sys

note = f"/tmp/{sys.argv[1]}"
try:
    with open(note) as file:
        process = int(file.read())
    with open(f"/proc/{process}/cmdline", "rb") as file:
        is_ours = sys.argv[1].encode() in file.read()
    if is_ours:
        os.kill(process, signal.SIGKILL)
    os.unlink(note)
except (OSError, ValueError):
    pass
print("desk net closed")
