"""Jobs in real containers, by the scripts that a node is sent: what they promise on a node, they
promise here."""

import contextlib
import os
import secrets
import shlex
import subprocess
import time
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils.translation import override

from engagements.models import Role
from tests.workers import podman
from tests.workers.shell_kind import ShellKind
from tests.workers.sshd import USER, can_run, running_sshd
from workers import services
from workers.dispatch import runner
from workers.kinds import base as registry
from workers.models import Job, JobState, Node
from workers.nodes import ssh
from workers.nodes.ssh import Answer
from workers.remote import replies, scripts, survivors
from workers.remote.replies import RemoteState
from workers.remote.scripts import Place
from workers.rules.facts import stored
from workers.runtimes import command, options, software
from workers.runtimes.chosen import Chosen
from workers.runtimes.command import Launch
from workers.services import node_edits, runtimes

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(podman.missing()),
                                                   reason=podman.missing() or "-")]


class Jobs:
    """Jobs of one node, which is this machine, in containers of one place."""

    def __init__(self, root: Path, place: str, **settings) -> None:
        self.root, self.runtime = root, Chosen(place, options.cleaned(place, settings), "job", "x")
        self.node = Node(scratch_dir=str(root / "jobs"), container_engine=podman.ENGINE,
                         container_options=podman.RUN_OPTIONS)

    def run(self, script: str) -> bytes:
        return subprocess.run(["sh", "-s"], input=script.encode(), capture_output=True, check=True,
                              env={"HOME": str(self.root), "PATH": os.environ["PATH"]}).stdout

    def start(self, script: str, name: str = "", **launch) -> "Started":
        job = Started(self, name or f"desk-job-1-1-{secrets.token_hex(4)}")
        text = command.text(Launch(["sh", "-c", script], **launch), self.runtime, self.node)
        self.run(scripts.poll_script([(job.place, text)], []))
        return job


class Started:
    def __init__(self, jobs: Jobs, name: str) -> None:
        self.jobs, self.name = jobs, name
        self.place = Place(jobs.node.scratch_dir, name, (), True)
        self.folder = Path(jobs.node.scratch_dir) / name

    def poll(self) -> RemoteState:
        answer = self.jobs.run(scripts.poll_script([], [(self.place, 0, 9999)]))
        job = Job(state="running", pk=1, attempt=1, token="x")
        return replies.parse(answer.replace(self.name.encode(), job.directory_name.encode(), 1),
                             [job])[1]

    def until(self, is_reached, seconds=40):
        end = time.monotonic() + seconds
        while not is_reached(seen := self.poll()):
            assert time.monotonic() < end, f"still {seen}"
            time.sleep(0.1)
        return seen

    def begun(self) -> "Started":
        self.until(lambda _state: (self.folder / "work/begun").exists())
        return self

    def ended(self) -> RemoteState:
        return self.until(lambda state: state.process == "gone")

    def cancel(self, signal: str):
        answer = self.jobs.run(scripts.cancel_script(self.place, signal))
        return survivors.parse(Answer(0, answer, b""))

    def kill(self, *names: str) -> None:
        """kill -9 of the wrapper, or of all of the job that runs on the node itself."""
        wrapper = int((self.folder / "pid").read_text().split()[0])
        mine = [wrapper] if names else [
            int(pid) for pid in os.listdir("/proc") if pid.isdigit() and _session(pid) == wrapper]
        for pid in mine:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)


def _session(pid: str) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[3])
    except OSError:
        return 0


@pytest.fixture(scope="module")
def image():
    return podman.make_image()


@pytest.fixture(params=["container", "running"])
def jobs(request, tmp_path, image):
    if request.param == "container":
        yield Jobs(tmp_path, "container", image=image, shm_gb=1)
        return
    name = f"desk-test-{secrets.token_hex(4)}"
    (tmp_path / "jobs").mkdir()
    podman.podman("run", "-d", "--name", name, *shlex.split(podman.RUN_OPTIONS), "--network=host",
                  "-v", f"{tmp_path}/jobs:/scratch", image, "sleep", "600")
    try:
        yield Jobs(tmp_path, "running", container=name)
    finally:
        podman.podman("rm", "-f", "-t", "0", name)


def test_files_log_status_and_what_the_engine_says(jobs, image):
    job = jobs.start("cat /etc/version; echo $KIND >> out.txt; cat hosts; cat $HOSTS; exit 5",
                     variables={"KIND": "x y"}, files={"hosts": "a\n"}, paths={"HOSTS": "hosts"})
    state = job.ended()
    assert (state.exit_status, state.chunk) == (5, b"busybox image\na\na\n")
    assert (job.folder / "work/out.txt").read_text() == "x y\n"
    jobs.start("echo again >> out.txt", job.name)
    assert job.poll().exit_status == 5
    assert (job.folder / "work/out.txt").read_text() == "x y\n"  # it is not run a second time
    container = state.container
    assert (container["image"][:7], "CANN-8.2" in container["labels"],
            "@sha256" in container["digests"]) == (
        podman.podman("image", "inspect", "--format", "{{.Id}}", image)[:7], True, True)
    is_new = jobs.runtime.place == "container"
    assert container.get("exit_code") == ("5" if is_new else None)
    assert job.name not in podman.podman("ps", "-a")  # one of ours is removed


def test_the_command_outlives_its_wrapper_and_its_end_is_still_known(jobs):
    job = jobs.start("touch begun; sleep 4; echo late; exit 6").begun()
    job.kill()
    assert job.poll().process != "gone"
    state = job.ended()
    assert (state.exit_status, state.chunk) == (6, b"late\n")


def test_cancel_ends_stubborn_processes_and_looks_inside(jobs):
    job = jobs.start("trap '' TERM; (setsid env -i sh -c 'trap \"\" TERM; touch begun; sleep 99; "
                     "sleep 99') & while :; do sleep 1; done").begun()
    left = job.cancel("TERM")
    assert len(left.running) >= 2
    deadline = time.monotonic() + 20
    while not (left := job.cancel("KILL")).is_gone:
        assert time.monotonic() < deadline, left
    assert job.ended().exit_status in (None, 137)
    assert "sleep 99" not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True,
                                            check=True).stdout.splitlines()


def test_what_a_command_leaves_in_a_running_container_is_found_and_ended(jobs):
    job = jobs.start("setsid sleep 98 & touch begun").begun()
    if jobs.runtime.place == "container":
        assert job.ended().exit_status == 0  # its end is the end of all in it
    else:
        job.until(lambda state: state.process == "orphans" and state.exit_status == 0)
        assert [name for _pid, name in job.cancel("TERM").ended] == ["sleep"]
        assert job.ended().exit_status == 0
    assert not job.cancel("TERM").running


def test_what_is_missing_is_named(tmp_path, image):
    for place, settings, message in [
            ("running", {"container": "nobody"}, "container-stopped nobody"),
            ("container", {"image": "localhost/none:1"}, "container-refused 125"),
            ("container", {"image": image, "scripts": "/opt/set_env.sh"},
             "script-missing /opt/set_env.sh")]:
        state = Jobs(tmp_path, place, **settings).start("echo ran").ended()
        assert (state.exit_status, state.chunk.decode().splitlines()[-1]) == (
            78, f"desk runtime: {message}")
    state = Jobs(tmp_path, "container", image=image).start("echo ran", cards=[7]).ended()
    assert state.chunk == b"desk runtime: device-missing /dev/davinci7\n"


def test_an_image_of_another_user(tmp_path, image):
    tmp_path.chmod(0o755)
    image = podman.make_image(user="1234")
    state = Jobs(tmp_path, "container", image=image).start("id -u").ended()
    assert "Permission denied" in state.chunk.decode()
    assert state.chunk.decode().splitlines()[-1].startswith("desk runtime: inside-failed ")
    state = Jobs(tmp_path, "container", image=image, user="1234").start("id -u; touch a").ended()
    assert (state.exit_status, state.chunk) == (0, b"1234\n")


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(not can_run(), reason="needs sshd")
def test_a_job_over_ssh_keeps_what_the_engine_says(people, engagement, image, tmp_path,
                                                   monkeypatch, client):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    operator = people[Role.OPERATOR]
    with running_sshd(tmp_path / "sshd") as server:
        found = services.enrol_node(
            actor=operator, name="n", host="127.0.0.1", port=server.port, username=USER,
            private_key=server.key, container_engine=podman.ENGINE,
            container_options=podman.RUN_OPTIONS)
        node = services.confirm_host_key(actor=operator, node=found,
                                         fingerprint=ssh.fingerprint(found.offered_host_key))
        runtime = runtimes.save_runtime(
            actor=operator, name="CANN image", place="container",
            options={"image": image, "variables": {"A": "inside"}})
        runtimes.choose_runtime(actor=people["consultant"], runtime=runtime, engagement=engagement)
        job = runner.drive(services.queue_job(
            actor=people["consultant"], kind="test.shell", node=node, engagement=engagement,
            parameters={"script": "cat /etc/version > a.txt; echo $A"}))
        probe = runner.drive(services.queue_job(actor=people["consultant"], kind="env.host_probe",
                                                node=node, engagement=engagement))
        node_edits.try_login(actor=operator, access=node)
        type(node).objects.update(container_options=f"{podman.RUN_OPTIONS} --memory=32m")
        limited = runner.drive(services.queue_job(
            actor=people["consultant"], kind="test.shell", engagement=engagement,
            node=type(node).objects.get(),
            parameters={"script": "exec awk 'BEGIN { while (n < 2000000) a[++n] = n }'"}))
        ssh.close_all()
    with override("en"):
        assert (limited.state, limited.exit_status, "memory" in limited.sentence) == (
            JobState.FAILED, 137, True), (limited.sentence, limited.results)
    assert (job.state, job.runtime["chosen_by"]) == (JobState.SUCCEEDED, "engagement"), job.sentence
    assert job.artifacts.get(name="a.txt").file.read() == b"busybox image\n"
    assert job.artifacts.get(name="log.txt").file.read() == b"inside\n"
    assert job.results["container"]["exit_code"] == "0"
    assert probe.state == JobState.SUCCEEDED, probe.sentence
    assert software.of_job(probe)["os"] == "desk"
    node.refresh_from_db()
    assert node.software == {}  # what the image has is not the node's
    assert stored.of_node(node, runtime.pk)["os"] == "Desk OS 1"
    assert "os" not in stored.of_node(node)
    client.force_login(operator)
    form = client.get(reverse("workers:runtime_new", args=["container"])).content.decode()
    assert f'<option value="{image}">' in form
    client.force_login(people["consultant"])
    page = client.get(reverse("workers:job", args=[job.pk])).content.decode()
    assert [word for word in (image, "CANN-8.2", "CANN image") if word not in page] == []


def test_a_container_that_somebody_removes_is_told_as_that(jobs):
    job = jobs.start("echo one; echo two; touch begun; sleep 600").begun()
    name = jobs.runtime.options.get("container", job.name)
    podman.podman("rm", "-f", "-t", "0", name)
    state = job.ended()
    assert state.chunk.startswith(b"one\ntwo\n")
    assert b"desk runtime: container-vanished" in state.chunk
    assert state.exit_status == 137
