"""Practice stand-in for the ATC model converter; messages as printed by CANN's atc."""

import argparse
import hashlib
import os
import re
import sys
import time

from faults import fault

FAILED = "ATC run failed, Please check the detail log, Try 'atc --help' for more information"


def fail(code, text):
    print(FAILED)
    print(f"{code}: {text}")
    return 1


def main():
    parser = argparse.ArgumentParser()
    for name in ("model", "framework", "output", "soc_version", "input_shape"):
        parser.add_argument(f"--{name}")
    args = parser.parse_known_args()[0]
    print("ATC start working now, please wait for a moment.", flush=True)
    time.sleep(0.3)
    if not args.model or not os.path.isfile(args.model):
        return fail("E10401", f"[{args.model}] is invalid. Reason: the file does not exist.")
    if not re.fullmatch(r"Ascend(310P?\d?|910\w*)", args.soc_version or ""):
        return fail("E10001", f"Value [{args.soc_version}] for parameter [--soc_version] is "
                              "invalid. Reason: the SoC version is not supported.")
    if fault("conversion_error"):
        return fail("E19010", "No parser is registered for Op [Conv_52, optype [ai.onnx::11::Convx]].")
    with open(args.model, "rb") as stream:
        content = stream.read()
    with open(f"{args.output}.om", "wb") as stream:
        stream.write(b"IMOD" + hashlib.sha256(content).digest() + content)
    print("ATC run success, welcome to the next use.")
    return 0


sys.exit(main())
