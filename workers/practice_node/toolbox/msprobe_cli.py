"""Practice stand-in for msprobe: config_check and compare, in the formats of 26.2.0.

Used only where the genuine package is not installed. Both really read their inputs.
"""

import argparse
import os
import sys
import time
import zipfile

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
    return parser.parse_args(words)


def main():
    args = parse()
    run = {"config_check": msprobe_config.check, "compare": msprobe_compare.compare}[args.command]
    try:
        os.makedirs(args.output, exist_ok=True)
        run(args, say)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        say(f"msprobe {args.command} failed: {error}", "ERROR")
        return 1
    return 0


sys.exit(main())
