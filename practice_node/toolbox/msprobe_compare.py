"""The comparison of two statistics dumps, with the columns and rules of msprobe 26.2.0."""

import csv
import json
import math
import os
import time

STATISTICS = ("Max", "Min", "Mean", "Norm")
COMMON = ["Dtype", "Tensor Shape", "Requires_grad"]
HEADER = [
    "NPU Name", "Bench Name", *(f"{side} {fact}" for fact in COMMON for side in ("NPU", "Bench")),
    "Max diff", "Min diff", "Mean diff", "L2norm diff",
    "MaxRelativeErr", "MinRelativeErr", "MeanRelativeErr", "NormRelativeErr",
    *(f"{side} {s}" for side in ("NPU", "Bench") for s in ("max", "min", "mean", "l2norm")),
    "Requires_grad Consistent", "Result", "Err_message", "NPU_Stack_Info"]
MISSING = "N/A"


def compare(args, say):
    stamp = time.strftime("%Y%m%d%H%M%S")
    for rank, npu, bench in pairs(args.target_path, args.golden_path):
        say("Matching APIs/Modules in progress...")
        rows = compared(dict(tensors(npu)), dict(tensors(bench)))
        say("APIs/Modules match done.")
        name = "_".join(["compare_result", *([rank] if rank else []), stamp])
        path = os.path.realpath(os.path.join(args.output, name + (".xlsx" if args.xlsx else ".csv")))
        (write_xlsx if args.xlsx else write_csv)(path, rows)
        say(f"The result file path is: {path}.")
    for line in ("*" * 84, f"*{'msprobe compare ends successfully.':^82}*", "*" * 84):
        say(line)


def pairs(npu, bench):
    """(rank, dump.json, dump.json): two files, or the ranks that two step folders share."""
    if os.path.isfile(npu) and os.path.isfile(bench):
        return [("", npu, bench)]
    ranks = [r for r in sorted(os.listdir(npu))
             if all(os.path.isfile(os.path.join(p, r, "dump.json")) for p in (npu, bench))]
    if not ranks:
        raise ValueError(f"no dump.json of the same rank in {npu} and {bench}: give two dump.json "
                         "files or two step folders")
    return [(r, os.path.join(npu, r, "dump.json"), os.path.join(bench, r, "dump.json"))
            for r in ranks]


def tensors(path):
    """(name, facts) of every tensor of a dump.json, in dump order."""
    with open(path) as stream:
        data = json.load(stream)["data"]
    for api, parts in data.items():
        yield from walk(f"{api}.input", parts.get("input_args") or [])
        yield from walk(f"{api}.input", parts.get("input_kwargs") or {})
        yield from walk(f"{api}.output", parts.get("output") or [])


def walk(name, value):
    if isinstance(value, dict) and value.get("type") == "torch.Tensor":
        yield name, value
    elif isinstance(value, dict) and "type" not in value:
        for key, part in value.items():
            yield from walk(f"{name}.{key}", part)
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from walk(f"{name}.{number}", part)


def compared(npu, bench):
    rows, worst_input = [], {}
    for name, tensor in npu.items():
        if name not in bench:
            rows.append(alone(name, tensor, "NPU"))
            continue
        api, is_input = name.rsplit(".input.", 1)[0].rsplit(".output.", 1)[0], ".input." in name
        row, norm_error = matched(name, tensor, bench[name])
        if is_input:
            worst_input[api] = max(worst_input.get(api, 0), norm_error)
        row[-3:] = [*verdict(tensor, bench[name], norm_error,
                             None if is_input else worst_input.get(api, 0)), MISSING]
        rows.append(row)
    return rows + [alone(name, tensor, "Bench") for name, tensor in bench.items()
                   if name not in npu]


def matched(name, npu, bench):
    """The row of two tensors, and the relative error of their norms."""
    a, b = [npu[k] for k in STATISTICS], [bench[k] for k in STATISTICS]
    pairs_of = list(zip(a, b, strict=True))
    same_grad = npu.get("requires_grad") == bench.get("requires_grad")
    facts = [side.get(k) for k in ("dtype", "shape", "requires_grad") for side in (npu, bench)]
    return ([name, name, *facts, *(number(x - y) for x, y in pairs_of),
             *(percent(relative(x, y)) for x, y in pairs_of), *map(number, a), *map(number, b),
             same_grad, "pass", "[]", MISSING], relative(*pairs_of[-1]))


def relative(npu, bench):
    if npu == bench:
        return 0
    return abs((npu - bench) / bench) if bench else math.inf


def percent(value):
    return f"{value * 100}%" if value and math.isfinite(value) else number(value)


def number(value):
    """Numbers as msprobe spells them: `Nan`, ` inf` in csv."""
    if isinstance(value, float) and not math.isfinite(value):
        return "Nan" if math.isnan(value) else f" {value}"
    return value


def verdict(npu, bench, norm_error, input_error):
    """Result and Err_message; `input_error` is None for an input."""
    messages = []
    extremes = [[side["Max"], side["Min"]] for side in (npu, bench)]
    if not all(map(math.isfinite, extremes[0])) and all(map(math.isfinite, extremes[1])):
        messages.append("error: There is nan/inf/-inf in the maximum or minimum value of NPU.")
    if input_error is not None and input_error < 0.1 and not norm_error <= 0.5:
        messages.append("error: The NormRelativeErr of output is greater than 0.5.")
    if npu["dtype"] != bench["dtype"] or npu["shape"] != bench["shape"]:
        messages.append("error: The dtype or shape of NPU and bench differ.")
    if messages:
        return "error", json.dumps(messages)
    if input_error and norm_error > 10 * input_error:
        return "warning", json.dumps(["warning: The NormRelativeErr of output is greater than 10 "
                                      "times that of input."])
    return "pass", "[]"


def alone(name, tensor, side):
    """The row of a tensor without counterpart."""
    values = dict.fromkeys(HEADER, MISSING)
    values.update({f"{side} Name": name, f"{side} Dtype": tensor["dtype"],
                   f"{side} Tensor Shape": tensor["shape"], "Result": "pass", "Err_message": "[]"})
    for key, column in zip(STATISTICS, ("max", "min", "mean", "l2norm"), strict=True):
        values[f"{side} {column}"] = number(tensor[key])
    return list(values.values())


def write_csv(path, rows):
    with open(path, "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(HEADER)
        writer.writerows(rows)


def write_xlsx(path, rows):
    from openpyxl import Workbook

    book = Workbook()
    for row in [HEADER, *rows]:
        book.active.append([str(cell) if isinstance(cell, list) else cell for cell in row])
    book.save(path)
