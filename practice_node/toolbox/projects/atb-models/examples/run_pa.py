"""Practice stand-in for run_pa.py of ATB Speed: an answer from the weights' own bytes."""

import argparse
import os
import sys

WORDS = "a network of layers learns features from data step by step".split()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model_path", required=True)
    parser.add_argument("--input_texts", nargs="+", default=["What is deep learning?"])
    parser.add_argument("--max_output_length", type=int, default=20)
    args = parser.parse_args()
    if not os.path.isdir(args.model_path):
        print(f"OSError: {args.model_path} is not a folder with weights", file=sys.stderr)
        return 1
    size = sum(os.path.getsize(os.path.join(args.model_path, n)) for n in
               os.listdir(args.model_path))
    print("rank: 0, device: npu:0")
    for i, question in enumerate(args.input_texts):
        words = [WORDS[(size + 3 * k) % len(WORDS)] for k in range(args.max_output_length)]
        print(f"Question[{i}]: {question}")
        print(f"Answer[{i}]:  {' '.join(words)}")
        print(f"Generate[{i}] token num: (0, {len(words)})")
    return 0


sys.exit(main())
