"""Runs a command and reads the memory of the visible cards with npu-smi meanwhile.

Arguments: interval in seconds, then the command. Writes `device_memory.csv`; ends as the command.
"""

import os
import re
import subprocess
import sys
import time

USAGE = re.compile(r"\|\s*(\d+)(?:\s+\d+)?\s*\|\s*\S+\s*\|\s*\S+\s+(\d+)\s*/\s*(\d+)"
                   r"(?:\s+(\d+)\s*/\s*(\d+))?\s*\|")
NUMBER = re.compile(r"\|\s*(\d+)\s+[A-Za-z0-9]\S*\s*\|\s*[A-Za-z]\w*\s*\|")


def read():
    """(index of the card, MB used, MB in all) of each chip; HBM where the chip has it."""
    try:
        answer = subprocess.run(["npu-smi", "info"], check=False, capture_output=True, text=True,
                                timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return []
    found = []
    for line in answer.stdout.splitlines():
        hit = USAGE.match(line)
        if hit and not NUMBER.match(line):
            used, total = (hit[4], hit[5]) if hit[5] and int(hit[5]) else (hit[2], hit[3])
            found.append((len(found), int(used), int(total)))
    return found


def main(interval, command):
    wanted = [int(word) for word in os.environ.get("ASCEND_RT_VISIBLE_DEVICES", "").split(",")
              if word.strip().isdigit()]
    with open("device_memory.csv", "w") as stream:
        stream.write("seconds,phase,card,used_mb,total_mb\n")

        def note(phase, began):
            for card, used, total in read():
                if not wanted or card in wanted:
                    stream.write(f"{time.time() - began:.2f},{phase},{card},{used},{total}\n")

        note("before", time.time())
        began, child = time.time(), subprocess.Popen(command)
        while child.poll() is None:
            note("running", began)
            try:
                child.wait(float(interval))
            except subprocess.TimeoutExpired:
                continue
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


sys.exit(main(sys.argv[1], sys.argv[2:]))
