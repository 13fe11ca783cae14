"""Practice stand-in for amct_onnx calibration: a deployable model with one quantised operator."""

import argparse
import os
import sys

KINDS = ("AscendQuant", "Conv", "AscendDequant", "Relu")


def field(number, content):
    """A short length-delimited field of a protocol buffer."""
    return bytes([number << 3 | 2, len(content)]) + content


def model(kinds):
    nodes = b"".join(field(1, field(4, kind.encode())) for kind in kinds)
    return (b"\x08\x08" + field(2, b"amct_onnx") + field(7, nodes + field(11, field(1, b"input")))
            + field(8, field(1, b"") + b"\x10\x0b"))


def main():
    parser = argparse.ArgumentParser(prog="amct_onnx")
    parser.add_argument("command", choices=["calibration"])
    for name in ("model", "save_path", "input_shape", "data_dir", "data_types",
                 "calibration_config"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--batch_num", type=int, default=1)
    args = parser.parse_args()
    if not os.path.isfile(args.model) or not os.path.isdir(args.data_dir):
        print("[ERROR] AMCT: the model or the calibration data does not exist.", file=sys.stderr)
        return 1
    for name, kinds in (("deploy", KINDS), ("fake_quant", ("QuantizeLinear", "Conv", "Relu"))):
        with open(f"{args.save_path}_{name}_model.onnx", "wb") as stream:
            stream.write(model(kinds))
        print(f"[INFO] AMCT: {args.save_path}_{name}_model.onnx was saved.", flush=True)
    return 0


sys.exit(main())
