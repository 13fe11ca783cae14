"""Static scan of a migrated project: is the automatic migration switched on, what speaks against.

Arguments: folder, entry script. Rules as in DOMAIN 5.2; comments are left out of the search.
"""

import io
import json
import os
import re
import sys
import tokenize

ADAPTOR = re.compile(r"^\s*(?:import mindspeed\.megatron_adaptor|"
                     r"from mindspeed import megatron_adaptor|"
                     r"import mindspeed\.megatron_adaptor as \w+)", re.M)
TRANSFER = re.compile(r"^\s*(?:from torch_npu\.contrib import transfer_to_npu|"
                      r"import torch_npu\.contrib\.transfer_to_npu)", re.M)
TORCH = re.compile(r"^\s*(?:import|from) torch\b", re.M)
BLOCKING, WARNING = "blocking", "warning"
RULES = (
    ("R-SCR-01", BLOCKING, re.compile(r"\bchannels_last\b")),
    ("R-SCR-02", BLOCKING, re.compile(r"\btorch\.jit\.script\b")),
    ("R-SCR-03", BLOCKING, re.compile(r"[=!]=\s*['\"]nccl['\"]|['\"]nccl['\"]\s*[=!]=")),
    ("R-SCR-06", BLOCKING, re.compile(r"^\s*(?:import|from)\s+amp_C\b", re.M)),
    ("R-SCR-07", WARNING, re.compile(r"\.cuda\(|\btorch\.cuda\.|['\"]cuda(?::\d+)?['\"]")),
)
SUPPRESSED = ("R-SCR-03", "R-SCR-06")  # R-SCR-05: the adaptor patches these itself


def without_comments(text):
    """The same lines with comments blanked; as it is where it cannot be parsed."""
    lines = text.splitlines(True)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                lines[row - 1] = lines[row - 1][:column] + "\n"
    except (tokenize.TokenError, SyntaxError):
        return text
    return "".join(lines)


def sources(folder):
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        for name in sorted(names):
            yield os.path.join(place, name)


def findings_of(path, name, adapted):
    if path.endswith((".cu", ".cuh")):
        yield {"rule": "R-SCR-09", "severity": BLOCKING, "file": name, "line": 1, "text": ""}
    if not path.endswith(".py"):
        return
    with open(path, encoding="utf-8", errors="replace") as stream:
        text = without_comments(stream.read())
    for rule, severity, pattern in RULES:
        if adapted and rule in SUPPRESSED:
            continue
        for hit in pattern.finditer(text):
            yield {"rule": rule, "severity": severity, "file": name,
                   "line": text.count("\n", 0, hit.start()) + 1, "text": hit.group().strip()}


def main(folder, entry):
    folder, entry = os.path.expanduser(folder), os.path.expanduser(entry)
    try:
        with open(entry, encoding="utf-8", errors="replace") as stream:
            start = without_comments(stream.read())
    except OSError as error:
        print(error)
        return 2
    adaptor, transfer = ADAPTOR.search(start), TRANSFER.search(start)
    torch = TORCH.search(start)
    found = []
    if not adaptor and not transfer:
        found.append({"rule": "import", "severity": BLOCKING, "file": os.path.basename(entry),
                      "line": 1, "text": "transfer_to_npu"})
    if adaptor and (torch is None or torch.start() > adaptor.start()):
        found.append({"rule": "R-SCR-10", "severity": BLOCKING, "file": os.path.basename(entry),
                      "line": start.count("\n", 0, adaptor.start()) + 1, "text": "order"})
    paths = list(sources(folder))
    for path in paths:
        found += findings_of(path, os.path.relpath(path, folder), bool(adaptor))
    report = {"desk_report": "patch_check", "is_adapted": bool(adaptor or transfer),
              "findings": found[:2000],
              "files": sum(path.endswith(".py") for path in paths),
              "blocking": sum(f["severity"] == BLOCKING for f in found),
              "warnings": sum(f["severity"] == WARNING for f in found)}
    with open("patch_check.report.json", "w") as stream:
        json.dump(report, stream, indent=1)
    print(f"{report['blocking']} blocking findings, {report['warnings']} warnings")
    return 0


sys.exit(main(*sys.argv[1:3]))
