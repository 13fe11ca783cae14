"""What both transplant stand-ins share: arguments, log, a real scan of the sources, the tables.

Messages, columns and file names as of msfmktransplt (mstt 99c2e0f99); everything goes to stderr.
The lists of APIs are a small part of the tool's own, the same verdicts for what is in them.
"""

import argparse
import ast
import csv
import io
import os
import re
import sys
import time

VERSIONS = ["2.1.0", "2.6.0", "2.7.1", "2.8.0"]
UNSUPPORTED = {"torch.nn.DataParallel", "torch.nn.CosineEmbeddingLoss"}
UNSUPPORTED_IN_2_1 = {"torch.nn.utils.clip_grad_norm_"}
UNKNOWN = re.compile(
    r"torch\.(accelerator\.\w+|multiprocessing\.spawn|nn\.Parameter|amp\.autocast|"
    r"cuda\.(is_bf16_supported|IntTensor|nvtx\.\w+)|distributed\.destroy_process_group)$")
GENERAL_ADVICE = [
    ("torch_npu.npu.set_compile_mode",
     "If it is a dynamic shape scenario, it is recommended to set "
     "torch_npu.npu.set_compile_mode(jit_compile=False) above the training entry file; if it is a "
     "fixed shape scenario, it is recommended to set "
     "torch_npu.npu.set_compile_mode(jit_compile=True) above the training entry file.\n"),
    ("TASK_QUEUE_ENABLE", "If you want to improve performance, please set environment variables "
                          "'export TASK_QUEUE_ENABLE=1'."),
]
ADVICE = {
    "torch.nn.parallel.DistributedDataParallel":
        "To optimize communication between devices, it is recommended to set bucket_cap_mb to 500.",
    "torch.optim.SGD": "Try modifying to apex.optimizers.NpuFusedSGD.",
    "torch.optim.AdamW": "Try modifying to apex.optimizers.NpuFusedAdamW, performance has improved "
                         "significantly, but the memory usage increases by 70%.",
}
PRECISION = {"torch.nn.Embedding":
             "This api may have an issue with uncertain backward calculation results."}
OP_COLUMNS = ["File", "Start Line", "End Line", "OP", "Tips"]
PYBIND = re.compile(r"\bm\.def\(\s*\"(\w+)\"")


class Log:
    """Lines to stderr, and kept for the log file of the result folder."""

    def __init__(self):
        self.lines = []
        self.progress = None

    def say(self, level, text):
        part = "" if self.progress is None else f"[Progress:{self.progress:6.2f}%]  "
        line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {f'[{level}]':<10}{part}{text}"
        self.lines.append(line)
        print(line, file=sys.stderr, flush=True)

    def operation(self, row, kind, message):
        level = "WARNING" if kind == "UNSUPPORTED" else "INFO"
        self.say(level, f"line: {row[1]} ~ {row[2]} Operation Type: {kind} Message: {message}")

    def write(self, path):
        with open(path, "w") as stream:
            stream.write("\n".join(self.lines) + "\n")


def folder(text):
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text} does not exist or is not a directory")
    return os.path.normpath(text)


def parser():
    options = argparse.ArgumentParser()
    options.add_argument("-i", "--input", dest="source", required=True, type=folder)
    options.add_argument("-o", "--output", required=True, type=folder)
    options.add_argument("-v", "--version", required=True, choices=VERSIONS)
    return options


def python_files(source):
    """(path from the source folder, path) of every Python file."""
    for place, _folders, files in sorted(os.walk(source)):
        for name in sorted(files):
            if name.endswith(".py"):
                path = os.path.join(place, name)
                yield os.path.relpath(path, source), path


def parsed(path):
    """The syntax tree, or None where the file does not parse."""
    with open(path, encoding="utf-8", errors="replace") as stream:
        try:
            return ast.parse(stream.read())
        except (SyntaxError, ValueError):
            return None


def imported_names(tree):
    """Local name -> full dotted name, by the import lines."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update({a.asname: a.name for a in node.names if a.asname})
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update({a.asname or a.name: f"{node.module}.{a.name}" for a in node.names})
    return names


def dotted(node, names):
    """a.b.c of an attribute chain with import names resolved, or None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([names.get(node.id, node.id), *reversed(parts)])


def calls(tree):
    """(start line, end line, full name) of every call, in order of the file."""
    names = imported_names(tree)
    return sorted((n.lineno, n.end_lineno, name) for n in ast.walk(tree)
                  if isinstance(n, ast.Call) and (name := dotted(n.func, names)))


def is_unsupported(name, version):
    return name in UNSUPPORTED or (version == "2.1.0" and name in UNSUPPORTED_IN_2_1)


def new_tables():
    return {
        "api_performance_advice.csv": [["NA", "NA", "NA", *advice] for advice in GENERAL_ADVICE],
        "cuda_op_list.csv": [], "unsupported_api.csv": [], "unknown_api.csv": [],
        "api_precision_advice.csv": []}


def analysed(source, log):
    """(path from the source folder, syntax tree) of every file that parses; tells of each."""
    files = list(python_files(source))
    for number, (relative, path) in enumerate(files):
        log.progress = 100 * number / len(files)
        log.say("INFO", f"Start the analysis of {relative}.")
        tree = parsed(path)
        if tree is None:
            log.say("WARNING", f"{relative} has unsupported python syntax, skip.")
        else:
            yield relative, tree
        log.say("INFO", f"Analysis of {relative} completed.")


def scan(source, version, log):
    """The rows of the five tables of API analysis, by file name."""
    tables = new_tables()
    for relative, tree in analysed(source, log):
        for start, end, name in calls(tree):
            judge(tables, [relative, start, end, name], version, log)
    tables["cuda_op_list.csv"] = cuda_operators(source)
    return tables


def judge(tables, row, version, log):
    name = row[3]
    if is_unsupported(name, version):
        tables["unsupported_api.csv"].append([*row, "NA"])
        log.operation(row, "UNSUPPORTED", "NA")
    elif UNKNOWN.match(name):
        tables["unknown_api.csv"].append(row)
    for table, known, subject in (("api_performance_advice.csv", ADVICE, "performance"),
                                  ("api_precision_advice.csv", PRECISION, "precision")):
        if name in known:
            tables[table].append([*row, known[name]])
            log.operation(row, "SUGGESTION", f"{name} has a suggestion about {subject}")


def cuda_operators(source):
    """Names that C++ sources bind for Python: the operators somebody has to rewrite."""
    rows = []
    for place, _folders, files in sorted(os.walk(source)):
        for name in sorted(f for f in files if f.endswith((".cpp", ".cc", ".cu"))):
            path = os.path.join(place, name)
            with open(path, encoding="utf-8", errors="replace") as stream:
                rows += [[os.path.relpath(path, source), api]
                         for api in PYBIND.findall(stream.read())]
    return rows


def write_tables(place, tables):
    for name, rows in tables.items():
        columns = ["File", "Api"] if name == "cuda_op_list.csv" else OP_COLUMNS
        write(place, name, columns, rows)


def write(place, name, columns, rows):
    """A finished table, read-only as the tool leaves it."""
    path = os.path.join(place, name)
    if os.path.exists(path):
        os.unlink(path)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text.getvalue())
    os.chmod(path, 0o440)


def finish(log, tool, place, counts):
    log.progress = 100.0
    log.say("INFO", f"{tool} run succeeded, welcome to the next use.")
    log.progress = None
    log.say("INFO", "The detailed transplant result files are in the output path you defined, "
                    f"the relative path is {place}.")
    width = max(len(name) for name in counts) + 2
    rule = f"+{'-' * width}+{'-' * 12}+"
    print(rule, f"|{'files':^{width}}|{'statistics':^12}|", rule,
          *(f"|{name:^{width}}|{count:^12}|" for name, count in counts.items()), rule,
          sep="\n", file=sys.stderr, flush=True)
