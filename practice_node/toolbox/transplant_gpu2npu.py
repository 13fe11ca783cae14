"""Practice stand-in for pytorch_gpu2npu.sh of msfmktransplt (mstt 99c2e0f99); really rewrites."""

import os
import re
import shutil
import sys

import transplant
from faults import fault

CHANGES = [  # pattern, replacement, message
    (re.compile(r"\btorch\.cuda\.([\w.]+)(?=\()"), r"torch_npu.npu.\1",
     r"change function torch.cuda.\1 to torch_npu.npu.\1"),
    (re.compile(r"\btorch\.cuda\b"), "torch_npu.npu", "change module cuda to npu"),
    (re.compile(r"\.cuda\("), ".npu(", "change function cuda to npu"),
    (re.compile(r"\.is_cuda\b"), ".is_npu", 'replace attribute "is_cuda" with "is_npu"'),
    (re.compile(r"(?P<q>['\"])cuda(?P<rest>(:\d*)?)(?=(?P=q))"), r"\g<q>npu\g<rest>",
     'replace string "cuda" with "npu"'),
    (re.compile(r"(?P<q>['\"])nccl(?=(?P=q))"), r"\g<q>hccl", 'replace string "nccl" with "hccl"'),
]
REMOVED = re.compile(r"^\s*import (amp_C)\b")
CHANGE_COLUMNS = ["File", "Start Line", "End Line", "Operation Type", "Message"]


def change_line(line):
    """The new line and its messages."""
    messages = []
    for pattern, new, message in CHANGES:
        messages += [found.expand(message) for found in pattern.finditer(line)]
        line = pattern.sub(new, line)
    return line, messages


def rewrite(path, relative, log):
    """Rewrite one file in place; returns its rows of change_list.csv."""
    with open(path, encoding="utf-8", errors="replace") as stream:
        lines = stream.read().split("\n")
    rows, written = [], []
    for number, line in enumerate(lines, 1):
        if found := REMOVED.match(line):
            rows.append([relative, number, number, "DELETE",
                         f"import {found[1]} has been removed"])
            continue
        new, messages = change_line(line)
        rows += [[relative, number, number, "MODIFY", message] for message in messages]
        written.append(new)
    first = next((n for n, line in enumerate(written) if re.match(r"import torch\b", line)), None)
    if first is not None:
        written.insert(first + 1, "import torch_npu")
        rows.insert(0, [relative, first + 2, first + 2, "INSERT", "import torch_npu"])
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("\n".join(written))
    for row in rows:
        log.operation(row, row[3], row[4])
    return rows


def distributed_script(copy, entry):
    path = os.path.join(copy, "run_distributed_npu.sh")
    with open(path, "w") as stream:
        stream.write("export MASTER_ADDR=127.0.0.1\nexport MASTER_PORT=29688\n"
                     "export HCCL_WHITELIST_DISABLE=1\n\n"
                     "NPUS=($(seq 0 7))\nexport RANK_SIZE=${#NPUS[@]}\n"
                     "for i in $(seq 0 7)\ndo\n    export RANK_ID=$i\n"
                     f"    nohup python3 {entry} > npu$i.log 2>&1 &\ndone\n")
    os.chmod(path, 0o750)


def arguments():
    options = transplant.parser()
    options.add_argument("-s", "--specify-device", action="store_true")
    commands = options.add_subparsers(dest="command")
    multi = commands.add_parser("distributed")
    multi.add_argument("-m", "--main", required=True)
    multi.add_argument("-t", "--target_model", default="model")
    return options.parse_args()


def main():
    args = arguments()
    log = transplant.Log()
    name = f"{os.path.basename(args.source)}_msft{'_multi' if args.command else ''}"
    copy = os.path.join(args.output, name)
    result = os.path.join(copy, "transplant_result_file")
    for text in ("Start to check input path...", "Start to copy files...", "Initialing rules..."):
        log.say("INFO", text)
    shutil.copytree(args.source, copy, dirs_exist_ok=True)
    os.makedirs(result, exist_ok=True)
    log.say("INFO", "MsFmkTransplt start working now, please wait for a moment.")
    log.say("INFO", "Analysis start...")
    tables = transplant.scan(args.source, args.version, log)
    transplant.write_tables(result, tables)
    if fault("analysis_error"):
        log.say("ERROR", "An unknown error occurred, the transplant is stopped.")
        return 1
    changes = [row for relative, path in list(transplant.python_files(args.source))
               if transplant.parsed(path) is not None
               for row in rewrite(os.path.join(copy, relative), relative, log)]
    transplant.write(result, "change_list.csv", CHANGE_COLUMNS, changes)
    if args.command:
        distributed_script(copy, args.main)
    counts = {table: len(rows) for table, rows in tables.items()}
    transplant.finish(log, "MsFmkTransplt", name, {**counts, "change_list.csv": len(changes)})
    log.write(os.path.join(result, "msFmkTranspltlog.txt"))
    return 0


sys.exit(main())
