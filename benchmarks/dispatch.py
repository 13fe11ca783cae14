"""100 trivial jobs over 8 real sshd nodes: this product, an Ansible playbook, bare asyncssh.

    python -m benchmarks.dispatch [--rounds 3]

Ours runs from the API to the finished rows with their logs stored, through a worker process: once
with all jobs in one call, once with a call per job.
The floor is the SSH library alone running the remote protocol: a script per job that starts it and
tells its state, log and files, and polls while it runs, over one connection per node and ten
sessions.
All three do the same work on the same nodes, in turns. Needs root, sshd, ansible-core.
"""

import argparse
import asyncio
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

    def ansible(self) -> float:
        inventory, playbook = self.folder / "hosts", self.folder / "play.yml"
        lines = [f"n{n} ansible_host=127.0.0.1 ansible_port={node.port} ansible_user=root "
                 f"ansible_ssh_private_key_file={node.root / 'client_key'} "
                 f"ansible_python_interpreter={sys.executable}"
                 for n, node in enumerate(self.nodes)]
        inventory.write_text("\n".join(lines) + "\n")
        tasks = "\n".join("    - command: sh -c 'echo done'" for _n in range(JOBS // NODES + 1))
        playbook.write_text(f"- hosts: all\n  gather_facts: false\n  tasks:\n{tasks}\n")
        begun = time.monotonic()
        subprocess.run(["ansible-playbook", "-f", "8", "-i", inventory, playbook], check=True,
                       stdout=subprocess.DEVNULL,
               env={**os.environ, "ANSIBLE_HOST_KEY_CHECKING": "False"})
        return time.monotonic() - begun

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
        runs = {"ours, one call": bench.one_call, "ours, a call per job": bench.many_calls,
                "bare asyncssh": bench.floor}
        if shutil.which("ansible-playbook"):
            runs["ansible-playbook"] = bench.ansible
        took = {name: [] for name in runs}
        for _round in range(rounds):
            for name, run in runs.items():
                took[name].append(run())
                print(f"{name}: {took[name][-1]:.2f} s", file=sys.stderr, flush=True)
        mids = {name: median(seconds) for name, seconds in took.items()}
        print(f"{JOBS} trivial jobs over {NODES} nodes, load {os.getloadavg()[0]:.1f}")
        print("| | seconds (each round) | median | ours, one call, is | a call per job is |\n"
              "|---|---|---|---|---|")
        for name, seconds in took.items():
            each = " ".join(f"{s:.2f}" for s in seconds)
            ratios = " | ".join(f"×{mids[name] / mids[ours]:.2f}"
                                for ours in ("ours, one call", "ours, a call per job"))
            print(f"| {name} | {each} | {mids[name]:.2f} | {ratios} |")
    finally:
        bench.stop()
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0)


if __name__ == "__main__":
    main()
