"""Practice stand-in for msprobe: its checks and comparisons, in the formats of 26.2.0.

Used only where the genuine package is not installed. All of them really read their inputs.
"""

import argparse
import os
import sys
import time
import zipfile

import msprobe_checks
import msprobe_compare
import msprobe_config


def say(text, level="INFO"):
    print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} ({os.getpid()}) [{level}] {text}", flush=True)


def parse():
    words = sys.argv[1:]
    if words[:1] == ["-f"]:  # the framework was named first until 8.x
        words = words[2:]
    parser = argparse.ArgumentParser(prog="msprobe")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("config_check")
    check.add_argument("-c", "--compare", nargs=2, required=True, metavar=("BENCH", "CMP"))
    check.add_argument("-o", "--output", default="./config_check_result")
    two = commands.add_parser("compare")
    two.add_argument("-tp", "--target_path", required=True)
    two.add_argument("-gp", "--golden_path", required=True)
    two.add_argument("-o", "--output_path", dest="output", default="./output")
    two.add_argument("--xlsx", action="store_true")
    one = commands.add_parser("acc_check")
    one.add_argument("-api_info", "--api_info_file", dest="api_info", required=True)
    one.add_argument("-o", "--out_path", dest="output", default="./output")
    one.add_argument("-d", "--device", type=int, nargs="+", default=[0])
    ranks = commands.add_parser("overflow_check")
    ranks.add_argument("-i", "--input_path", required=True)
    ranks.add_argument("-o", "--output_path", dest="output", default="./output")
    graph = commands.add_parser("graph_visualize")
    graph.add_argument("-tp", "--target_path", required=True)
    graph.add_argument("-gp", "--golden_path")
    graph.add_argument("-o", "--output_path", dest="output", required=True)
    for option in ("-oc", "-fm"):
        graph.add_argument(option, action="store_true")
    return parser.parse_args(words)


def main():
    args = parse()
    run = {"config_check": msprobe_config.check, "compare": msprobe_compare.compare,
           "acc_check": msprobe_checks.api_check, "overflow_check": msprobe_checks.overflow,
           "graph_visualize": msprobe_checks.graph}[args.command]
    try:
        os.makedirs(args.output, exist_ok=True)
        run(args, say)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        say(f"msprobe {args.command} failed: {error}", "ERROR")
        return 1
    return 0


sys.exit(main())
