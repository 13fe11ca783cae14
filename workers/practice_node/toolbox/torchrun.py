"""Practice stand-in for torchrun with pretrain_gpt.py: a real, tiny training on the CPU.

Prints the iteration line of Megatron-LM (training.py, core r0.8) over time. The model is a
bigram language model trained by SGD on a synthetic text; the "npu" device rounds activations to
half precision, the "gpu" device does not, so that the two loss curves truly differ a little.
"""

import argparse
import math
import os
import random
import signal
import struct
import sys
import time
from datetime import datetime

from faults import fault

VOCABULARY = 12


def parse(arguments):
    parser = argparse.ArgumentParser()
    for name, kind, default in (
        ("train-iters", int, 100), ("micro-batch-size", int, 1), ("global-batch-size", int, 16),
        ("seq-length", int, 1024), ("seed", int, 1234), ("lr", float, 1e-4),
        ("log-interval", int, 1), ("save-interval", int, 10**9), ("practice-delay", float, 0.01),
    ):
        parser.add_argument(f"--{name}", type=kind, default=default)
    parser.add_argument("--save")
    parser.add_argument("--practice-device", choices=["npu", "gpu"], default="npu")
    return parser.parse_known_args(arguments)[0]


def half(value):
    return struct.unpack("e", struct.pack("e", value))[0]


class Bigram:
    """Logits of the next token by the last one; cross-entropy trained by SGD."""

    def __init__(self, seed, rounds):
        rng = random.Random(seed)
        self.rng = random.Random(seed + 1)
        self.rounds = half if rounds else float
        self.weights = [[rng.gauss(0, 0.02) for _ in range(VOCABULARY)] for _ in range(VOCABULARY)]
        self.text = [[1.0 / (1 + (a * 5 + b * 3) % 7) for b in range(VOCABULARY)]
                     for a in range(VOCABULARY)]

    def step(self, batch, rate):
        """One update on `batch` pairs; returns mean loss and gradient norm."""
        total, square = 0.0, 0.0
        for _pair in range(batch):
            last = self.rng.randrange(VOCABULARY)
            following = self.rng.choices(range(VOCABULARY), self.text[last])[0]
            row = [self.rounds(w) for w in self.weights[last]]
            top = max(row)
            powers = [self.rounds(math.exp(w - top)) for w in row]
            scale = sum(powers)
            total -= math.log(max(powers[following] / scale, 1e-12))
            for i, power in enumerate(powers):
                gradient = power / scale - (i == following)
                square += gradient * gradient
                self.weights[last][i] -= rate * gradient / batch
        return total / batch, math.sqrt(square / batch)


def line(now, i, args, seconds, loss, norm):
    flops = 6 * 125e6 * args.global_batch_size * args.seq_length / seconds / 8 / 1e12
    shown = "NAN" if loss != loss else f"{loss:.6E}"
    return (f" [{now:%Y-%m-%d %H:%M:%S}] iteration {i:8d}/{args.train_iters:8d} |"
            f" consumed samples: {i * args.global_batch_size:12d} |"
            f" elapsed time per iteration (ms): {seconds * 1000:.1f} |"
            f" throughput per GPU (TFLOP/s/GPU): {flops:.1f} | learning rate: {args.lr:.6E} |"
            f" global batch size: {args.global_batch_size:5d} | lm loss: {shown} |"
            f" loss scale: 1.0 | grad norm: {norm:.3f} |"
            f" number of skipped iterations: {0:3d} | number of nan iterations: {int(loss != loss):3d} |")


def fail_if_asked(i):
    if fault("hang") == i:
        time.sleep(10**6)
    if fault("killed") == i:
        os.kill(os.getpid(), signal.SIGKILL)
    if fault("full_disk") == i:
        print("OSError: [Errno 28] No space left on device", file=sys.stderr, flush=True)
        sys.exit(1)


def train(args):
    model = Bigram(args.seed, args.practice_device == "npu")
    for i in range(1, args.train_iters + 1):
        fail_if_asked(i)
        began = time.perf_counter()
        loss, norm = model.step(args.global_batch_size * 4, 2.0)
        time.sleep(args.practice_delay * (20 if i == 1 else 1))
        if fault("nan_loss") and i >= fault("nan_loss"):
            loss = float("nan")
        print(line(datetime.now(), i, args, time.perf_counter() - began, loss, norm), flush=True)
        if i == 2:
            print(f"[Rank 0] (after {i} iterations) memory (MB) | allocated: 10562.13 |"
                  " max allocated: 19123.55 | reserved: 20330.0 | max reserved: 20330.0", flush=True)
    return model


def save(model, args):
    os.makedirs(args.save, exist_ok=True)
    print(f"saving checkpoint at iteration {args.train_iters:7d} to {args.save}")
    with open(os.path.join(args.save, "model_optim_rng.bin"), "wb") as stream:
        for row in model.weights:
            stream.write(struct.pack(f"{VOCABULARY}d", *row))
    with open(os.path.join(args.save, "latest_checkpointed_iteration.txt"), "w") as stream:
        stream.write(str(args.train_iters))
    print(f"  successfully saved checkpoint at iteration {args.train_iters:7d} to {args.save}")


def main():
    words = sys.argv[1:]
    script = next((n for n, word in enumerate(words) if word.endswith(".py")), None)
    if script is None:
        print("torchrun: error: the training script is missing", file=sys.stderr)
        return 2
    args = parse(words[script + 1:])
    print("using world size: 8, data-parallel-size: 2, tensor-model-parallel size: 2, "
          "pipeline-model-parallel size: 2", flush=True)
    print("training ...", flush=True)
    model = train(args)
    if args.save:
        save(model, args)
    print("[after training is done] datetime: " + datetime.now().strftime("%Y-%m-%d %H:%M:%S"))
    return 0


sys.exit(main())
