"""A job for portals in containers: it counts on an sshd of this machine until it is told to end."""

import json
import time
from pathlib import Path

ENDED = ("succeeded", "failed", "cancelled", "lost")
SCRIPT = """
echo begun >> "$BOOK"
n=0
until [ -e "$BOOK.end" ] || [ "$n" -ge 7200 ]; do n=$((n + 1)); echo "iteration $n"; sleep 1; done
echo kept > result.txt
echo "ended after $n" >> "$BOOK"
"""
QUEUE_A_JOB = """
from engagements.models import Role, User
from workers import services
from workers.nodes import ssh
import json, sys
given = json.loads(sys.stdin.read())
operator = User.objects.create_user("operator", role=Role.OPERATOR)
node = services.enrol_node(actor=operator, name="n", host=given["host"], port=given["port"],
                           username="root", private_key=given["key"], scratch_dir=given["scratch"],
                           command_roles=["operator"], is_practice=True)
node = services.confirm_host_key(actor=operator, node=node,
                                 fingerprint=ssh.fingerprint(node.offered_host_key))
job = services.queue_job(actor=operator, kind="run.command", node=node,
                         parameters={"script": given["script"], "collect": ["*.txt"]})
print("queued", job.pk)
"""


def end_job(book: Path) -> None:
    """Let the job end whose sshd has this BOOK."""
    book.with_name(f"{book.name}.end").touch()


def log_bytes_of_one_run(book: Path) -> int:
    """The length of the job's log. Raises AssertionError unless it ran once, to its end."""
    begun, ended = book.read_text().splitlines()
    assert begun == "begun"
    count = int(ended.removeprefix("ended after "))
    return len("".join(f"iteration {n}\n" for n in range(1, count + 1)))


def job_on(server) -> str:
    """What QUEUE_A_JOB reads: a node that is this sshd, and the script."""
    return json.dumps({
        "host": server.address, "port": server.port, "key": server.key,
        "script": SCRIPT, "scratch": str(server.home / "desk-jobs")})


def until(condition, seconds: float = 120):
    """What the condition answers as soon as that is true. Raises AssertionError."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, condition
        time.sleep(0.5)
    return found
