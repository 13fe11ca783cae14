"""Practice stand-in for msaccucmp.py: convert and compare over raw float32 tensors.

A practice dump is a file `<operator>.output.0.f32`; an overflow debug file holds status words.
"""

import argparse
import csv
import json
import math
import os
import struct
import sys
import time

COLUMNS = ["Index", "OpType", "NPUDump", "DataType", "Address", "GroundTruth", "DataType",
           "TensorIndex", "Shape", "OverFlow", "CosineSimilarity", "MaxAbsoluteError",
           "AccumulatedRelativeError", "RelativeEuclideanDistance", "KullbackLeiblerDivergence",
           "StandardDeviation", "MeanAbsoluteError", "RootMeanSquareError", "MaxRelativeError",
           "MeanRelativeError", "CompareFailReason"]


def say(text):
    print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} ({os.getpid()}) - [INFO] {text}", flush=True)


def floats(path):
    with open(path, "rb") as stream:
        data = stream.read()
    return struct.unpack(f"<{len(data) // 4}f", data[:len(data) // 4 * 4])


def npy(path, values):
    """The .npy format, version 1.0."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as stream:
        stream.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        stream.write(struct.pack(f"<{len(values)}f", *values))


def overflow(path, folder):
    with open(path, "rb") as stream:
        model, stream_id, task, kind, status = struct.unpack("<5Q", stream.read(40))
    name = f"{os.path.basename(path)}.output.0.json"
    entry = {"valid": 1, "acc_type": "AIC", "rsv": 0, "data_len": 88, "data": {
        "model_id": model, "stream_id": stream_id, "task_id": task, "task_type": kind,
        "context_id": 65535, "thread_id": 65535, "pc_start": "0x124040184000",
        "para_base": "0x1240401ff5f0", "core_id": 0, "block_id": 15, "status": status}}
    with open(os.path.join(folder, name), "w") as stream:
        json.dump({"magic": "0x5a5a5a5a", "version": 0, "acc_list": entry}, stream, indent=4)
    say(f'The data of output:0 has been parsed into "\'{os.path.join(folder, name)}\'".')


def convert(args):
    if "Opdebug" in os.path.basename(args.d):
        overflow(args.d, args.out)
        return 0
    paths = [args.d] if os.path.isfile(args.d) else [
        os.path.join(args.d, name) for name in sorted(os.listdir(args.d))]
    for path in paths:
        npy(os.path.join(args.out, os.path.basename(path).replace(".f32", ".npy")), floats(path))
    return 0


def compare(args):
    name = time.strftime("result_%Y%m%d%H%M%S.csv")
    with open(os.path.join(args.out, name), "w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for index, file in enumerate(sorted(os.listdir(args.m)), 1):
            writer.writerow(row(index, file, args))
    return 2  # as the tool does


def row(index, file, args):
    op = file.split(".", 1)[0]
    ours, golden = floats(os.path.join(args.m, file)), floats(os.path.join(args.g, file))
    errors = [abs(a - b) for a, b in zip(ours, golden)]
    relative = [e / abs(b) if b else 0.0 for e, b in zip(errors, golden)]
    norms = math.hypot(*ours) * math.hypot(*golden)
    cosine = sum(a * b for a, b in zip(ours, golden)) / norms if norms else math.nan
    square = math.sqrt(sum(e * e for e in errors))
    figures = [cosine, max(errors), sum(relative), square / math.hypot(*golden), 0.0]
    more = [sum(errors) / len(errors), square / math.sqrt(len(errors)), max(relative),
            sum(relative) / len(relative)]
    return [index, op.rstrip("_0123456789"), op, "float16", 20615843020800, op, "float32",
            f"{op}:output:0", f"[{len(ours)}]", "NO", *(f"{x:.6f}" for x in figures),
            "(0.000;1.000),(0.000;1.000)", *(f"{x:.6f}" for x in more), ""]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["convert", "compare"])
    for name in ("d", "v", "m", "g", "f", "out"):
        parser.add_argument(f"-{name}")
    args = parser.parse_args()
    status = convert(args) if args.command == "convert" else compare(args)
    say("The command was completed and took 0 seconds.")
    return status


sys.exit(main())
