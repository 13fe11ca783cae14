"""Practice stand-in for Megatron-LM's preprocess_data.py: bytes as tokens, its real file format."""

import argparse
import json
import os
import struct
import sys
import time

UINT16 = 8  # its code in the index


def main():
    parser = argparse.ArgumentParser()
    for name in ("input", "output-prefix", "json-keys", "tokenizer-type", "vocab-file",
                 "merge-file", "tokenizer-model"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--log-interval", type=int, default=1000)
    parser.add_argument("--append-eod", action="store_true")
    args = parser.parse_args()
    print("Opening", args.input, flush=True)
    began, lengths, total = time.time(), [], 0
    prefix = f"{args.output_prefix}_{args.json_keys}_document"
    os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
    with open(args.input, encoding="utf-8") as corpus, open(f"{prefix}.bin", "wb") as target:
        for number, line in enumerate(corpus, 1):
            tokens = list(json.loads(line)[args.json_keys].encode())
            tokens += [256] if args.append_eod else []
            target.write(struct.pack(f"<{len(tokens)}H", *tokens))
            lengths.append(len(tokens))
            total += len(line)
            if number % args.log_interval == 0:
                spent = max(time.time() - began, 1e-6)
                print(f"Processed {number} documents ({number / spent} docs/s, "
                      f"{total / spent / 2**20} MB/s).", file=sys.stderr)
    index(f"{prefix}.idx", lengths)


def index(path, lengths):
    """The index of core/datasets/indexed_dataset.py: header, lengths, pointers, documents."""
    pointers, at = [], 0
    for length in lengths:
        pointers.append(at)
        at += 2 * length
    n = len(lengths)
    with open(path, "wb") as stream:
        stream.write(b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, UINT16, n, n + 1))
        stream.write(struct.pack(f"<{n}i", *lengths) + struct.pack(f"<{n}q", *pointers))
        stream.write(struct.pack(f"<{n + 1}q", *range(n + 1)))


main()
