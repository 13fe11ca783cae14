"""Runs a command and tells which NPUs its processes use: by their open files and by npu-smi.

Arguments: the command. Ends as the command; the last lines of the log name each device, the
process and how it was seen, or say that none was seen.
"""

import errno
import os
import re
import signal
import subprocess
import sys
import time

CARD = re.compile(r"/dev/(davinci|nvidia)(\d+)$")
ROW = re.compile(r"^\|\s*(\d+)\s+\d+\s*\|\s*(\d+)\s*\|\s*\S*\s*\|\s*\d+\s*\|")
KINDS = {"davinci": "npu", "nvidia": "gpu"}
EARLY, PAUSE, EARLY_PAUSE, LATE_PAUSE, SMI_PAUSE = 10, 0.05, 0.2, 2, 20  # seconds
SHARE = 10  # a look takes at most this part of the time, but for the first seconds


def parents():
    """Process -> its parent, of all processes that can be seen."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as stream:
                    found[int(name)] = int(stream.read().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
    return found


def family(first):
    """The process and all that descend from it."""
    known, found = parents(), {first}
    while True:
        more = {child for child, parent in known.items() if parent in found} - found
        if not more:
            return found
        found |= more


def opened(process):
    """(kind, index) of the cards that the process holds open."""
    folder = f"/proc/{process}/fd"
    try:
        paths = [os.readlink(os.path.join(folder, name)) for name in os.listdir(folder)]
    except OSError:
        return
    for path in paths:
        hit = CARD.search(path)
        if hit:
            yield KINDS[hit[1]], int(hit[2])


def listed():
    """(index, process) of the table of processes that npu-smi prints."""
    try:
        answer = subprocess.run(["npu-smi", "info"], check=False, capture_output=True, text=True,
                                timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return []
    rows = map(ROW.match, answer.stdout.splitlines())
    return [(int(row[1]), int(row[2])) for row in rows if row]


class Watch:
    def __init__(self, process):
        self.process, self.began, self.asked = process, time.monotonic(), 0.0
        self.seen, self.looks = {}, 0

    def look(self):
        """One look; returns the seconds until the next."""
        began = time.monotonic()
        members = family(self.process)
        self.looks += 1
        for member in members:
            for device in opened(member):
                self.seen.setdefault(device, f"process {member} holds it open")
        if began - max(self.asked, self.began) > (SMI_PAUSE if self.asked else 1):
            self.asked = began
            for index, member in listed():
                if member in members:
                    self.seen.setdefault(("npu", index), f"npu-smi lists process {member}")
        is_early = began - self.began < EARLY and not self.seen
        pause = max(PAUSE if is_early else LATE_PAUSE, SHARE * (time.monotonic() - began))
        return min(pause, EARLY_PAUSE) if is_early else pause

    def tell(self):
        for (kind, index), how in sorted(self.seen.items()):
            print(f"desk: device {kind} {index}: {how}")
        if not self.seen:
            print("desk: no device: none was held open or listed by npu-smi in "
                  f"{self.looks} looks")


def main(command):
    # Who ends the job signals every process of it: the command may take its time to end.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_words: None)
    try:
        child = subprocess.Popen(command)
    except OSError as error:
        is_absent = error.errno == errno.ENOENT
        print(f"desk: {command[0]}: {'not found' if is_absent else error.strerror}")
        return 127 if is_absent else 126
    watch = Watch(child.pid)
    while child.poll() is None:
        try:
            child.wait(watch.look())
        except subprocess.TimeoutExpired:
            continue
    watch.tell()
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


sys.exit(main(sys.argv[1:]))
