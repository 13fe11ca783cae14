"""What both transplant stand-ins share: a real scan of Python sources, tables as msfmktransplt's.

Columns and messages as written by msfmktransplt (mstt 99c2e0f99): everything goes to stderr.
"""

import argparse
import ast
import csv
import os
import sys
import time

UNSUPPORTED = {"torch.nn.DataParallel", "torch.cuda.nvtx.range_push", "torch.cuda.nvtx.range_pop",
               "torch.nn.utils.clip_grad_norm_"}
UNKNOWN_PREFIXES = ("apex.", "amp_C.", "flash_attn.", "torch._C.")


def log(level, text, stream=sys.stderr):
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    print(f"{stamp} [{level}]{' ' * max(1, 8 - len(level))}{text}", file=stream, flush=True)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("-i", dest="source", required=True)
    parser.add_argument("-o", dest="output", required=True)
    parser.add_argument("-v", dest="version", required=True)
    parser.add_argument("-m", dest="mode", nargs="?", default="torch_apis")
    parser.add_argument("rest", nargs="*")
    known, _unknown = parser.parse_known_args()
    return known


def require_folders(args):
    for folder in (args.source, args.output):
        if not os.path.isdir(folder):
            log("ERROR", f"The path {folder} does not exist or is not a directory.")
            sys.exit(1)


def python_files(source):
    for folder, _folders, files in sorted(os.walk(source)):
        for name in sorted(files):
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                yield os.path.relpath(path, source), path


def dotted(node):
    """a.b.c of an attribute chain, or None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def api_uses(path, relative):
    """(line, name) of every dotted call; a file that does not parse is skipped with a warning."""
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    try:
        tree = ast.parse(text)
    except SyntaxError:
        log("WARNING", f"{relative}: unsupported python syntax, skip")
        return []
    return sorted((n.lineno, name) for n in ast.walk(tree)
                  if isinstance(n, ast.Call) and (name := dotted(n.func)))


def scan(source):
    """The rows of unsupported_api.csv, unknown_api.csv and cuda_op_list.csv."""
    unsupported, unknown, cuda = [], [], []
    for relative, path in python_files(source):
        for line, name in api_uses(path, relative):
            if name in UNSUPPORTED:
                unsupported.append([relative, line, line, name, "NA"])
            elif name.startswith(UNKNOWN_PREFIXES):
                unknown.append([relative, line, line, name])
        log("INFO", f"[Progress:  0.00%]  Analysis of {relative} completed.")
    for folder, _folders, files in sorted(os.walk(source)):
        cuda += [[os.path.relpath(os.path.join(folder, f), source), os.path.splitext(f)[0]]
                 for f in sorted(files) if f.endswith(".cu")]
    return unsupported, unknown, cuda


def write_tables(folder, unsupported, unknown, cuda):
    columns = ["File", "Start Line", "End Line", "OP", "Tips"]
    write(folder, "unsupported_api.csv", columns, unsupported)
    write(folder, "unknown_api.csv", columns, unknown)
    write(folder, "cuda_op_list.csv", ["File", "Api"], cuda)
    write(folder, "api_precision_advice.csv", columns, [])
    write(folder, "api_performance_advice.csv", columns, [
        ["NA", "NA", "NA", "TASK_QUEUE_ENABLE",
         "If you want to improve performance, please set environment variables "
         "'export TASK_QUEUE_ENABLE=1'."]])


def write(folder, name, columns, rows):
    with open(os.path.join(folder, name), "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def finish(counts):
    log("INFO", "[Progress:100.00%]  MsFmkTransplt run succeeded, welcome to the next use.")
    print("+----------------------------+------------+", file=sys.stderr)
    print("|           files            | statistics |", file=sys.stderr)
    print("+----------------------------+------------+", file=sys.stderr)
    for name, number in counts.items():
        print(f"| {name:^26} | {number:^10} |", file=sys.stderr)
    print("+----------------------------+------------+", file=sys.stderr)
