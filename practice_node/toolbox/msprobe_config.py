"""The comparison of two configuration packs, with the sheets of msprobe 26.2.0."""

import json
import os
import re
import zipfile

VARIABLES = [("HCCL_DETERMINISTIC", "NCCL_DETERMINISTIC"), ("HCCL_ALGO", "NCCL_ALGO"),
             ("ASCEND_LAUNCH_BLOCKING", "CUDA_LAUNCH_BLOCKING"),
             ("ASCEND_RT_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")]
PACKAGES = {"torch", "torch-npu", "numpy", "transformers", "deepspeed", "accelerate", "megatron",
            "megatron-core", "mindspeed", "tokenizers"}
FIGURES = ("max", "min", "mean", "norm")
RELATIVE = [f"{figure}_relative_diff" for figure in FIGURES]
COLUMNS = {
    "env": ["bench_env_name", "cmp_env_name", "bench_value", "cmp_value", "level"],
    "pip": ["package", "bench version", "cmp version", "level"],
    "dataset": ["step", "rank", "tag", "equal", *RELATIVE],
    "weights": ["step", "rank", "weight_name", "equal", *RELATIVE],
    "hyperparameters": ["file_name", "bench_para", "cmp_para", "bench_value", "cmp_value",
                        "matched_with", "level"],
    "random": ["op", "rank", "bench_stack", "cmp_stack", "bench_count", "cmp_count",
               "check_result"],
}


def check(args, say):
    from openpyxl import Workbook

    say("The input paths is zip files, comparing packed config.")
    packs = [unpacked(path) for path in args.compare]
    book = Workbook()
    summary = book.active
    summary.title = "summary"
    summary.append(["filename", "pass_check"])
    for sheet, columns in COLUMNS.items():
        if not any(name.split("/")[0] == sheet for name in packs[0]):
            continue  # not packed, no sheet
        rows = READERS[sheet](*packs)
        summary.append([sheet, outcome(sheet, rows)])
        page = book.create_sheet(sheet)
        for row in [columns, *rows]:
            page.append(row)
    book.save(os.path.join(args.output, "result.xlsx"))
    say(f"[config checking log] config checking result save to {os.path.realpath(args.output)}")


def unpacked(path):
    """Member name -> content."""
    with zipfile.ZipFile(path) as pack:
        return {name: pack.read(name).decode() for name in pack.namelist()}


def outcome(sheet, rows):
    verdicts = {row[COLUMNS[sheet].index("equal")] if "equal" in COLUMNS[sheet] else row[-1]
                for row in rows}
    return ("error" if verdicts & {"error", False} else
            "warning" if "warning" in verdicts else "pass")


def env(bench, candidate):
    a, b = json.loads(bench["env"]), json.loads(candidate["env"])
    rows = []
    for npu_name, gpu_name in VARIABLES:
        left = a.get(gpu_name, a.get(npu_name))
        right = b.get(npu_name, b.get(gpu_name))
        if left != right:  # msprobe 26.2.0 writes the two sides of this sheet exchanged
            rows.append([npu_name, gpu_name, right if right is not None else "None",
                         left if left is not None else "None", "error"])
    return rows


def pip(bench, candidate):
    a, b = (dict(line.split("=", 1) for line in pack["pip"].split())
            for pack in (bench, candidate))
    return [[name, a.get(name), b.get(name), "error" if name in a and name in b else "warning"]
            for name in sorted(PACKAGES & (set(a) | set(b))) if a.get(name) != b.get(name)]


def figures_of(folder):
    def rows(bench, candidate):
        found = []
        for name in sorted(n for n in bench if n.startswith(f"{folder}/") and n in candidate):
            step, rank = map(int, re.search(r"step(\d+)/rank(\d+)/", name).groups())
            a, b = (flat(json.loads(pack[name])) for pack in (bench, candidate))
            found += [[step, rank, tag, a[tag] == b[tag], *differences(a[tag], b[tag])]
                      for tag in a if tag in b]
        return found

    return rows


def flat(value, prefix=""):
    """Dotted name -> figures."""
    if set(FIGURES) <= set(value):
        return {prefix: {figure: value[figure] for figure in FIGURES}}
    found = {}
    for key, part in value.items():
        found.update(flat(part, f"{prefix}.{key}" if prefix else key))
    return found


def differences(bench, candidate):
    return [(candidate[f] - bench[f]) / bench[f] if bench[f] else 0 for f in FIGURES]


def hyperparameters(bench, candidate):
    rows = []
    for name in sorted(n for n in bench if n.startswith("hyperparameters/") and n in candidate):
        a, b = json.loads(bench[name]), json.loads(candidate[name])
        file = name.rsplit("/", 1)[-1]
        rows += [[file, "Only in comparison", k, None, b[k], None, "warning"]
                 for k in b if k not in a]
        rows += [[file, k, "Only in benchmark", str(a[k]), None, None, "warning"]
                 for k in a if k not in b]
        rows += [[file, k, k, a[k], b[k], "pure name", "error"]
                 for k in a if k in b and a[k] != b[k]]
    return rows


def calls_of_random(bench, candidate):
    rows = []
    for name in sorted(n for n in bench if n.startswith("random/") and n in candidate):
        rank = int(re.search(r"rank(\d+)", name)[1])
        a, b = json.loads(bench[name]), json.loads(candidate[name])
        for op in sorted(set(a) & set(b)):
            for x, y in zip(a[op], b[op], strict=False):
                rows.append([op, rank, "\n".join(x["stack"]), "\n".join(y["stack"]),
                             x["count"], y["count"], x["count"] == y["count"]])
    return rows


READERS = {"env": env, "pip": pip, "dataset": figures_of("dataset"),
           "weights": figures_of("weights"), "hyperparameters": hyperparameters,
           "random": calls_of_random}
