"""Practice stand-in for msprof (CANN 8.5): runs the application, exports op_summary tables.

Columns as CANN's own OpSummaryAssembler writes them; the times are measured on this machine.
"""

import csv
import glob
import json
import math
import os
import shlex
import subprocess
import sys
import time

from faults import fault

HEADER = ("Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,"
          "Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Dim,HF32 Eligible,"
          "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,"
          "Output Formats").split(",")
MARKS = ("pid,tid,category,event_type,payload_type,payload_value,Start_time(us),End_time(us),"
         "message_type,message").split(",")
OPERATORS = ("MatMul", "Softmax", "LayerNorm", "Add")


def measured():
    """Operators with the microseconds that computing something took."""
    for name in OPERATORS * 3:
        began = time.perf_counter()
        sum(math.sqrt(n) for n in range(2000 * len(name)))
        yield name, (time.perf_counter() - began) * 1e6


def collect(output, application):
    status = subprocess.run(shlex.split(application), check=False).returncode
    folder = os.path.join(output, "PROF_000001_20260101000000000_PRACTICE", "device_0", "data")
    os.makedirs(folder)
    with open(os.path.join(folder, "tasks.json"), "w") as stream:
        json.dump(list(measured()), stream)
    return status


def export(output):
    for data in glob.glob(os.path.join(output, "PROF_*", "device_0", "data", "tasks.json")):
        with open(data) as stream:
            tasks = json.load(stream)
        root = data.split(os.sep + "device_0", 1)[0]
        folder = os.path.join(root, "mindstudio_profiler_output")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "op_summary_20260101000000.csv"), "w", newline="") as out:
            rows = csv.writer(out)
            rows.writerow(HEADER)
            for number, (name, duration) in enumerate(tasks):
                rows.writerow([0, 4294967295, number, 2, f"aclnn{name}_{number}", name, "dynamic",
                               "AI_CORE", 1000.0 * number, f"{duration:.3f}", 0, 20, "NO",
                               "32,128", "FLOAT16", "ND", "32,128", "FLOAT16", "ND"])
        marks = data.replace("tasks.json", "marks.json")
        if os.path.isfile(marks):
            with open(marks) as stream, open(os.path.join(
                    folder, "msprof_tx_20260101000000.csv"), "w", newline="") as out:
                rows = csv.writer(out)
                rows.writerow(MARKS)
                rows.writerows(["1", "1", "", "push/pop", "", "", start, end, "", text]
                               for start, end, text in json.load(stream))
        print(f"[INFO] Process profiling data complete. Data is saved in {os.path.abspath(root)}")


options = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if "=" in word)
status = 0
if "application" in options:
    status = collect(options["output"], options["application"])
if not fault("analysis_error"):
    export(options["output"])
sys.exit(status)
