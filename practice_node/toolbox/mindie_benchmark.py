"""Practice stand-in for MindIE's benchmark client: real requests to itself, its real tables."""

import argparse
import os
import statistics
import sys
import time

from faults import fault

COLUMNS = ("average", "max", "min", "P75", "P90", "SLO_P90", "P99")


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def figures(values, unit):
    picked = (statistics.fmean(values), max(values), min(values), quantile(values, 0.75),
              quantile(values, 0.9), quantile(values, 0.9), quantile(values, 0.99))
    return [f"{value:.4f}{unit}" for value in picked]


def frame(header, rows):
    widths = [max(len(str(r[i])) for r in [header, *rows]) for i in range(len(header))]
    rule = "+" + "+".join("-" * (w + 2) for w in widths) + "+"
    lines = ["| " + " | ".join(str(c).rjust(w) for c, w in zip(r, widths)) + " |"
             for r in [header, *rows]]
    print("\n".join([rule, lines[0], rule, *lines[1:], rule]))


def answer(question):
    """(first token in ms, each later token in ms): a little work per token."""
    times = []
    for n in range(8):
        began = time.perf_counter()
        sum(ord(c) * n for c in question * 50)
        times.append((time.perf_counter() - began) * 1000)
    return times[0], times[1:]


def main():
    parser = argparse.ArgumentParser()
    for name in ("DatasetPath", "DatasetType", "ModelName", "ModelPath", "TestType", "Http",
                 "ManagementHttp", "RequestRate", "MaxOutputLen", "Tokenizer", "TestAccuracy"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--Concurrency", type=int, default=1)
    args = parser.parse_args()
    if not os.path.isfile(args.DatasetPath):
        print(f"[ERROR] the data set {args.DatasetPath} does not exist")
        return 1
    with open(args.DatasetPath, encoding="utf-8") as stream:
        questions = [line for line in stream if line.strip()]
    began = time.perf_counter()
    answers = [answer(question) for question in questions]
    elapsed = time.perf_counter() - began
    show(args, answers, elapsed, int(fault("failed_requests") or 0))
    return 0


def show(args, answers, elapsed, failed):
    n, tokens = len(answers), 8 * len(answers)
    done = n - failed
    rows = [["FirstTokenTime", *figures([a[0] for a in answers], " ms"), n],
            ["DecodeTime", *figures([t for a in answers for t in a[1]], " ms"), n],
            ["GenerateTime", *figures([a[0] + sum(a[1]) for a in answers], " ms"), n],
            ["GeneratedTokens", *figures([8.0] * n, ""), n]]
    print("The BenchMark test performance metric result is:")
    frame(["Metric", *COLUMNS, "N"], rows)
    print("The BenchMark test common metric result is:")
    frame(["Common Metric", "Value"], [
        ["CurrentTime", time.strftime("%Y-%m-%d %H:%M:%S")], ["TimeElapsed", f"{elapsed:.6f} s"],
        ["DataSource", args.DatasetPath], ["Failed", f"{failed}( {failed / n:.1%} )"],
        ["Returned", f"{done}( {done / n:.1%} )"], ["Total", f"{n}[ 100.0% ]"],
        ["Concurrency", args.Concurrency], ["ModelName", args.ModelName],
        ["Throughput", f"{done / elapsed:.4f} req/s"],
        ["GenerateSpeed", f"{tokens / elapsed:.4f} token/s"], ["accuracy", "/"]])
    print("Benchmark task completed successfully!")


sys.exit(main())
