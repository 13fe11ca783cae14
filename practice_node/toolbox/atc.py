"""Practice stand-in for the ATC model converter; messages as printed by CANN's atc (hicann/ge)."""

import argparse
import hashlib
import json
import os
import re
import sys
import time

from faults import fault

SOCS = re.compile(r"Ascend(310|310B[1-4]|310P[1357]|910(A|B|ProA|ProB|PremiumA)?|910B[1-4](-1)?"
                  r"|910B2C|910_93\d\d)$")
FAILED = "ATC run failed, Please check the detail log, Try 'atc --help' for more information"
NO_PARSER = "No parser is registered for Op [{op}, optype [ai.onnx::11::Convx]]."
SOLUTION = ("        Solution: Check the version of the installation package and reinstall the "
            "package. For details, see the operator specifications.")


def fail(code, text, *more):
    print(FAILED)
    print(f"{code}: {text}")
    for line in more:
        print(line)
    return 1


def refused(name, value, reason):
    return fail("E10001", f"Value [{value}] for parameter [--{name}] is invalid. Reason: {reason}")


def unknown_operator():
    return fail("E19010", NO_PARSER.format(op="Conv_52"), SOLUTION,
                "        TraceBack (most recent call last):",
                "        " + NO_PARSER.format(op="Conv_112"),
                "        ATC model parse ret fail.[FUNC:ParseGraph][FILE:omg.cc][LINE:788]")


def main():
    parser = argparse.ArgumentParser(prog="atc", allow_abbrev=False)  # --mode is not --model
    for name in ("model", "framework", "output", "soc_version", "input_shape", "singleop"):
        parser.add_argument(f"--{name}")
    args = parser.parse_known_args()[0]
    print("ATC start working now, please wait for a moment.", flush=True)
    return single_operators(args) if args.singleop else of_network(args)


def of_network(args):
    if not args.model or not os.path.isfile(args.model):
        return refused("model", args.model, "the file does not exist.")
    if args.framework not in ("0", "1", "3", "5"):
        return refused("framework", args.framework, "it must be 0, 1, 3 or 5.")
    if not args.output:
        return refused("output", args.output, "it is required.")
    if not SOCS.match(args.soc_version or ""):
        return refused("soc_version", args.soc_version, "the SoC version is not supported.")
    if fault("conversion_error"):
        return unknown_operator()
    time.sleep(3 if fault("slow") else 0.3)
    return convert(args)


def single_operators(args):
    """One model per operator of the description, named after its type."""
    if not SOCS.match(args.soc_version or ""):
        return refused("soc_version", args.soc_version, "the SoC version is not supported.")
    try:
        with open(args.singleop) as stream:
            described = json.load(stream)
    except (OSError, ValueError):
        return refused("singleop", args.singleop, "the file is no JSON.")
    os.makedirs(args.output, exist_ok=True)
    for number, entry in enumerate(described):
        shapes = "_".join(f"{d['format']}_{'_'.join(map(str, d['shape']))}"
                          for d in entry["input_desc"])
        path = os.path.join(args.output, f"{number}_{entry['op']}_{shapes}.om")
        with open(path, "wb") as stream:
            stream.write(b"IMOD" + hashlib.sha256(json.dumps(entry).encode()).digest())
    print("ATC run success, welcome to the next use.")
    return 0


def convert(args):
    if fault("full_disk"):
        return fail("E19999", f"Write file {args.output}.om failed: No space left on device")
    with open(args.model, "rb") as stream:
        content = stream.read()
    with open(f"{args.output}.om", "wb") as stream:
        stream.write(b"IMOD" + hashlib.sha256(content).digest() + content)
    print("ATC run success, welcome to the next use.")
    return 0


sys.exit(main())
