"""Practice stand-in for ais_bench; summary text and JSON as written by ais_bench.

The times are measured: each loop really computes on the bytes of the model file.
"""

import argparse
import hashlib
import json
import os
import statistics
import sys
import time


def measure(content, batch):
    began = time.perf_counter()
    for _item in range(batch):
        for _round in range(8):
            hashlib.sha256(content).digest()
    return (time.perf_counter() - began) * 1000


def summary(times):
    ordered = sorted(times)
    place = 0.99 * (len(ordered) - 1)
    low, part = int(place), place - int(place)
    high = ordered[min(low + 1, len(ordered) - 1)]
    return {"min": ordered[0], "max": ordered[-1], "mean": statistics.fmean(ordered),
            "median": statistics.median(ordered),
            "percentile(99%)": ordered[low] + part * (high - ordered[low]), "count": len(ordered)}


def show(name, values):
    text = ", ".join(f"{key} = {values[key]}" for key in
                     ("min", "max", "mean", "median", "percentile(99%)"))
    print(f"[INFO] {name} (ms): {text}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--output")
    for name, default in (("loop", 1), ("batchsize", 1), ("warmup_count", 1), ("device", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    if not os.path.isfile(args.model):
        print(f"[ERROR] load model from file failed, model file is {args.model}")
        return 1
    with open(args.model, "rb") as stream:
        content = stream.read()
    for _warm in range(args.warmup_count):
        measure(content, args.batchsize)
    times = [measure(content, args.batchsize) for _loop in range(args.loop)]
    compute, copy = summary(times), summary([0.05])
    rate = 1000 * args.batchsize / compute["mean"]
    print("[INFO] -----------------Performance Summary------------------")
    show("H2D_latency", copy)
    show("NPU_compute_time", compute)
    show("D2H_latency", copy)
    print(f"[INFO] throughput 1000*batchsize.mean({args.batchsize})/"
          f"NPU_compute_time.mean({compute['mean']}): {rate}")
    print("[INFO] ------------------------------------------------------")
    if args.output:
        name = os.path.splitext(os.path.basename(args.model))[0]
        with open(os.path.join(args.output, f"{name}_summary.json"), "w") as stream:
            json.dump({"filesinfo": {}, "args": vars(args), "NPU_compute_time": compute,
                       "H2D_latency": copy, "D2H_latency": copy, "throughput": rate,
                       "npu_compute_time_list": times, "pid": os.getpid()}, stream)
    return 0


if __name__ == "__main__":
    sys.exit(main())
