"""What is installed on a node: copies of version files, Python packages, variables of CANN.

Argument: folders of the installation, separated by colons. Writes the copies and
`software.report.json`; nothing on the node is changed.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys

STEERING = re.compile(r"^(?:ASCEND_|ATB_|HCCL_|NPU_|PYTORCH_|TASK_QUEUE|COMBINED_|MULTI_STREAM_|"
                      r"LD_LIBRARY_PATH$|MIES_|MINDIE_|CPU_AFFINITY)")
FILES = (  # name of the copy, patterns below an installation folder; the newest hit counts
    ("driver_version.info", ("driver/version.info",)),
    ("firmware_version.info", ("firmware/version.info",)),
    ("ascend_toolkit_install.info", ("*/latest/*/ascend_toolkit_install.info",
                                     "cann/*/ascend_toolkit_install.info",
                                     "*/*/*/ascend_toolkit_install.info",
                                     "cann-*/*/ascend_toolkit_install.info")),
    ("cann_version.cfg", ("*/latest/version.cfg", "cann/version.cfg")),
)
PARTS = (
    ("toolkit", FILES[2][1]),
    ("kernels", ("*/latest/opp/built-in/op_impl/ai_core/tbe/kernel/ascend*",
                 "*/latest/opp_kernel/version.info",
                 "cann/opp/built-in/op_impl/ai_core/tbe/kernel/ascend*")),
    ("nnal", ("nnal/atb/latest/version.info", "nnal/*/ascend_nnal_install.info")),
)
OPERATORS = ("*/latest/opp/built-in/op_impl/ai_core/tbe", "cann/opp/built-in/op_impl/ai_core/tbe")
TOOLS = ("*/latest/tools/ms_fmk_transplt", "cann/tools/ms_fmk_transplt", "*/latest/tools",
         "cann/tools")


def newest(folders, patterns):
    found = [path for folder in folders for pattern in patterns
             for path in glob.glob(os.path.join(folder, pattern))]
    return max(found, key=os.path.getmtime) if found else None


def copied(folders):
    for name, patterns in FILES:
        path = newest(folders, patterns)
        if path:
            shutil.copyfile(path, name)
            yield {"file": name, "path": path}
    if os.path.isfile("/etc/ascend_install.info"):
        shutil.copyfile("/etc/ascend_install.info", "ascend_install.info")
        yield {"file": "ascend_install.info", "path": "/etc/ascend_install.info"}


def parts(folders):
    for name, patterns in PARTS:
        path = newest(folders, patterns)
        if path:
            yield {"name": name, "path": path, "installed_at": int(os.path.getmtime(path))}


def packages():
    """`pip3 list` as it is; empty where there is no pip."""
    try:
        answer = subprocess.run(["pip3", "list"], check=False, capture_output=True, text=True,
                                timeout=120)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout


def main(given):
    folders = [os.path.expanduser(folder) for folder in given.split(":") if folder]
    files, found = list(copied(folders)), list(parts(folders))
    with open("packages.txt", "w") as stream:
        stream.write(packages())
    names = [part["name"] for part in found]
    report = {
        "desk_report": "software", "folders": folders, "files": files, "parts": found,
        # known only where the folder into which the kernels are laid is there
        "has_kernels": "kernels" in names or (False if newest(folders, OPERATORS) else None),
        "tool_path": newest(folders, TOOLS) or "",
        "environment": {n: v for n, v in sorted(os.environ.items()) if STEERING.match(n)},
    }
    with open("software.report.json", "w") as stream:
        json.dump(report, stream, indent=1)
    print(f"{len(files)} version files, installed: {', '.join(names) or 'nothing'}")
    return 0


sys.exit(main(sys.argv[1]))
