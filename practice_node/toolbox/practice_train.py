"""Practice stand-in for pretrain_gpt.py of Megatron-LM / MindSpeed-LLM: a real, tiny training.

Prints what Megatron-LM core r0.8 to r0.10 prints (training.py), over time. Of its arguments those
below have an effect; the others are taken as given.
"""

import argparse
import math
import os
import signal
import sys
import time
from datetime import datetime

import cards
from bigram import Bigram
from faults import fault

RATE = 2e4  # step of the tiny model for a learning rate of 1: 1e-4 gives 2
FIRST_STEP = 20  # the first iteration takes about that many times longer, as with compilation
ALLOCATED, MOST_ALLOCATED, RESERVED = 18598.75, 20931.01, 21534.0


def parse():
    parser = argparse.ArgumentParser()
    for name, kind, default in (
        ("train-iters", int, 100), ("micro-batch-size", int, 1), ("global-batch-size", int, 16),
        ("seq-length", int, 1024), ("seed", int, 1234), ("lr", float, 1e-4),
        ("tensor-model-parallel-size", int, 1), ("pipeline-model-parallel-size", int, 1),
        ("log-interval", int, 1), ("save-interval", int, 0), ("practice-delay", float, 0.01),
    ):
        parser.add_argument(f"--{name}", type=kind, default=default)
    parser.add_argument("--save")
    parser.add_argument("--practice-device", choices=["npu", "gpu"], default="npu")
    args = parser.parse_known_args()[0]
    args.world = int(os.environ.get("WORLD_SIZE", "1"))
    args.practice_delay *= 10 if fault("slow") else 1
    return args


def say(text):
    print(text, flush=True)


def stamp():
    return datetime.now().strftime("%Y-%m-%d %H:%M:%S")


def show(args, i, seconds, result):
    loss, norm = result
    flops = 6 * 125e6 * args.global_batch_size * args.seq_length / seconds / args.world / 1e12
    say(f" [{stamp()}] iteration {i:8d}/{args.train_iters:8d} |"
        f" consumed samples: {i * args.global_batch_size:12d} |"
        f" elapsed time per iteration (ms): {seconds * 1000:.1f} |"
        f" throughput per GPU (TFLOP/s/GPU): {flops:.1f} | learning rate: {args.lr:.6E} |"
        f" global batch size: {args.global_batch_size:5d} | lm loss: {loss:.6E} |"
        f" loss scale: 1.0 | grad norm: {norm:.3f} | number of skipped iterations:   0 |"
        f" number of nan iterations: {int(math.isnan(loss)):3d} |")


def show_memory(args, i):
    ranks = range(0, args.world, max(1, args.world // args.pipeline_model_parallel_size))
    for rank in ranks:
        more = 812.0 * (len(ranks) - 1 - ranks.index(rank))
        say(f"[Rank {rank}] (after {i} iterations) memory (MB) | allocated: {ALLOCATED + more} |"
            f" max allocated: {MOST_ALLOCATED + more} | reserved: {RESERVED + more} |"
            f" max reserved: {RESERVED + more}")


def fail_if_asked(i):
    if fault("hang") == i:
        time.sleep(10**6)
    if fault("killed") == i:
        os.kill(os.getpid(), signal.SIGKILL)
    if fault("full_disk") == i:
        raise OSError(28, "No space left on device")


def train(args):
    say(f"using world size: {args.world}, data-parallel-size: {data_parallel(args)}, "
        f"tensor-model-parallel size: {args.tensor_model_parallel_size}, "
        f"pipeline-model-parallel size: {args.pipeline_model_parallel_size}")
    say(f"[before the start of training step] datetime: {stamp()} ")
    model = Bigram(args.seed, args.practice_device)
    seconds, losses = 0.0, []
    for i in range(1, args.train_iters + 1):
        fail_if_asked(i)
        began = time.perf_counter()
        loss, norm = model.step(args.global_batch_size * 4, RATE * args.lr)
        time.sleep(args.practice_delay * (FIRST_STEP if i == 1 else 1))
        if fault("nan_loss") and i >= fault("nan_loss"):
            loss = norm = math.nan
        losses.append(loss)
        seconds += time.perf_counter() - began
        if i % args.log_interval == 0:
            show(args, i, seconds / len(losses), (sum(losses) / len(losses), norm))
            seconds, losses = 0.0, []
        if i == 1:
            show_memory(args, i)
        if args.save and (i == args.train_iters or (args.save_interval
                                                    and i % args.save_interval == 0)):
            save(model, args, i)
    say(f"[after training is done] datetime: {stamp()} ")


def data_parallel(args):
    return max(1, args.world // (
        args.tensor_model_parallel_size * args.pipeline_model_parallel_size))


def save(model, args, i):
    say(f"saving checkpoint at iteration {i:7d} to {args.save} in torch format")
    for tensor in range(args.tensor_model_parallel_size):
        folder = os.path.join(args.save, f"iter_{i:07d}", f"mp_rank_{tensor:02d}")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "model_optim_rng.pt"), "wb") as stream:
            stream.write(model.content())
    with open(os.path.join(args.save, "latest_checkpointed_iteration.txt"), "w") as stream:
        stream.write(str(i))
    say(f"  successfully saved checkpoint from iteration {i:7d} to {args.save}")


def main():
    args = parse()
    mine = cards.visible()[:args.world] if args.practice_device == "npu" else []
    try:
        with cards.occupied(mine, int(MOST_ALLOCATED)):
            train(args)
    except OSError as error:
        print(f"OSError: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


sys.exit(main())
