"""A profile prepared for MindStudio Insight: what is there per rank, packed in one archive.

Arguments: folder of the profile, largest size of the archive in bytes. Writes `insight.report.json`
and `profile-for-insight.zip`. Plain Python 3.8, standard library only.
"""

import glob
import json
import os
import re
import sys
import zipfile

OUTPUT = "ASCEND_PROFILER_OUTPUT"
WANTED = ("trace_view.json", "kernel_details.csv", "step_trace_time.csv", "communication.json",
          "communication_matrix.json", "operator_memory.csv", "memory_record.csv",
          "op_statistic.csv", "operator_details.csv", "api_statistic.csv")


def rank_of(folder):
    for path in glob.glob(os.path.join(glob.escape(folder), "profiler_info_*.json")):
        found = re.search(r"profiler_info_(\d+)\.json$", path)
        if found:
            return int(found[1])
    found = re.search(r"rank_?(\d+)", os.path.basename(folder))
    return int(found[1]) if found else None


def main(root, most):
    root, most = os.path.abspath(os.path.expanduser(root)), int(most)
    ranks, files = [], []
    for place, folders, names in os.walk(root):
        if os.path.basename(place) != OUTPUT:
            continue
        folders[:] = []
        databases = [name for name in names if name.endswith(".db")]
        above = os.path.dirname(place)
        ranks.append({"folder": os.path.relpath(above, root), "rank": rank_of(above),
                      "files": sorted(set(names) & set(WANTED)), "databases": databases,
                      "missing": [name for name in WANTED[:3] if name not in names]})
        files += [os.path.join(place, name) for name in names
                  if name in WANTED or name in databases]
        files += [os.path.join(above, name) for name in os.listdir(above)
                  if name.startswith("profiler_") and name.endswith(".json")]
    size = sum(map(os.path.getsize, files))
    packed = bool(files) and size <= most
    if packed:
        base = os.path.dirname(root.rstrip("/"))
        with zipfile.ZipFile("profile-for-insight.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(files):
                archive.write(path, os.path.relpath(path, base))
    with open("insight.report.json", "w") as stream:
        json.dump({"desk_report": "insight", "ranks": ranks, "bytes": size, "packed": packed,
                   "folder": root}, stream, indent=1)
    print(f"{len(ranks)} ranks, {len(files)} files, {size} bytes")
    return 0 if ranks else 3


sys.exit(main(*sys.argv[1:3]))
