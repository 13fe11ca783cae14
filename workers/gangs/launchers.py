"""The words that start a project's script, on one node or on several."""

import re
from collections.abc import Callable
from pathlib import Path

from django.utils.translation import gettext_lazy as _

from workers.gangs.rendezvous import HOSTFILE, MPI_HOSTFILE, Rendezvous

LAUNCHERS = {
    "python": _("Python, one process"), "torchrun": _("torchrun, one process per card"),
    "bash": _("Shell, the script starts its processes itself"),
    "deepspeed": _("DeepSpeed, one process per card"),
    "accelerate": _("Accelerate, one process per card"),
    "msrun": _("MindSpore's msrun, one process per card"),
    "mpirun": _("mpirun, one process per card"),
}
# Those whose processes agree on their ranks themselves; HCCL takes either that or a rank table.
SELF_ARRANGING = ("torchrun", "deepspeed", "accelerate", "msrun", "mpirun")


def words(launcher: str, python: str, cards: int, meeting: Rendezvous | None = None) -> list[str]:
    """What stands before the script.

    Args:
        launcher: of LAUNCHERS. cards: of one node. meeting: of a job on several nodes.
    """
    return _WORDS[launcher](python, max(1, cards), meeting)


def _python(python: str, _cards: int, _meeting: Rendezvous | None) -> list[str]:
    return [python]


def _bash(_python: str, _cards: int, _meeting: Rendezvous | None) -> list[str]:
    return ["bash"]


def torchrun_options(cards: int, meeting: Rendezvous) -> list[str]:
    """Static rendezvous of torch.distributed.run."""
    return ["--nproc_per_node", str(cards), "--nnodes", str(meeting.nodes),
            "--node_rank", str(meeting.rank), "--master_addr", meeting.master,
            "--master_port", str(meeting.port)]


def _torchrun(python: str, cards: int, meeting: Rendezvous | None) -> list[str]:
    options = torchrun_options(cards, meeting) if meeting else ["--nproc_per_node", str(cards)]
    return [python, "-m", "torch.distributed.run", *options]


def _deepspeed(python: str, cards: int, meeting: Rendezvous | None) -> list[str]:
    """`--no_ssh`: each node starts its own processes, as we log in everywhere ourselves."""
    start = [python, "-m", "deepspeed.launcher.runner"]
    if meeting is None:
        return [*start, "--num_gpus", str(cards)]
    return [*start, "--hostfile", HOSTFILE, "--no_ssh", "--node_rank", str(meeting.rank),
            "--master_addr", meeting.master, "--master_port", str(meeting.port)]


def _accelerate(python: str, cards: int, meeting: Rendezvous | None) -> list[str]:
    """`--multi_gpu` means several devices of whatever kind; Accelerate finds the NPUs itself."""
    nodes = meeting.nodes if meeting else 1
    start = [python, "-m", "accelerate.commands.launch",
             *(["--multi_gpu"] if cards * nodes > 1 else []),
             "--num_processes", str(cards * nodes), "--num_machines", str(nodes),
             "--mixed_precision", "no", "--dynamo_backend", "no"]
    if meeting is None:
        return start
    return [*start, "--machine_rank", str(meeting.rank), "--main_process_ip", meeting.master,
            "--main_process_port", str(meeting.port), "--rdzv_backend", "static"]


def _msrun(_python: str, cards: int, meeting: Rendezvous | None) -> list[str]:
    """msrun starts the `python` of the path; `--join=True` waits for its workers."""
    nodes = meeting.nodes if meeting else 1
    start = ["msrun", f"--worker_num={cards * nodes}", f"--local_worker_num={cards}",
             "--log_dir=msrun_log", "--join=True"]
    if meeting is None:
        return start
    return [*start, f"--master_addr={meeting.master}", f"--master_port={meeting.port}",
            f"--node_rank={meeting.rank}"]


IPV4 = re.compile(r"(?:[\d.]+/31,?)+")
# The ranks of another node begin in the folder of mpirun's, which is not there. mpirun tags each
# piece that it reads: an unbuffered print of several words is several pieces, with tags within the
# line; at the terminal that mpirun gives a rank, Python writes whole lines, and at once.
IN_WORK = 'cd "$DESK_WORK" && unset PYTHONUNBUFFERED && exec "$@"'
LAID = 'printf %s "$1" > mpi_launch.py || exit $?; shift; exec "$@"'


def _mpirun(python: str, cards: int, meeting: Rendezvous | None) -> list[str]:
    """Open MPI starts all processes from one node; MindSpore takes the ranks from it.

    MindSpore 2.x, “Distributed Parallel → mpirun”: `mpirun -n N --output-filename log_output
    --merge-stderr-to-stdout --allow-run-as-root python net.py`. On several nodes its daemons are
    started by the desk's own processes there (`mpi_launch`), and its output lies in the first
    node's log.
    """
    usual = ["--merge-stderr-to-stdout", "--allow-run-as-root"]
    if meeting is None:
        return ["mpirun", "-n", str(cards), "--output-filename", "log_output", *usual, python]
    program = (Path(__file__).parent / "mpi_launch.py").read_text(encoding="utf-8")
    if meeting.rank:
        return [python, "-c", program, "follow"]
    # Machines with several networks: only that by which the nodes were seen to reach each other.
    # Open MPI takes no prefix above 31.
    networks = ",".join(f"{seat.address}/31" for seat in meeting.seats)
    among = [word for part in ("oob", "btl") for word in (
        "--mca", f"{part}_tcp_if_include", networks)] if IPV4.fullmatch(networks) else []
    return ["sh", "-c", LAID, "mpirun", program, python, "mpi_launch.py", "lead",
            str(meeting.nodes), "mpirun", "-n", str(cards * meeting.nodes), "--hostfile",
            MPI_HOSTFILE, "--mca", "plm_rsh_agent", f"{python} mpi_launch.py agent", "--mca",
            "plm_rsh_no_tree_spawn", "1", "--leave-session-attached", "--bind-to", "none",
            *among, "--tag-output", *usual, "sh", "-c", IN_WORK, "rank", python]


_WORDS: dict[str, Callable[[str, int, Rendezvous | None], list[str]]] = {
    "python": _python, "bash": _bash, "torchrun": _torchrun, "deepspeed": _deepspeed,
    "accelerate": _accelerate, "msrun": _msrun, "mpirun": _mpirun,
}


def needs_rank_table(launcher: str) -> bool:
    """Whether RANK_TABLE_FILE is set: the launcher's processes do not agree on their ranks."""
    return launcher not in SELF_ARRANGING
