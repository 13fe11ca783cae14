"""Practice stand-in for the launchers of a project's script on one node.

It starts as many processes as they do; each is told its rank as its launcher tells it, and writes
where the launcher lets it write.
"""

import os
import subprocess
import sys

COUNTS = {"torchrun": "--nproc_per_node", "deepspeed": "--num_gpus", "accelerate": "--num_processes",
          "msrun": "--local_worker_num", "mpirun": "-n"}
RANKS = {"msrun": ("RANK_ID", "RANK_SIZE"),
         "mpirun": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")}
FLAGS = ("--multi_gpu", "--no_ssh", "--merge-stderr-to-stdout", "--allow-run-as-root")


def parsed(words):
    """Options by name; the program, from the first word that is none of them."""
    options, words = {}, list(words)
    while words and words[0].startswith("-"):
        name, _, value = words.pop(0).partition("=")
        options[name] = value or ("" if name in FLAGS else words.pop(0))
    return options, words


def begun(launcher, options, program, rank, count):
    names = RANKS.get(launcher, ("RANK", "WORLD_SIZE"))
    more = {"LOCAL_RANK": str(rank), names[0]: str(rank), names[1]: str(count)}
    output = None
    if launcher == "msrun":
        os.makedirs(options["--log_dir"], exist_ok=True)
        output = os.open(os.path.join(options["--log_dir"], f"worker_{rank}.log"),
                         os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    if launcher == "mpirun" and "--output-filename" in options:
        folder = os.path.join(options["--output-filename"], "1", f"rank.{rank}")
        os.makedirs(folder, exist_ok=True)
        output = subprocess.Popen(["tee", os.path.join(folder, "stdout")],
                                  stdin=subprocess.PIPE).stdin
    return subprocess.Popen(program, env={**os.environ, **more}, stdout=output,
                            stderr=subprocess.STDOUT if output else None)


def start(launcher, words):
    """The status of the first process that failed; 0 where none did."""
    options, program = parsed(words)
    count = int(options[COUNTS[launcher]])
    if launcher != "mpirun":
        program = [sys.executable, *program]
    children = [begun(launcher, options, program, rank, count) for rank in range(count)]
    return next((status for child in children if (status := child.wait())), 0)


if __name__ == "__main__":
    sys.exit(start(sys.argv[1], sys.argv[2:]))
