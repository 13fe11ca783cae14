"""Practice stand-in for msmodelslim quant: describes weights as the tool does.

On the fault `other_scheme` it quietly makes W8A8, as the tool did for W4A8.
"""

import argparse
import json
import os
import sys

from faults import fault

PARTS = ("weight_scale", "weight_offset", "input_scale", "input_offset", "quant_bias")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["quant"])
    for name in ("model_path", "save_path", "device", "model_type", "quant_type",
                 "trust_remote_code"):
        parser.add_argument(f"--{name}")
    args = parser.parse_args()
    if not os.path.isdir(args.model_path):
        print(f"UnexpectedError: Code: 500, {args.model_path} is not a folder", file=sys.stderr)
        return 1
    scheme = "W8A8" if fault("other_scheme") else args.quant_type.upper()
    found = {"version": "1.0.0", "model_quant_type": scheme, "model.embed_tokens.weight": "FLOAT"}
    weights = (name for name in os.listdir(args.model_path) if not name.endswith(".json"))
    for name in sorted(weights):
        found[f"{name}.weight"] = scheme
        found.update({f"{name}.{part}": scheme for part in PARTS})
    os.makedirs(args.save_path)
    with open(os.path.join(args.save_path, "quant_model_description.json"), "w") as stream:
        json.dump(found, stream, indent=2)
    print(f"msmodelslim - INFO - quantised weights are saved to {args.save_path}")
    return 0


sys.exit(main())
