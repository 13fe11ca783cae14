"""Practice stand-in for pytorch_gpu2npu.sh of msfmktransplt (mstt 99c2e0f99); really rewrites."""

import os
import shutil
import sys

import transplant
from faults import fault

REWRITES = [("torch.cuda.", "torch_npu.npu.", "change function torch.cuda to torch_npu.npu"),
            (".cuda(", ".npu(", "change function cuda to npu"),
            ('"nccl"', '"hccl"', 'replace string "nccl" with "hccl"'),
            ("'nccl'", "'hccl'", 'replace string "nccl" with "hccl"'),
            ('"cuda', '"npu', 'replace string "cuda" with "npu"'),
            ("'cuda", "'npu", 'replace string "cuda" with "npu"')]


def rewrite(path, relative):
    """Rewrite one file in place; returns its rows of change_list.csv."""
    with open(path, encoding="utf-8") as stream:
        lines = stream.read().split("\n")
    changes = []
    for number, line in enumerate(lines, 1):
        for old, new, message in REWRITES:
            if old in line:
                line = line.replace(old, new)  # noqa: PLW2901
                changes.append([relative, number, number, "MODIFY", message])
        lines[number - 1] = line
    first = next((n for n, line in enumerate(lines) if line.startswith("import torch")), None)
    if changes and first is not None:
        lines.insert(first + 1, "import torch_npu")
        changes.insert(0, [relative, first + 2, first + 2, "INSERT", "import torch_npu"])
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("\n".join(lines))
    for _file, start, end, kind, message in changes:
        transplant.log("INFO", f"[Progress:  0.00%]  line: {start} ~ {end} Operation Type: {kind}"
                               f" Message: {message}")
    return changes


def main():
    args = transplant.arguments()
    transplant.require_folders(args)
    name = os.path.basename(os.path.normpath(args.source))
    is_multi = "distributed" in sys.argv
    copy = os.path.join(args.output, name + ("_msft_multi" if is_multi else "_msft"))
    result = os.path.join(copy, "transplant_result_file")
    shutil.copytree(args.source, copy, dirs_exist_ok=True)
    os.makedirs(result, exist_ok=True)
    transplant.log("INFO", "MsFmkTransplt start working now, please wait for a moment.")
    if fault("analysis_error"):
        return 1
    tables = transplant.scan(args.source)
    changes = [row for relative, path in list(transplant.python_files(copy))
               for row in rewrite(path, relative)]
    transplant.write_tables(result, *tables)
    transplant.write(result, "change_list.csv",
                     ["File", "Start Line", "End Line", "Operation Type", "Message"], changes)
    with open(os.path.join(result, "msFmkTranspltlog.txt"), "w") as stream:
        transplant.log("INFO", "MsFmkTransplt start working now, please wait for a moment.", stream)
        transplant.log("INFO", "[Progress:100.00%]  MsFmkTransplt run succeeded, "
                               "welcome to the next use.", stream)
    transplant.finish({"unsupported_api.csv": len(tables[0]), "unknown_api.csv": len(tables[1]),
                       "change_list.csv": len(changes)})
    return 0


sys.exit(main())
