"""Practice stand-in for ais_bench (Ascend tools 9d6da90): its console summary and its JSON.

The times are measured: each loop really computes on the bytes of the model file.
"""

import argparse
import hashlib
import json
import os
import statistics
import sys
import time

from faults import fault

ROUNDS = 8  # of the computation per item: a fraction of a millisecond for a small model


def measured(work):
    """Milliseconds that `work` took."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def run_once(content, batch):
    """Times of one loop: copy in, compute, copy out."""
    def compute():
        for _item in range(batch * ROUNDS * (10 if fault("slow") else 1)):
            hashlib.sha256(content).digest()

    return (measured(lambda: bytearray(content)), measured(compute),
            measured(lambda: bytearray(content[:4096])))


def percentile_99(ordered):
    """Linear between the two nearest, as numpy.percentile."""
    place = 0.99 * (len(ordered) - 1)
    low = int(place)
    high = ordered[min(low + 1, len(ordered) - 1)]
    return ordered[low] + (place - low) * (high - ordered[low])


def summary(times):
    ordered = sorted(times)
    return {"min": ordered[0], "max": ordered[-1], "mean": statistics.fmean(ordered),
            "median": statistics.median(ordered), "percentile(99%)": percentile_99(ordered),
            "count": len(ordered)}


def show(name, values):
    text = ", ".join(f"{key} = {value}" for key, value in values.items() if key != "count")
    print(f"[INFO] {name} (ms): {text}")


def parse():
    parser = argparse.ArgumentParser(prog="ais_bench")
    parser.add_argument("--model", required=True)
    parser.add_argument("--input")
    parser.add_argument("--output")
    for name, default in (("loop", 1), ("batchsize", 1), ("warmup_count", 1), ("device", 0),
                          ("display_all_summary", 0), ("dymBatch", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    if args.loop < 1 or args.batchsize < 1:
        parser.error("loop and batchsize must be positive")
    return args


def main():
    args = parse()
    if not os.path.isfile(args.model):
        print(f"[ERROR] load model from file failed, model file is {args.model}")
        return 1
    with open(args.model, "rb") as stream:
        content = stream.read()
    for _warm in range(args.warmup_count):
        run_once(content, args.batchsize)
    times = [run_once(content, args.batchsize) for _loop in range(args.loop)]
    copy_in, compute, copy_out = (summary(column) for column in zip(*times, strict=True))
    report = {"NPU_compute_time": compute, "H2D_latency": copy_in, "D2H_latency": copy_out,
              "throughput": 1000 * args.batchsize / compute["mean"]}
    tell(report, args)
    if args.output:
        write(report, [t[1] for t in times], args)
    return 0


def tell(report, args):
    print("[INFO] -----------------Performance Summary------------------")
    if args.display_all_summary:
        show("H2D_latency", report["H2D_latency"])
    show("NPU_compute_time", report["NPU_compute_time"])
    if args.display_all_summary:
        show("D2H_latency", report["D2H_latency"])
    print(f"[INFO] throughput 1000*batchsize.mean({args.batchsize})/"
          f"NPU_compute_time.mean({report['NPU_compute_time']['mean']}): {report['throughput']}")
    print("[INFO] ------------------------------------------------------")


def write(report, times, args):
    """`<output>/<time>_summary.json`, as the tool names it."""
    name = time.strftime("%Y_%m_%d-%H_%M_%S") + "_summary.json"
    os.makedirs(args.output, exist_ok=True)
    with open(os.path.join(args.output, name), "w") as stream:
        json.dump({"filesinfo": {}, "args": vars(args), **report, "npu_compute_time_list": times,
                   "pid": os.getpid()}, stream)


sys.exit(main())
