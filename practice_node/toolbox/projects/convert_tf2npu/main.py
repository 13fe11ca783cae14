"""Practice stand-in for convert_tf2npu (new layout): really parses the scripts it is given."""

import argparse
import ast
import os
import sys
import time

UNSUPPORTED = {"tf.contrib.nccl.all_sum", "tf.distribute.MirroredStrategy"}
CHANGED = {"tf.Session": "tf.Session add npu config"}
SIGN = "from npu_bridge.npu_init import *"


def apis(tree):
    """(line, dotted name) of every use of tf."""
    for node in ast.walk(tree):
        name = dotted(node.func) if isinstance(node, ast.Call) else ""
        if name.startswith("tf."):
            yield node.lineno, name


def dotted(node):
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def brief(title, names):
    bad = sum(name in UNSUPPORTED for name in names)
    changed = sum(name in CHANGED for name in names)
    return (f"{title}: Total API: {len(names)}, in which Support: {len(names) - bad - changed}, "
            f"API support after migration: {changed}, Network training support after migration: 0,"
            f" Not support but no impact on migration: 0, Not support or recommended: {bad}, "
            f"Compatible: 0, Deprecated: 0, Analysing: 0")


def main():
    parser = argparse.ArgumentParser()
    for name in ("i", "o", "r", "m"):
        parser.add_argument(f"-{name}", required=True)
    args = parser.parse_args()
    if not os.path.isfile(args.m):
        print(f"The entry script {args.m} does not exist.")
        return 1
    report = os.path.join(args.r, time.strftime("report_npu_%Y%m%d%H%M%S"))
    os.makedirs(report)
    os.makedirs(args.o, exist_ok=True)
    print(f"Begin conver, input file: {args.i}\n")
    used, changes, failed = [], [], []
    for name in sorted(n for n in os.listdir(args.i) if n.endswith(".py")):
        convert(os.path.join(args.i, name), args.o, used, changes, failed)
    lines = [brief("1.In brief", used), brief("2.After eliminate duplicate", sorted(set(used)))]
    print("\n".join(lines))
    for title, content in (("api_brief_report", lines), ("success_report", changes),
                           ("failed_report", failed), ("need_migration_doc", [])):
        with open(os.path.join(report, f"{title}.txt"), "w") as stream:
            stream.writelines(f"{line}\n" for line in content)
    print(f"Finish conver, output file: {args.o}; report file: {report}")
    return 0


def convert(path, output, used, changes, failed):
    print(f"Begin conver file: {path}")
    with open(path) as stream:
        text = stream.read()
    for line, name in apis(ast.parse(text)):
        used.append(name)
        if name in CHANGED:
            changes.append(f"{path}:{line} {CHANGED[name]}")
        if name in UNSUPPORTED:
            failed.append(f"{path}:{line}, NPU Unsupport API: {name}")
    changes.append(f"{path}:2 {SIGN}")
    with open(os.path.join(output, os.path.basename(path)), "w") as stream:
        stream.write(f"{SIGN}\n{text}")
    print(f"Finish conver file: {path}\n")


sys.exit(main())
