"""Runs an inference and compares what it wrote with reference outputs, file by file.

Arguments: folder of the outputs, folder of the references or "", then the command. Arrays (.npy)
are compared by cosine, other files byte by byte. Writes `online.report.json`; ends as the command.
Plain Python 3.8, standard library only.
"""

import ast
import hashlib
import json
import math
import operator
import os
import struct
import subprocess
import sys

LETTERS = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q",
           "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "b1": "?"}
MOST_BYTES = 1 << 28


def numbers(path):
    """All numbers of a .npy file (format 1.0 to 3.0); ValueError for what is none."""
    with open(path, "rb") as stream:
        if stream.read(6) != b"\x93NUMPY":
            raise ValueError("no .npy file")
        wide = stream.read(2)[0] > 1
        length = struct.unpack("<I" if wide else "<H", stream.read(4 if wide else 2))[0]
        header = ast.literal_eval(stream.read(length).decode("utf-8"))
        order, kind = header["descr"][0], header["descr"][1:]
        if kind not in LETTERS or os.path.getsize(path) > MOST_BYTES:
            raise ValueError(f"data type {header['descr']} or size is not compared")
        data = stream.read()
    size = struct.calcsize(LETTERS[kind])
    form = f"{'>' if order == '>' else '<'}{len(data) // size}{LETTERS[kind]}"
    return list(header["shape"]), struct.unpack(form, data[:len(data) // size * size])


def compare(ours, theirs):
    """{"cosine", "max_abs", "nonfinite"} of two arrays, or {"same"} of other files."""
    if not ours.endswith(".npy"):
        with open(ours, "rb") as one, open(theirs, "rb") as other:
            return {"same": one.read() == other.read()}
    shape, left = numbers(ours)
    other_shape, right = numbers(theirs)
    if shape != other_shape or len(left) != len(right):
        return {"problem": f"shape {shape} against {other_shape}"}
    bad = sum(not math.isfinite(value) for value in left)
    if bad:
        return {"nonfinite": bad}
    product = math.fsum(map(operator.mul, left, right))
    sizes = math.sqrt(math.fsum(a * a for a in left)) * math.sqrt(math.fsum(b * b for b in right))
    same = list(left) == list(right)
    return {"cosine": 1.0 if same else product / sizes if sizes else 0.0, "nonfinite": 0,
            "max_abs": max(map(abs, map(operator.sub, left, right)), default=0.0)}


def files(folder):
    return sorted(os.path.relpath(os.path.join(place, name), folder)
                  for place, _folders, names in os.walk(folder) for name in names)


def entry(folder, references, name):
    path = os.path.join(folder, name)
    with open(path, "rb") as stream:
        digest = hashlib.sha256(stream.read()).hexdigest()
    found = {"name": name, "size": os.path.getsize(path), "sha256": digest}
    reference = os.path.join(references, name) if references else ""
    if reference and os.path.exists(reference):
        try:
            found["compared"] = compare(path, reference)
        except (ValueError, SyntaxError, KeyError, struct.error) as error:
            found["compared"] = {"problem": str(error)}
    return found


def main(folder, references, command):
    status = subprocess.call(command)
    folder, references = os.path.expanduser(folder), os.path.expanduser(references)
    names = files(folder)
    outputs = [entry(folder, references, name) for name in names]
    cosines = [o["compared"]["cosine"] for o in outputs if "cosine" in o.get("compared", {})]
    report = {"desk_report": "online", "outputs": outputs, "has_reference":
              bool(references), "missing": sorted(set(files(references)) - set(names))
              if references else [], "min_cosine": min(cosines) if cosines else None,
              "nonfinite": sum(o.get("compared", {}).get("nonfinite", 0) for o in outputs)}
    with open("online.report.json", "w") as stream:
        json.dump(report, stream, indent=1)
    return status if status >= 0 else 128 - status


sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
