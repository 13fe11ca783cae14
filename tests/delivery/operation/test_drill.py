"""docs/operation.md typed as it is written, on new Debian machines with systemd: installation with
TLS, a second host, the main job over the API, the nightly backup, the loss of the first host and
its restore elsewhere; upgrades from released versions under a running job, and back.

A block whose first line begins with `# On desk-N` is what somebody types on these machines.
"""

import re
import shutil
import ssl
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from tests.delivery.operation import machines
from tests.delivery.operation.container_jobs import (
    ENDED,
    QUEUE_A_JOB,
    end_job,
    job_on,
    log_bytes_of_one_run,
    until,
)
from tests.delivery.operation.machines import CODE, Machine, Network
from tests.workers.sshd import can_run, running_sshd

pytestmark = [
    pytest.mark.slow, pytest.mark.everything,
    pytest.mark.skipif(bool(machines.missing()), reason=machines.missing()),
    pytest.mark.skipif(not can_run(), reason="needs sshd")]
ROOT = Path(settings.BASE_DIR)
HOST = "desk.example.com"
AUTHORITY = "/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt"
NAMES = {"desk-1": 11, "desk-2": 12, "desk-3": 13, "desk-4": 14}
RELEASE = "8767cba2"  # 1.1.0
PATIENCE = 600  # seconds, for a busy machine
PREPARE = """
from engagements import services
from engagements.models import Membership, Role, User
from workers import services as work
from workers.nodes import ssh
import json, sys
given = json.loads(sys.stdin.read())
manager = User.objects.create_user("manager", role=Role.MANAGER)
operator = User.objects.create_user("node-operator", role=Role.OPERATOR)
customer = services.create_customer(actor=manager, name="某电力公司")
engagement = services.create_engagement(actor=manager, customer=customer, code="EP2501", name="e")
Membership.objects.get_or_create(engagement=engagement, user=manager, role=Role.MANAGER)
node = work.enrol_node(actor=operator, name="bms-03", host=given["host"], port=given["port"],
                       username="root", private_key=given["key"], scratch_dir=given["scratch"],
                       command_roles=["operator"], is_practice=True)
work.confirm_host_key(actor=operator, node=node,
                      fingerprint=ssh.fingerprint(node.offered_host_key))
print("key", services.create_token(actor=manager, owner=manager, name="partner", scope="jobs")[1])
"""
QUEUE_THERE = """
from engagements.models import User
from workers import services
from workers.models import Node
import json, sys
given = json.loads(sys.stdin.read())
job = services.queue_job(actor=User.objects.get(username="node-operator"), kind="run.command",
                         node=Node.objects.get(),
                         parameters={"script": given["script"], "collect": ["*.txt"]})
print("queued", job.pk)
"""


def steps() -> list[tuple[list[str], str]]:
    """The blocks to type, each with the machines that its first line names."""
    text = (ROOT / "docs" / "operation.md").read_text("utf-8")
    return [(re.findall(r"desk-\d", block.partition(":")[0]), block)
            for block in re.findall(r"^```sh\n(# On desk-.*?)^```", text, re.M | re.S)]


class Drill:
    """The machines, and what is typed on them."""

    def __init__(self, folder: Path) -> None:
        self.base, self.network, self.folder = machines.base_system(), Network(), folder
        self.steps, self.machines = steps(), {}
        self.shared, self.wheels = folder / "shared", folder / "wheels"
        self.shared.mkdir()
        self.shared.chmod(0o755)
        machines.write_wheels(ROOT / "requirements.txt", self.wheels, "httpx")
        self.hosts = "".join(f"{self.network.prefix}.{number} {name}\n"
                             for name, number in NAMES.items()).replace("desk-1", f"desk-1 {HOST}")

    def machine(self, name: str, version: str = "") -> Machine:
        made = self.machines[name] = Machine(self.folder, self.network, name, NAMES[name],
                                             self.base)
        machines.put_code(made, version)
        made.start(self.hosts, self.shared, self.wheels)
        return made

    def script(self, name: str, words: str) -> str:
        """What to type on a machine where the block's first line goes on with these words."""
        [script] = [block for names, block in self.steps
                    if name in names and block.partition(": ")[2].startswith(words)]
        return script.replace("10.0.0.", f"{self.network.prefix}.")

    def type(self, name: str, words: str, without: str = "", **environment) -> str:
        script = self.script(name, words)
        return self.machines[name].sh(script.replace(without, ":") if without else script,
                                      **environment)

    def copy(self, source: str, target: str, folder: str) -> None:
        shutil.copytree(self.machines[source].root / folder, self.machines[target].root / folder,
                        dirs_exist_ok=True)

    def remove(self) -> None:
        for machine in self.machines.values():
            machine.remove()
        self.network.remove()


class Visitor:
    """A browser of somebody elsewhere, who trusts the proxy's authority."""

    def __init__(self, machine: Machine) -> None:
        trusting = ssl.create_default_context(cadata=machine.sh(f"cat {AUTHORITY}"))
        self.client = httpx.Client(base_url=f"https://{machine.address}", verify=trusting,
                                   trust_env=False, timeout=60)

    def ask(self, method: str, path: str, **more) -> httpx.Response:
        return self.client.request(method, path, extensions={"sni_hostname": HOST}, headers={
            "Host": HOST, "Referer": f"https://{HOST}/"}, **more)

    def log_in(self, password: str) -> None:
        page = self.ask("GET", "/login/")
        assert page.status_code == 200
        assert "Strict-Transport-Security" in page.headers
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)[1]
        done = self.ask("POST", "/login/", data={
            "csrfmiddlewaretoken": token, "username": "admin", "password": password})
        assert done.status_code == 302, done.text
        assert self.ask("GET", "/operation/").status_code == 200


@pytest.fixture
def drill(tmp_path):
    made = Drill(tmp_path)
    yield made
    made.remove()


@pytest.fixture
def node(drill, tmp_path):
    """An SSH server that the machines reach; `book` says what its job did."""
    with running_sshd(tmp_path / "node", drill.network.gateway, BOOK=tmp_path / "book") as server:
        yield server


def job(machine: Machine) -> tuple[str, int, int]:
    """State, attempt and stored bytes of the log of the newest job, by the machine's database."""
    state, attempt, stored = machine.sh(
        "runuser -u postgres -- psql -Atc 'SELECT state, attempt, log_stored FROM workers_job"
        " ORDER BY id DESC LIMIT 1' desk").strip().split("|")
    return state, int(attempt), int(stored)


def until_log_grows(machine: Machine) -> None:
    state, _attempt, stored = job(machine)
    assert state in ("queued", "preparing", "running"), state
    until(lambda: job(machine)[0] == "running" and job(machine)[2] > stored, PATIENCE)


def shell(machine: Machine, program: str, node) -> str:
    return machine.sh(
        "cd /opt/delivery-desk; set -a; . /etc/delivery-desk/desk.env; set +a; runuser -u "
        "delivery-desk -- env DESK_VAR_DIR=/var/lib/delivery-desk .venv/bin/python manage.py "
        f"shell -c '{program}'", text=job_on(node))


def end(machine: Machine, book: Path) -> None:
    """The job ends with its whole log and was started once."""
    end_job(book)
    until(lambda: job(machine)[0] in ENDED, PATIENCE)
    assert job(machine) == ("succeeded", 1, log_bytes_of_one_run(book))


def main_job(machine: Machine, node) -> str:
    """The program of docs/api.md in an environment of its own; what it printed."""
    key = shell(machine, PREPARE, node).rpartition("key ")[2].strip()
    [program] = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "api.md").read_text(), re.S)
    machine.sh("python3 -m venv /root/partner && /root/partner/bin/pip install -q httpx")
    return machine.sh("/root/partner/bin/python -", text=program, DESK_TOKEN=key,
                      DESK_URL=f"https://{HOST}", SSL_CERT_FILE=AUTHORITY)


def test_from_nothing_to_a_restore_elsewhere(drill, node, tmp_path):
    first = drill.machine("desk-1")
    drill.type("desk-1", "packages")
    shown = drill.type("desk-1", "administrator")
    [password] = re.findall(r"Password, shown once: (\S{20})\n", shown)
    Visitor(first).log_in(password)

    second = drill.machine("desk-2")
    for machine in (first, second):  # in place of NFS
        machine.sh("mkdir -p /var/lib/delivery-desk/shared;"
                   " mount --bind /mnt/shared /var/lib/delivery-desk/shared")
    drill.type("desk-1", "two hosts")
    drill.copy("desk-1", "desk-2", "etc/delivery-desk")
    drill.type("desk-2", "one more portal")
    first.until("curl -fsS http://10.0.0.12:8000/healthz".replace("10.0.0", drill.network.prefix))
    assert main_job(first, node).startswith("succeeded ")

    assert "queued" in shell(first, QUEUE_THERE, node)
    until_log_grows(first)
    first.sh("systemctl stop desk-portal desk-worker")
    until_log_grows(first)  # the other worker goes on
    Visitor(first).log_in(password)  # the other portal answers
    first.sh("systemctl start desk-portal desk-worker; systemctl start desk-backup")
    passphrase = first.sh("sed -n s/^DESK_BACKUP_PASSPHRASE=//p /etc/delivery-desk/desk.env")
    entries = audit_entries(first)
    first.stop()
    second.stop()

    third = drill.machine("desk-3")
    drill.type("desk-3", "packages")
    for folder in ("delivery-desk", "delivery-desk-keys"):
        drill.copy("desk-1", "desk-3", f"var/backups/{folder}")
    shown = drill.type("desk-3", "keys, rows", PASSPHRASE=passphrase.strip())
    assert "已为测试文档盖章" in shown
    assert audit_entries(third) >= entries
    until_log_grows(third)
    end(third, tmp_path / "book")
    assert " files read" in third.sh(f"cd /{CODE} && ./desk manage scrub --language en")
    third.sh(f"cd /{CODE} && ./desk manage verify --audit")


def audit_entries(machine: Machine) -> int:
    return int(machine.sh("runuser -u postgres -- psql -Atc "
                          "'SELECT COUNT(*) FROM engagements_auditentry' desk"))


# What an administrator of that version had typed, with its code in place.
OLDER = """
cd /opt/delivery-desk
python3 -m venv .venv
.venv/bin/pip install -q -r requirements.txt
.venv/bin/python manage.py compilemessages --ignore .venv --ignore node_modules > /dev/null
chmod -R go+rX .
set -a; . /etc/delivery-desk/desk.env; DESK_VAR_DIR=/var/lib/delivery-desk; set +a
as() { runuser -u delivery-desk -- env HOME=/var/lib/delivery-desk "$@"; }
as .venv/bin/python manage.py migrate --verbosity 0
as .venv/bin/python manage.py collectstatic --noinput --verbosity 0
as env DESK_ADMIN_PASSWORD=Trial-2026 .venv/bin/python manage.py begin admin
"""
UNITS = "cp deploy/systemd/*.service /etc/systemd/system/ && systemctl daemon-reload"
BROKEN = """
from django.db import migrations


def fail(apps, schema_editor):
    raise ValueError("the drill's")


class Migration(migrations.Migration):
    dependencies = [("engagements", "{}")]
    operations = [migrations.RunPython(fail, migrations.RunPython.noop)]
"""


@pytest.mark.skipif(machines.lacks_commit(RELEASE), reason="needs the history of the code")
def test_upgrade_from_1_1_0_under_a_running_job_and_back(drill, node, tmp_path):
    """The release's own code before; a migration that fails, the new version, and back again."""
    machine = drill.machine("desk-4", RELEASE)
    code, kept = machine.root / CODE, machine.root / f"{CODE}-1.1.0"
    shutil.copy(ROOT / "deploy/systemd/desk.env.example", code / "deploy/systemd")
    drill.type("desk-4", "packages", without="./desk setup")
    machine.sh(OLDER + UNITS + "\nsystemctl start desk-portal desk-worker desk-clock")
    assert "queued" in shell(machine, QUEUE_A_JOB, node)
    until_log_grows(machine)

    code.rename(kept)
    machines.put_code(machine)
    last = sorted((code / "engagements/migrations").glob("0*.py"))[-1].stem
    broken = code / "engagements/migrations/9999_broken.py"
    broken.write_text(BROKEN.format(last))
    broken.chmod(0o644)
    with pytest.raises(AssertionError, match="the drill's"):
        drill.type("desk-4", "the new version")
    until_log_grows(machine)
    broken.unlink()
    shown = drill.type("desk-4", "the new version")
    assert "数据库迁移完成" in shown
    until_log_grows(machine)
    machine.until("curl -fsS http://127.0.0.1:8000/readyz")

    stop, restore = drill.script("desk-4", "back").split("# put the older code back")
    machine.sh(stop)
    code.rename(machine.root / f"{CODE}-new")
    kept.rename(code)
    machine.sh("#" + restore)
    until_log_grows(machine)
    end(machine, tmp_path / "book")
