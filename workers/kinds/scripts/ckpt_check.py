"""Checkpoints of a folder: checksums of every file, and what changed between two steps.

Arguments: folder, earlier step, later step (folder names; empty for the last two).
"""

import hashlib
import json
import os
import re
import struct
import sys
import zipfile

BLOCK = 1 << 20
STEP = re.compile(r"(?:iter|checkpoint|step)[_-]?(\d+)$")


def digest(stream, size=None):
    found, left = hashlib.sha256(), size
    while left is None or left > 0:
        block = stream.read(BLOCK if left is None else min(BLOCK, left))
        if not block:
            break
        found.update(block)
        left = None if left is None else left - len(block)
    return found.hexdigest()


def tensors(path):
    """Name -> checksum of each stored tensor; the whole file where the format is another."""
    if path.endswith(".safetensors"):
        with open(path, "rb") as stream:
            length = struct.unpack("<Q", stream.read(8))[0]
            header = json.loads(stream.read(length))
            found = {}
            for name, entry in header.items():
                if name == "__metadata__":
                    continue
                begin, end = entry["data_offsets"]
                stream.seek(8 + length + begin)
                found[name] = digest(stream, end - begin)
            return found
    if zipfile.is_zipfile(path):  # torch.save: one member per storage
        with zipfile.ZipFile(path) as archive:
            members = [n for n in archive.namelist() if re.search(r"/data/\d+$", n)]
            found = {}
            for name in members:
                with archive.open(name) as stream:
                    found[name.split("/", 1)[1]] = digest(stream)
            if found:
                return found
    with open(path, "rb") as stream:
        return {"": digest(stream)}


def listing(folder):
    found = []
    for place, _folders, names in os.walk(folder):
        found += [os.path.relpath(os.path.join(place, name), folder) for name in names]
    return sorted(found)


def steps_of(folder):
    found = [(int(STEP.search(n).group(1)), n) for n in os.listdir(folder) if STEP.search(n)]
    return [name for _number, name in sorted(found)]


def changed(folder, first, second):
    """(tensors in both, of which changed, names missing in one of them)."""
    sides = []
    for step in (first, second):
        side = {}
        for name in listing(os.path.join(folder, step)):
            for tensor, value in tensors(os.path.join(folder, step, name)).items():
                side[name + ":" + tensor] = value
        sides.append(side)
    one, two = sides
    both = sorted(set(one) & set(two))
    return len(both), sum(one[n] != two[n] for n in both), sorted(set(one) ^ set(two))


def main(folder, first, second):
    folder = os.path.expanduser(folder)
    if not os.path.isdir(folder):
        print(f"no such folder: {folder}")
        return 2
    entries = []
    with open("manifest.txt", "w") as stream:
        for name in listing(folder):
            path = os.path.join(folder, name)
            with open(path, "rb") as content:
                entries.append({"name": name, "size": os.path.getsize(path),
                                "sha256": digest(content)})
            stream.write(f"{entries[-1]['sha256']}  {name}\n")
    steps = steps_of(folder)
    pair = [first, second] if first and second else steps[-2:]
    report = {"desk_report": "checkpoints", "files": entries, "file_count": len(entries),
              "bytes": sum(e["size"] for e in entries), "steps": steps, "compared": pair}
    if len(pair) == 2:
        common, different, missing = changed(folder, *pair)
        report.update(tensors=common, tensors_changed=different, tensors_missing=missing[:50],
                      changed_ratio=different / common if common else None)
    with open("checkpoints.report.json", "w") as stream:
        json.dump(report, stream, indent=1)
    print(f"checkpoints: {len(entries)} files in {len(steps)} steps")
    return 0


sys.exit(main(*sys.argv[1:4]))
