"""Practice stand-in for aoe: times hashing the model in blocks of several sizes and keeps the best."""

import argparse
import hashlib
import json
import os
import sys
import time

from faults import fault

BLOCKS = (64, 256, 1024, 65536)


def timed(content, block):
    began = time.perf_counter()
    found = hashlib.sha256()
    for at in range(0, len(content), block):
        found.update(content[at:at + block])
    return (time.perf_counter() - began) * 1000


def main():
    parser = argparse.ArgumentParser()
    for name in ("model", "framework", "job_type", "output"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    if not os.path.isfile(args.model) or fault("conversion_error"):
        print("[ERROR] The model cannot be parsed. Aoe process failed")
        return 1
    with open(args.model, "rb") as stream:
        content = stream.read()
    times = [min(timed(content, block) for _n in range(3)) for block in BLOCKS]
    best = min(times)
    name = "OPAT" if args.job_type == "2" else "SGAT"
    report = {"basic": {"tuning_name": os.path.basename(args.model), "tuning_time(s)": 1},
              name: {"model_baseline_performance(ms)": round(times[0], 6),
                     "model_performance_improvement": f"{(times[0] - best) / times[0]:.2%}",
                     "model_result_performance(ms)": round(best, 6),
                     f"{name.lower()}_tuning_result": "tuning successful",
                     "repo_summary": {"repo_hit_num": len(BLOCKS), "total_num": len(BLOCKS)}}}
    stamp = time.strftime("%Y%m%d%H%M%S")
    with open(f"aoe_result_{name.lower()}_{stamp}_pid{os.getpid()}.json", "w") as stream:
        json.dump([report], stream, indent=2)
    print("Aoe process finished")
    return 0


sys.exit(main())
