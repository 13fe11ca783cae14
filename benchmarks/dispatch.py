"""100 trivial jobs over 8 real sshd nodes: this product, bare asyncssh, Ansible, Mitogen, pyinfra,
parallel-ssh.

    pip install -r requirements-benchmarks.txt
    python -m benchmarks.dispatch [--rounds 3]

Ours runs from the API to the finished rows with their logs stored, through a worker process: once
with all jobs in one call, once with a call per job.
The floor is the SSH library alone running the remote protocol: a script per job that starts it and
tells its state, log and files, and polls while it runs, over one connection per node and ten
sessions.
All do the same work on the same nodes, in turns; parallel-ssh and pyinfra keep no state, no log and
make no second try. Peers that are not installed are left out, and named.
Also printed: how many processes a start and a poll of a running job are on the node, counted by the
node's own process numbers. Needs root, sshd. Exit status 1 if a goal is missed: in one call 1.3
times the floor, with a call per job 1.6 times, twice pyinfra, 12 processes for a start, 3 for a
poll.
"""

import argparse
import asyncio
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.faults.desk import EmbeddedDesk
from tests.faults.nodes import FaultyNode, enrol
from tests.faults.run import persist
from tests.ports import free_port

JOBS, NODES = 100, 8
GOALS = {"ours, one call": 1.3, "ours, a call per job": 1.6}  # times the floor
TIMES_PYINFRA, A_START, A_POLL = 2, 12, 3
PYINFRA = """
from pyinfra.operations import server
for number in range({each}):
    server.shell(name=str(number), commands=["sh -c 'echo done'"])
"""
PARALLEL_SSH = """
from pssh.clients import ParallelSSHClient
from pssh.config import HostConfig
client = ParallelSSHClient(["127.0.0.1"] * {nodes}, host_config=[
    HostConfig(user="root", port=port, private_key=key) for port, key in {places}])
for number in range({each}):
    for answer in client.run_command("sh -c 'echo done'", use_pty=False):
        assert list(answer.stdout) == ["done"]
"""


class Bench:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nodes = [FaultyNode(folder / f"node-{n}", free_port()) for n in range(NODES)]
        self.desk = EmbeddedDesk(folder / "desk")

    def prepare(self) -> None:
        os.environ.update(self.desk.environment)
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        from engagements.models import Role, User
        from workers.nodes import ssh

        self.operator = User.objects.create_user("operator", role=Role.OPERATOR)
        self.rows = [enrol(self.operator, node, f"n{n}") for n, node in enumerate(self.nodes)]
        for node in self.nodes:
            (node.root / "true.sh").write_text("echo done\n")
        ssh.close_all()
        self.desk.start()
        self.many_calls()  # connections, imports

    def one_call(self) -> float:
        return self._ours(lambda client, orders: self._post(client, "/api/v1/jobs/batch/", orders))

    def many_calls(self) -> float:
        def post_each(client, orders):
            for order in orders:
                self._post(client, "/api/v1/jobs/", order)

        return self._ours(post_each)

    def _post(self, client, path: str, data) -> None:
        answer = client.post(path, data, format="json")
        assert answer.status_code == 201, answer.content

    def _ours(self, queue) -> float:
        from rest_framework.test import APIClient

        from workers.models import Job, JobState

        client = APIClient(SERVER_NAME="127.0.0.1")
        client.force_authenticate(self.operator)
        orders = [{"kind": "test.counted", "node": self.rows[n % NODES].pk, "parameters": {
            "script": str(self.nodes[n % NODES].root / "true.sh")}} for n in range(JOBS)]
        before, begun = Job.objects.count(), time.monotonic()
        queue(client, orders)
        while persist(lambda: Job.objects.in_flight().exists()):
            time.sleep(0.02)
        took = time.monotonic() - begun
        done = Job.objects.filter(state=JobState.SUCCEEDED, artifacts__name="log.txt").count()
        assert done == before + JOBS, f"{done} of {before + JOBS}"
        return took

    def floor(self) -> float:
        begun = time.monotonic()
        asyncio.run(self._floor())
        return time.monotonic() - begun

    async def _floor(self) -> None:
        await asyncio.gather(*(self._node(n) for n in range(NODES)))

    async def _node(self, n: int) -> None:
        import asyncssh

        node = self.nodes[n]
        async with asyncssh.connect("127.0.0.1", node.port, username="root", known_hosts=None,
                                    client_keys=[str(node.root / "client_key")]) as line:
            sessions = asyncio.Semaphore(10)
            await asyncio.gather(*(self._job(line, sessions, node, number)
                                   for number in range(n, JOBS, NODES)))

    async def _job(self, line, sessions, node, number: int) -> None:
        from workers.models import Node
        from workers.remote import scripts
        from workers.runtimes.chosen import Chosen
        from workers.runtimes.command import Launch, text

        place = scripts.Place(str(node.root / "jobs"), f"desk-job-{time.time_ns()}-{number}")
        command = text(Launch(["sh", str(node.root / "true.sh")]), Chosen(), Node())
        async with sessions:
            asked = [(place, 0, 9999)], {place.directory}
            script = scripts.poll_script([(place, command)], *asked)
            while "status=none" in (await line.run("sh -s", input=script)).stdout:
                script = scripts.poll_script([], *asked)

    def ansible(self, **variables: str) -> float:
        inventory, playbook = self.folder / "hosts", self.folder / "play.yml"
        lines = [f"n{n} ansible_host=127.0.0.1 ansible_port={node.port} ansible_user=root "
                 f"ansible_ssh_private_key_file={node.root / 'client_key'} "
                 f"ansible_python_interpreter={sys.executable}"
                 for n, node in enumerate(self.nodes)]
        inventory.write_text("\n".join(lines) + "\n")
        tasks = "\n".join("    - command: sh -c 'echo done'" for _n in range(JOBS // NODES + 1))
        playbook.write_text(f"- hosts: all\n  gather_facts: false\n  tasks:\n{tasks}\n")
        return self._timed([sys.executable, "-m", "ansible", "playbook", "-f", "8", "-i",
                            inventory, playbook], ANSIBLE_HOST_KEY_CHECKING="False", **variables)

    def mitogen(self) -> float:
        found = importlib.util.find_spec("ansible_mitogen").submodule_search_locations[0]
        return self.ansible(ANSIBLE_STRATEGY="mitogen_linear",
                            ANSIBLE_STRATEGY_PLUGINS=f"{found}/plugins/strategy")

    def pyinfra(self) -> float:
        inventory, deploy = self.folder / "inventory.py", self.folder / "deploy.py"
        inventory.write_text("nodes = " + repr([(f"n{n}", {
            "ssh_hostname": "127.0.0.1", "ssh_port": node.port, "ssh_user": "root",
            "ssh_key": str(node.root / "client_key"), "ssh_strict_host_key_checking": "off"})
            for n, node in enumerate(self.nodes)]))
        deploy.write_text(PYINFRA.format(each=JOBS // NODES + 1))
        return self._timed([sys.executable, "-m", "pyinfra", "-y", inventory, deploy])

    def parallel_ssh(self) -> float:
        script = self.folder / "parallel.py"
        script.write_text(PARALLEL_SSH.format(nodes=NODES, each=JOBS // NODES + 1, places=[
            (node.port, str(node.root / "client_key")) for node in self.nodes]))
        return self._timed([sys.executable, script])

    def _timed(self, command: list, **variables: str) -> float:
        begun = time.monotonic()
        done = subprocess.run(command, check=False, text=True, capture_output=True, cwd=self.folder,
                              env={**os.environ, **variables})
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return time.monotonic() - begun

    def processes(self) -> tuple[int, int]:
        """How many a start of a job that ends at once is on the node, and how many a poll of one
        that runs, with a line of news."""
        from workers.models import Node
        from workers.nodes import ssh
        from workers.remote import scripts
        from workers.runtimes.chosen import Chosen
        from workers.runtimes.command import Launch, text

        node, row, begun = self.nodes[0], self.rows[0], []

        def run(number: int, argv: list[str], starts: bool, offset: int = 0) -> int:
            place = scripts.Place(str(node.root / "jobs"), f"desk-job-{number}-1-counted")
            order = [(place, text(Launch(argv), Chosen(), Node()))] if starts else []
            before = node.last_process()
            ssh.run(row, scripts.poll_script(order, [(place, offset, 9999)], {place.directory}))
            time.sleep(0.5)
            return node.last_process() - before - 1

        for number in range(900, 909):
            begun.append(run(number, ["echo", "done"], starts=True))
        run(910, ["sh", "-c", "echo one; echo two; exec sleep 30"], starts=True)
        return int(median(begun)), run(910, [], starts=False, offset=4)

    def stop(self) -> None:
        self.desk.stop()
        for node in self.nodes:
            node.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    bench = Bench(folder)
    try:
        bench.prepare()
        processes = bench.processes()
        runs = {"ours, one call": bench.one_call, "ours, a call per job": bench.many_calls,
                "bare asyncssh": bench.floor}
        peers = {"ansible": bench.ansible, "ansible_mitogen": bench.mitogen,
                 "pyinfra": bench.pyinfra, "pssh": bench.parallel_ssh}
        absent = [name for name in peers if not importlib.util.find_spec(name)]
        runs |= {name: run for name, run in peers.items() if name not in absent}
        took = {name: [] for name in runs}
        for _round in range(rounds):
            for name, run in runs.items():
                took[name].append(run())
                print(f"{name}: {took[name][-1]:.2f} s", file=sys.stderr, flush=True)
        mids = {name: median(seconds) for name, seconds in took.items()}
        print(f"{JOBS} trivial jobs over {NODES} nodes, load {os.getloadavg()[0]:.1f}"
              + (f"; not installed: {', '.join(absent)}" if absent else ""))
        print("| | seconds (each round) | median | ours, one call, is | a call per job is |\n"
              "|---|---|---|---|---|")
        for name, seconds in took.items():
            each = " ".join(f"{s:.2f}" for s in seconds)
            ratios = " | ".join(f"×{mids[ours] / mids[name]:.2f}" for ours in GOALS)
            print(f"| {name} | {each} | {mids[name]:.2f} | {ratios} |")
        print(f"processes on the node: {processes[0]} for a start, {processes[1]} for a poll")
        missed = [ours for ours, times in GOALS.items()
                  if mids[ours] > times * mids["bare asyncssh"]
                  or mids[ours] > TIMES_PYINFRA * mids.get("pyinfra", float("inf"))]
        missed += ["processes"] * (processes[0] > A_START or processes[1] > A_POLL)
        print(f"goals missed: {', '.join(missed) or 'none'}")
    finally:
        bench.stop()
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
