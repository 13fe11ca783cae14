"""Practice stand-in for msprobe: config_check and compare, in the formats of 26.2.0.

Used only where the genuine package is not installed. Both really read their inputs.
"""

import argparse
import csv
import json
import os
import sys
import time
import zipfile

HEADER = ("NPU Name,Bench Name,NPU Dtype,Bench Dtype,NPU Tensor Shape,Bench Tensor Shape,"
          "NPU Requires_grad,Bench Requires_grad,Max diff,Min diff,Mean diff,L2norm diff,"
          "MaxRelativeErr,MinRelativeErr,MeanRelativeErr,NormRelativeErr,NPU max,NPU min,NPU mean,"
          "NPU l2norm,Bench max,Bench min,Bench mean,Bench l2norm,Requires_grad Consistent,Result,"
          "Err_message,NPU_Stack_Info").split(",")
STATISTICS = ("Max", "Min", "Mean", "Norm")


def tensors(path):
    """Name -> tensor facts of a dump.json, in dump order."""
    with open(path) as stream:
        data = json.load(stream)["data"]
    for api, parts in data.items():
        for part, label in (("input_args", "input"), ("output", "output")):
            for number, tensor in enumerate(parts.get(part) or []):
                if isinstance(tensor, dict) and tensor.get("type") == "torch.Tensor":
                    yield f"{api}.{label}.{number}", tensor


def relative(npu, bench):
    if npu == bench:
        return 0
    return f"{abs(npu - bench) / abs(bench) * 100}%" if bench else "N/A"


def row(name, npu, bench):
    a, b = [npu[k] for k in STATISTICS], [bench[k] for k in STATISTICS]
    return [name, name, npu["dtype"], bench["dtype"], npu["shape"], bench["shape"],
            npu.get("requires_grad"), bench.get("requires_grad"),
            *[x - y for x, y in zip(a, b)], *[relative(x, y) for x, y in zip(a, b)],
            *a, *b, True, "pass", [], None]


def compare(args):
    npu, bench = dict(tensors(dump_file(args.target))), dict(tensors(dump_file(args.golden)))
    os.makedirs(args.output, exist_ok=True)
    path = os.path.join(args.output, f"compare_result_{time.strftime('%Y%m%d%H%M%S')}.csv")
    with open(path, "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(HEADER)
        writer.writerows(row(name, tensor, bench[name]) for name, tensor in npu.items()
                         if name in bench)
    print(f"[INFO] The result is saved in {path}")
    print("[INFO] msprobe compare ends successfully.")


def dump_file(path):
    if os.path.isdir(path):
        for folder, _folders, files in sorted(os.walk(path)):
            if "dump.json" in files:
                return os.path.join(folder, "dump.json")
    return path


def config_check(args):
    from openpyxl import Workbook

    bench, candidate = (zipfile.ZipFile(name) for name in args.compare)
    book = Workbook()
    summary = book.active
    summary.title = "summary"
    summary.append(["filename", "pass_check"])
    for name, columns, read in (
        ("env", ["bench_env_name", "cmp_env_name", "bench_value", "cmp_value", "level"], env),
        ("pip", ["package", "bench version", "cmp version", "level"], pip),
    ):
        rows = read(bench, candidate)
        levels = {r[-1] for r in rows}
        summary.append([name, "error" if "error" in levels else "warning" if levels else "pass"])
        sheet = book.create_sheet(name)
        sheet.append(columns)
        for entry in rows:
            sheet.append(entry)
    os.makedirs(args.output, exist_ok=True)
    book.save(os.path.join(args.output, "result.xlsx"))
    print(f"[INFO] config checking result save to {os.path.realpath(args.output)}")


def env(bench, candidate):
    a, b = (json.loads(pack.read("env")) for pack in (bench, candidate))
    # msprobe 26.2.0 writes the two sides of this sheet exchanged; the stand-in does the same.
    return [[k, k, b.get(k), a.get(k), "error"] for k in sorted(set(a) & set(b)) if a[k] != b[k]]


def pip(bench, candidate):
    a, b = (dict(line.split("=", 1) for line in pack.read("pip").decode().split())
            for pack in (bench, candidate))
    return [[k, a.get(k), b.get(k), "warning"] for k in sorted(set(a) | set(b))
            if a.get(k) != b.get(k)]


def main():
    words = [w for w in sys.argv[1:] if w not in ("-f", "pytorch")]
    parser = argparse.ArgumentParser(prog="msprobe")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("config_check")
    check.add_argument("-c", dest="compare", nargs=2, required=True)
    check.add_argument("-o", dest="output", default="./output")
    two = commands.add_parser("compare")
    two.add_argument("-tp", dest="target", required=True)
    two.add_argument("-gp", dest="golden", required=True)
    two.add_argument("-o", dest="output", default="./output")
    args = parser.parse_args(words)
    try:
        {"config_check": config_check, "compare": compare}[args.command](args)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        print(f"[ERROR] {error}", file=sys.stderr)
        return 1
    return 0


sys.exit(main())
