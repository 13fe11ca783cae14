"""Practice stand-in for msprof-analyze 8.x: reads step_trace_time.csv and really sums it.

Like the tool it ends with status 0 even where it found nothing to analyse.
"""

import argparse
import csv
import os
import sys
import time

from faults import fault
from openpyxl import Workbook

BANNER = """=================================================================
                   >>>>>   MindStudio   <<<<<
    THE END-TO-END TOOLCHAIN TO UNLEASH HUAWEI ASCEND COMPUTE
================================================================="""
TABLE = "step_trace_time.csv"
PARTS = ("Computing", "Communication(Not Overlapped)", "Free")
HEADER = ["Index", "Duration(ms)", "Duration Ratio", "Number"]


def say(place, text, level="INFO"):
    print(f"[{time.strftime('%Y-%m-%d %H:%M:%S')}][{level}][{place}] {text}", flush=True)


def tables(folder):
    """Rank folder -> rows of its step times."""
    found = {}
    for place, _folders, names in sorted(os.walk(folder)):
        if TABLE in names:
            with open(os.path.join(place, TABLE), newline="") as stream:
                found[os.path.dirname(place)] = list(csv.DictReader(stream))
    return found


def sums(folder):
    """Mean milliseconds per step of each part; the file has microseconds."""
    rows = [row for table in tables(folder).values() for row in table]
    return {p: sum(float(r[p]) for r in rows) / len(rows) / 1000 for p in PARTS} if rows else {}


def advisor(args):
    say("analyzer_controller.py:399", "Start schedule analysis")
    found = sums(args.d)
    if not found:
        say("analyzer_controller.py:401", f"no profiling data in {args.d}", "ERROR")
        return
    book = Workbook()
    sheet = book.active
    sheet.title = "问题综述"
    sheet.append(["category", "description", "suggestion", "problem count", "total_time(us)",
                  "time ratio", "income(us)", "income ratio"])
    sheet.append(["整网耗时分析", f"模型E2E的时间是{sum(found.values()):.3f}ms。"])
    if found["Free"] > 0.1 * sum(found.values()):
        sheet.append(["空闲时间分析", "空闲时间超过10%", "1. 请检查下发"])
    whole = book.create_sheet("整网耗时分析")
    whole.append(["Performance Index", "Duration(ms)", "Duration Ratio"])
    for name, part in zip(("计算时长", "未被掩盖的通信时长", "空闲时长"), PARTS):
        whole.append([name, f"{found[part]:.3f}", f"{found[part] / sum(found.values()):.2%}"])
    folder = os.path.join(args.o, "log")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, time.strftime("mstt_advisor_%Y%m%d%H%M%S.xlsx"))
    book.save(path)
    say("result.py:187", f"Save problems details file to {path}")


def compare(args):
    say("detail_performance_generator.py:74", "Start to compare performance detail data")
    ours, base = sums(args.d), sums(args.bp)
    if not ours or not base:
        say("detail_performance_generator.py:80", "no profiling data", "ERROR")
        return
    book = Workbook()
    sheet = book.active
    sheet.title = "OverallMetrics"
    sheet.append([None, f"Base Profiling: {args.bp}", None, None,
                  f"Comparison Profiling: {args.d}"])
    sheet.append([])
    sheet.append([*HEADER, *HEADER[1:], "Diff Duration(ms)", "Diff Ratio"])
    for name, part in zip(("Computing Time", "Uncovered Communication Time", "Free Time"), PARTS):
        a, b = base[part], ours[part]
        sheet.append([name, a, a / sum(base.values()), 1, b, b / sum(ours.values()), 1, b - a,
                      b / a if a else 1])
    os.makedirs(args.o, exist_ok=True)
    path = os.path.join(args.o, time.strftime("performance_comparison_result_%Y%m%d%H%M%S.xlsx"))
    book.save(path)
    say("detail_performance_generator.py:90", f"The comparison result file has been generated: {path}")


def cluster(args):
    found = tables(args.d)
    say("cluster_analysis.py:71", "Start allocate profiling data.")
    if not found:
        say("cluster_analysis.py:75", "no ranks found", "ERROR")
        return
    folder = os.path.join(args.o, "cluster_analysis_output")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "cluster_step_trace_time.csv"), "w", newline="") as stream:
        columns = [c for c in next(iter(found.values()))[0] if c != "Step"]
        writer = csv.writer(stream)
        writer.writerow(["Step", "Type", "Index", *columns])
        for rank, rows in enumerate(found.values()):
            writer.writerows([row["Step"], "rank", rank, *(row[c] for c in columns)] for row in rows)
    say("cluster_analysis.py:131", f"The cluster analysis result file has been generated: {folder}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="*")
    parser.add_argument("-m")
    for name in ("d", "bp"):
        parser.add_argument(f"-{name}")
    parser.add_argument("-o", "--output_path", dest="o", default=".")
    args = parser.parse_args()
    print(BANNER)
    if fault("analysis_error"):
        args.d = "/nonexistent"
    {"advisor": advisor, "compare": compare}.get((args.words or [""])[0], cluster)(args)
    return 0


sys.exit(main())
