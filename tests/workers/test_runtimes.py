"""Runtimes: chosen by the nearest, kept with the job, wrapped around the command, told of."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils.translation import override

from engagements.errors import InvalidInput, NotAllowed
from engagements.models import Role
from tests.workers.shell_kind import ShellKind
from workers import services
from workers.dispatch import runner
from workers.kinds import base as registry
from workers.labels import job_results
from workers.logs import diagnosis
from workers.logs.diagnosis import Part
from workers.models import Job, Node, Runtime
from workers.runtimes import chosen, command, offers, options, software
from workers.runtimes.chosen import Chosen
from workers.runtimes.command import Launch
from workers.services import jobs, runtimes


def ran(work: Path, settings: dict, script: str = "", path: str = "/usr/bin:/bin", **launch):
    """What a command prints that is run with these settings, by the text that a job would run."""
    runtime = Chosen(options=options.cleaned("host", settings))
    text = command.text(Launch(["sh", "-c", script or "echo ran"], **launch), runtime,
                        Node())
    work.mkdir(exist_ok=True)
    return subprocess.run(["sh", "-c", text], cwd=work, capture_output=True, text=True,
                          check=False, env={"HOME": str(work.parent), "PATH": path})


@pytest.fixture
def home(tmp_path):
    (tmp_path / "set up").mkdir()
    return tmp_path


def script(home: Path, name: str, text: str) -> str:
    (home / "set up" / name).write_text(text)
    return f"'~/set up/{name}'"


def test_set_up_scripts_are_sourced_by_bash_in_order_then_variables_then_those_of_the_kind(home):
    first = script(home, "a.sh", "names=(x y); export A=${names[1]} B=script KIND=script")
    second = script(home, "b.sh", 'export ARGUMENT="$1" SECOND=$A$B')
    answer = ran(home / "work", {
        "scripts": f"{first}\n{second} --cxx_abi=0\n", "variables": "B=own\nC=${A}/lib:${NONE}",
        "umask": "027", "nice": "5", "wrapper": "env WRAPPED=yes", "proxy": "http://p:3128",
        "folder": "~/set up"},
        'echo "$A $B $C $ARGUMENT $SECOND $KIND $WRAPPED $https_proxy"; umask; nice; pwd; '
        'echo "$DESK_WORK"', variables={"KIND": "kind"})
    assert answer.stdout.splitlines() == [
        "y own y/lib: --cxx_abi=0 yscript kind yes http://p:3128", "0027", str(os.nice(0) + 5),
        str(home / "set up"), str(home / "work")], answer.stderr


@pytest.mark.parametrize(("text", "message"), [
    (None, "script-missing {path}"), ("false", "script-failed 1 {path}"),
    ("exit 3", "script-ended 3 {path}"), ("set -e; false; true", "script-ended 1 {path}"),
    ("if", "script-ended 2 {path}|script-failed 2 {path}|script-failed 1 {path}")])
def test_a_script_that_is_missing_or_fails_is_named_and_nothing_runs(home, text, message):
    line = script(home, "s.sh", text) if text else "'~/set up/s.sh'"
    answer = ran(home / "work", {"scripts": line})
    expected = [f"desk runtime: {each}".format(path=home / "set up" / "s.sh")
                for each in message.split("|")]
    assert answer.returncode == 78
    assert answer.stderr.splitlines()[-1] in expected
    assert not answer.stdout
    found = diagnosis.find([Part(answer.stderr)], 78)
    with override("en"):
        assert str(home / "set up/s.sh") in found.cause.headline % found.values


def test_environments_are_activated_and_a_missing_one_is_named(home):
    (home / "venv/bin").mkdir(parents=True)
    (home / "venv/bin/activate").write_text("export VIRTUAL_ENV=venv")
    root = home / "conda"
    (root / "etc/profile.d").mkdir(parents=True)
    (root / "etc/profile.d/conda.sh").write_text(
        'conda() { [ "$2" = cann ] && export CONDA_DEFAULT_ENV=$2; }')
    (home / "modules.sh").write_text(
        'module() { [ "$2" = bad ] || export LOADEDMODULES=$LOADEDMODULES:$2/8.2; }')
    show = 'echo "$VIRTUAL_ENV$CONDA_DEFAULT_ENV$LOADEDMODULES"'
    cases = {
        ("venv", "~/venv"): "venv", ("venv", "~/no"): f"script-missing {home}/no/bin/activate",
        ("conda", "cann"): "cann", ("conda", "other"): "conda-failed other",
        ("modules", "cann mpi"): ":cann/8.2:mpi/8.2", ("modules", "cann bad"): "module-failed bad"}
    for (manager, environment), message in cases.items():
        where = {"conda": str(root), "modules": "~/modules.sh"}.get(manager)
        answer = ran(home / "work", {"manager": manager, "environment": environment,
                                     **({"manager_root": where} if where else {})}, show)
        assert (answer.stdout + answer.stderr).strip().removeprefix("desk runtime: ") == message
    answer = ran(home / "work", {"manager": "conda", "environment": "x", "manager_root": "~/no"})
    assert answer.stderr == f"desk runtime: conda-missing {home}/no\n"


@pytest.mark.skipif(not shutil.which("conda"), reason="conda is not on this machine")
def test_a_real_conda_activates_what_is_there_and_names_what_is_not(home):
    root = Path(shutil.which("conda")).resolve().parents[1]
    (home / "miniconda3").symlink_to(root)
    subprocess.run(["conda", "create", "--yes", "--offline", "--quiet", "--prefix", home / "cann"],
                   check=True, capture_output=True)
    show = 'echo "$CONDA_PREFIX"; echo "$PATH" | cut -d: -f1'
    given = {"manager": "conda", "environment": str(home / "cann"), "manager_root": str(root)}
    for where in (given, {**given, "manager_root": ""}):
        answer = ran(home / "work", where, show)
        assert answer.stdout.splitlines()[0] == str(home / "cann"), answer.stderr
    missing = ran(home / "work", {**given, "environment": "nosuch"})
    assert missing.stderr.splitlines()[-1] == "desk runtime: conda-failed nosuch"
    asked = subprocess.run(["sh", "-c", offers.script(Node())], capture_output=True, check=True,
                           env={"HOME": str(home), "PATH": "/usr/bin:/bin"})
    assert str(root) in {Path(name).resolve().__fspath__()
                         for name in offers.parse(asked.stdout)["conda"]}


@pytest.mark.parametrize(("given", "name"), [
    ({"scripts": "set_env.sh"}, "scripts"), ({"scripts": "/a/../b"}, "scripts"),
    ({"scripts": "'/a"}, "scripts"), ({"variables": "1A=x"}, "variables"),
    ({"variables": "HF_TOKEN=x"}, "variables"), ({"variables": "DESK_JOB=x"}, "variables"),
    ({"proxy": "http://me:secret@p:1"}, "proxy"), ({"umask": "9"}, "umask"),
    ({"nice": "20"}, "nice"), ({"manager": "venv"}, ""), ({"nothing": 1}, "")])
def test_options_that_cannot_be_used_are_named(given, name):
    with pytest.raises(InvalidInput) as error:
        options.cleaned("host", given)
    assert list(error.value.details.get("parameters", {"": 1})) == [name]


@pytest.fixture
def make(people):
    def go(name, **settings) -> Runtime:
        return runtimes.save_runtime(actor=people[Role.OPERATOR], name=name, place="host",
                                     options=settings)

    return go


@pytest.mark.django_db
def test_the_nearest_choice_wins(people, engagement, make):
    model = engagement.models.create(code="LLM", name="大模型")
    here, there = (Node.objects.create(name=name, host=name, username="npu", state="ready",
                                       cards_total=8)
                   for name in ("here", "there"))

    def won(own=None, of=None, node=here):
        return chosen.for_job(node, engagement, of, own)

    assert won().as_json() == {}
    Node.objects.filter(pk=here.pk).update(set_env="/opt/set_env.sh")
    here.refresh_from_db()
    assert won().options == {"scripts": ["/opt/set_env.sh"]}
    for place, actor, expected in [
            ({"node": here}, Role.OPERATOR, (here, None)),
            ({"engagement": engagement}, Role.CONSULTANT, (there, None)),
            ({"engagement": engagement, "node": here}, Role.CONSULTANT, (here, None)),
            ({"model": model}, Role.CONSULTANT, (here, model)),
            ({"model": model, "node": here}, Role.CONSULTANT, (here, model))]:
        runtime = make(f"r {sorted(place)}")
        runtimes.choose_runtime(actor=people[actor], runtime=runtime, **place)
        assert won(node=expected[0], of=expected[1]).name == runtime.name
    assert won(own=make("own"), of=model).by == chosen.JOB
    with pytest.raises(NotAllowed):
        runtimes.choose_runtime(actor=people[Role.CONSULTANT], runtime=runtime, node=here)
    runtimes.retire_runtime(actor=people[Role.OPERATOR], runtime=runtime)
    assert won(of=model).name == "r ['model']"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_job_keeps_its_runtime_runs_in_it_and_says_what_is_missing(
        people, node, engagement, make, ssh_server, monkeypatch, client):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    runtime = make("CANN", scripts=["~/cann.sh"], variables={"B": "${A}!"})

    def run(**more) -> Job:
        return runner.drive(services.queue_job(
            actor=people["consultant"], kind="test.shell", node=node, engagement=engagement,
            parameters={"script": "echo $A $B > out.txt"}, **more))

    failed = run(runtime=runtime)
    assert (failed.state, failed.exit_status) == ("failed", 78)
    assert "cann.sh" in failed.sentence
    (ssh_server.root / "home" / "cann.sh").write_text("export A=cann")
    make_other = runtimes.save_runtime(actor=people[Role.OPERATOR], name="CANN 8.2", place="host",
                                       options={"umask": "022"}, runtime=runtime)
    again = jobs.retry_job(actor=people["consultant"], job=failed)
    assert again.runtime["options"] == make_other.options == {"umask": "022"}
    assert failed.runtime["options"]["scripts"] == ["~/cann.sh"]  # as it was
    job = run(runtime=make("both", scripts=["~/cann.sh"], variables={"B": "${A}!"}))
    assert job.artifacts.get(name="out.txt").file.read() == b"cann cann!\n"
    client.force_login(people["consultant"])
    page = client.get(reverse("workers:job", args=[job.pk])).content.decode()
    assert [word for word in ("both", "~/cann.sh") if word not in page] == []


def test_typed_variables_of_cann_and_libraries_reach_the_command(home):
    answer = ran(home / "work", {"log_level": "1", "log_to": "0", "plog": "collect",
                                 "libraries": "/opt/a\n~/b", "variables": "LD_LIBRARY_PATH=/own"},
                 'echo "$ASCEND_GLOBAL_LOG_LEVEL $ASCEND_SLOG_PRINT_TO_STDOUT $LD_LIBRARY_PATH"; '
                 'echo "$ASCEND_PROCESS_LOG_PATH"')
    assert answer.stdout.splitlines() == [
        f"1 0 /opt/a:{home}/b:/own", f"{home}/work/plog"], answer.stderr
    with pytest.raises(InvalidInput):
        options.cleaned("host", {"log_level": "5"})


@pytest.mark.parametrize(("given", "node_says", "expected"), [
    ({}, "", ["3", "0", "{home}/work/plog"]),
    ({}, "1 ASCEND_PROCESS_LOG_PATH=/var/plog", ["1", "0", "/var/plog"]),
    ({"plog": "collect"}, "1 ASCEND_PROCESS_LOG_PATH=/var/plog", ["1", "0", "{home}/work/plog"]),
    ({"plog": "node", "log_level": "2"}, "1", ["2", "0", ""])])
def test_the_log_of_cann_has_defaults_that_the_node_may_overrule(home, given, node_says, expected):
    (home / "node.sh").write_text(f"export ASCEND_GLOBAL_LOG_LEVEL={node_says}\n")
    answer = ran(home / "work", {"scripts": "~/node.sh", **given},
                 'echo "$ASCEND_GLOBAL_LOG_LEVEL"; echo "$ASCEND_SLOG_PRINT_TO_STDOUT"; '
                 'echo "$ASCEND_PROCESS_LOG_PATH"')
    assert answer.stdout.splitlines() == [line.format(home=home) for line in expected], (
        answer.stderr)


@pytest.mark.parametrize(("given", "facts"), [
    ({"log_level": "0"}, {"ASCEND_GLOBAL_LOG_LEVEL": "0"}),
    ({"variables": "ASCEND_GLOBAL_LOG_LEVEL=1"}, {"ASCEND_GLOBAL_LOG_LEVEL": "1"}),
    ({"log_to": "1"}, {"ASCEND_SLOG_PRINT_TO_STDOUT": "1"}), ({"umask": "022"}, {})])
def test_rules_learn_the_log_of_the_runtime(given, facts):
    assert Chosen(options=options.cleaned("host", given)).facts(None) == facts


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_log_files_of_cann_are_collected_of_a_run_that_fails(
        people, node, engagement, make, monkeypatch):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    runtime = make("logs", log_level="0")

    def run(status: int) -> Job:
        text = ('mkdir -p "$ASCEND_PROCESS_LOG_PATH/debug/plog"; '
                'echo "[ERROR] GE(1)" > "$ASCEND_PROCESS_LOG_PATH/debug/plog/plog-1_2.log"; '
                f"exit {status}")
        return runner.drive(services.queue_job(
            actor=people["consultant"], kind="test.shell", node=node, engagement=engagement,
            parameters={"script": text}, runtime=runtime))

    failed, succeeded = run(3), run(0)
    assert failed.artifacts.filter(name="plog/debug/plog/plog-1_2.log").exists()
    assert not succeeded.artifacts.filter(name__startswith="plog/").exists()
    assert [hit["rule"] for hit in failed.results["preflight"]["hits"]] == ["R-CFG-28"]


@pytest.mark.django_db
def test_pages_and_api(people, client, engagement):
    client.force_login(people[Role.OPERATOR])
    page = client.post(reverse("workers:runtime_new", args=["host"]), {
        "name": "CANN", "scripts": "relative.sh"})
    assert "relative.sh" in page.context["form"].errors["scripts"][0]
    client.post(reverse("workers:runtime_new", args=["host"]), {
        "name": "CANN", "scripts": "~/a.sh", "variables": "A=1"})
    runtime = Runtime.objects.get()
    assert runtime.options == {"scripts": ["~/a.sh"], "variables": {"A": "1"}}
    shown = client.get(reverse("workers:runtime", args=[runtime.pk])).content.decode()
    assert "A=1" in shown
    answer = client.post("/api/v1/runtime-choices/", {"runtime": runtime.pk}, "application/json")
    assert answer.status_code == 400
    client.force_login(people["consultant"])
    answer = client.post("/api/v1/runtimes/", {"name": "x"}, "application/json")
    assert answer.status_code == 403
    answer = client.post("/api/v1/runtime-choices/", {"runtime": runtime.pk,
                                                   "engagement": engagement.pk},
                         "application/json")
    assert answer.status_code == 201, answer.content
    client.post(reverse("workers:runtime_choice_end", args=[answer.json()["id"]]))
    assert not runtime.choices.exists()
    client.force_login(people["reviewer"] if "reviewer" in people else people[Role.REVIEWER])
    assert client.get(f"/api/v1/runtimes/{runtime.pk}/").status_code == 404


@pytest.mark.django_db
def test_preflight_speaks_of_the_runtime_and_software_is_that_of_the_runtime(
        people, engagement, make):
    node = Node.objects.create(name="n", host="n", username="npu", state="ready",
                               software={"torch": "2.1.0", "driver": "24.1"}, cards_total=8)
    runtime = runtimes.save_runtime(actor=people[Role.OPERATOR], name="image", place="container",
                                    options={"image": "mindie:2.1"})
    order = {"actor": people["consultant"], "kind": "env.host_probe", "node": node,
             "engagement": engagement, "runtime": runtime}
    job = services.queue_job(**order)
    assert [hit["rule"] for hit in job.results["preflight"]["hits"]] == ["R-ENV-20"]
    software.keep(job, torch="2.6.0", driver="")
    assert software.of_job(job) == {"torch": "2.6.0", "driver": "24.1"}
    assert Job(node=node).node.software["torch"] == "2.1.0"
    runtimes.save_runtime(actor=people[Role.OPERATOR], runtime=runtime, name="image",
                          place="container", options={"image": "mindie@sha256:" + "a" * 64})
    assert software.of_job(job) == {"driver": "24.1"}  # another image may hold something else
    Node.objects.filter(pk=node.pk).update(offers={"engines": []})
    node.refresh_from_db()
    with pytest.raises(InvalidInput, match="容器引擎"):
        services.queue_job(**order)


def test_what_a_node_offers():
    message = (b"Welcome\ndesk offer engine podman 4.3.1\ndesk offer image a:1 a@sha256:x\n"
               b"desk offer container dev a:1\ndesk offer script /opt/set_env.sh\ndesk offer x y\n")
    assert offers.parse(message) is None
    found = offers.parse(message + b"desk offers end\n")
    assert found == {"engines": ["podman 4.3.1"], "images": ["a:1 a@sha256:x"],
                     "containers": ["dev a:1"], "scripts": ["/opt/set_env.sh"], "conda": [],
                     "venv": []}
    nodes = [Node(offers=found), Node()]
    assert {name: offers.for_option(nodes, name) for name in ("image", "container", "scripts")} == {
        "image": ["a@sha256:x"], "container": ["dev"], "scripts": ["/opt/set_env.sh"]}


def test_each_engine_is_offered_once_and_not_under_the_name_of_another(tmp_path):
    for name, printed in (("docker", "podman version 4.3.1"), ("podman", "4.3.1"),
                          ("nerdctl", "2.0")):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {printed}\n")
        (tmp_path / name).chmod(0o755)
    for engine, expected in (("", ["podman 4.3.1", "nerdctl 2.0"]),
                             ("nerdctl", ["nerdctl 2.0", "podman 4.3.1"]),
                             ("podman --root /x", ["podman --root /x 4.3.1", "nerdctl 2.0"])):
        answer = subprocess.run(
            ["sh", "-s"], input=offers.script(Node(container_engine=engine)), text=True,
            env={"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)},
            capture_output=True, check=True)
        assert offers.parse(answer.stdout.encode())["engines"] == expected


def test_what_an_engine_printed_as_json_is_shown_as_a_list():
    job = Job(results={"container": {"digests": '["a@sha256:1","b@sha256:1"]', "image": "sha256:2",
                                     "labels": '{"stack":"CANN-8.2","x":1}'}})
    assert [value for _name, value in job_results.container_facts(job)] == [
        "sha256:2", "a@sha256:1, b@sha256:1", "stack=CANN-8.2, x=1"]


@pytest.mark.django_db
def test_a_preloaded_library_is_an_operator_s_word_and_shown(people, client):
    given = {"name": "traced", "place": "host", "options": {"variables": "LD_PRELOAD=/opt/t.so"}}
    with pytest.raises(NotAllowed):
        runtimes.save_runtime(actor=people[Role.CONSULTANT], **given)
    runtime = runtimes.save_runtime(actor=people[Role.OPERATOR], **given)
    client.force_login(people[Role.OPERATOR])
    shown = client.get(reverse("workers:runtime", args=[runtime.pk])).content.decode()
    assert "LD_PRELOAD=/opt/t.so" in shown
