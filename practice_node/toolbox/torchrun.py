"""Practice stand-in for torchrun: takes its arguments, then trains as the named script would.

pretrain_gpt.py is stood in for by practice_train.py, in one process for all ranks.
"""

import argparse
import os
import sys

import cards


def main():
    parser = argparse.ArgumentParser(prog="torchrun")
    for name, default in (("nproc", 1), ("nnodes", 1), ("node-rank", 0), ("master-port", 29500)):
        option = name if name != "nproc" else "nproc-per-node"
        parser.add_argument(f"--{option}", f"--{option.replace('-', '_')}", default=default,
                            dest=option.replace("-", "_"), type=int)
    parser.add_argument("--master-addr", "--master_addr", default="localhost")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    if args.nproc_per_node > len(cards.visible()):
        print(f"RuntimeError: {args.nproc_per_node} processes, but only {len(cards.visible())} "
              "visible devices: the argument is invalid (EE1001).", file=sys.stderr)
        return 1
    environment = {**os.environ, "WORLD_SIZE": str(args.nproc_per_node * args.nnodes)}
    trainer = os.path.join(os.path.dirname(os.path.realpath(__file__)), "practice_train.py")
    sys.stdout.flush()
    return os.execve(sys.executable, [sys.executable, trainer, *args.arguments], environment)


sys.exit(main())
