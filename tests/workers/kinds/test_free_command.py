"""Free commands over OpenSSH's own server: who may, what is passed on, what is called a success."""

import os
import stat

import pytest
from django.utils import translation

from engagements.errors import InvalidInput, NotAllowed
from tests.workers.sshd import USER, can_run, running_sshd
from workers import kinds, services
from workers.dispatch import runner
from workers.jobs import kind_catalogue
from workers.kinds.command.free_command import matching_line
from workers.models import Artifact, JobState
from workers.nodes import ssh

pytestmark = [pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run(), reason="needs sshd")]
ODD = ["两个 词", "it's", '"quoted"', "", "a=$HOME", "--path=/数据/模型 权重"]


@pytest.fixture
def server(tmp_path):
    with running_sshd(tmp_path / "sshd") as running:
        yield running
    ssh.close_all()


@pytest.fixture
def node(people, server):
    found = services.enrol_node(
        actor=people["operator"], name="n1", host="127.0.0.1", port=server.port, username=USER,
        private_key=server.key, command_roles=["consultant"])
    return services.confirm_host_key(actor=people["operator"], node=found,
                                     fingerprint=ssh.fingerprint(found.offered_host_key))


@pytest.fixture
def run(people, node, engagement):
    def go(**parameters):
        job = services.queue_job(actor=people["consultant"], kind="run.command", node=node,
                                 engagement=engagement, parameters=parameters)
        return runner.drive(job)

    return go


def programs(server) -> str:
    """Stand-ins of launchers that print the words they get, one per line, and where they lie."""
    folder = server.home / "bin"
    folder.mkdir()
    for name in ("deepspeed", "accelerate"):
        (folder / name).write_text('#!/bin/sh\necho "$(basename "$0")"; printf "[%s]\\n" "$@"\n')
        (folder / name).chmod(stat.S_IRWXU)
    return f"PATH={folder}:$PATH"


@pytest.mark.slow
@pytest.mark.parametrize("words", [
    ["python3", "-m", "json.tool", "--help"], ["bash", "-c", "echo usage: $0", "it's"],
    ["deepspeed", *ODD], ["accelerate", "launch", *ODD]])
def test_every_word_arrives_as_it_is(run, server, node, words):
    path = programs(server)
    (server.home / ".env").write_text(f"export {path}\n")
    node.set_env = str(server.home / ".env")
    node.save()
    job = run(words=words)
    assert job.state == JobState.SUCCEEDED, (job.sentence, job.technical_cause)
    log = job.artifacts.get(name="log.txt").file.read().decode()
    if words[1:] == ODD or words[2:] == ODD:
        assert log == "".join([f"{words[0]}\n", *(f"[{word}]\n" for word in words[1:])])
    else:
        assert "usage" in log.lower()


@pytest.mark.slow
def test_a_script_is_kept_and_judged_by_what_was_named(run):
    script = "#!/bin/bash\r\nmkdir -p '结果 目录'\r\necho \"$1\" > '结果 目录/a b.json'\r\n" \
             "echo 'epoch 3 finished in 2 s'\r\nexit 3\r\n"
    named = {"script": script, "words": ["two words"], "status": 3, "pattern": "epoch * s",
             "file": "结果*/*.json", "cards": 0}
    job = run(**named)
    assert job.state == JobState.SUCCEEDED, job.sentence
    with translation.override("en"):
        assert job.sentence == (
            "The command ended with status 3, the log holds “epoch 3 finished in 2 s”, and it left "
            "“结果 目录/a b.json” (1 files “结果*/*.json”). Whether they are right was not looked "
            "at; "
            "collected: 1 file, 0 of a known format.")
    stored = job.artifacts.get(name="script.sh")
    assert stored.file.read().decode() == script.replace("\r\n", "\n")
    assert run(**{**named, "status": 0}).state == JobState.FAILED
    assert run(**{**named, "pattern": "no such * s"}).state == JobState.FAILED
    assert run(**{**named, "file": "other/*"}).state == JobState.FAILED
    again = runner.drive(services.retry_job(actor=job.created_by, job=run(
        **{**named, "script": "exit 4"})))
    assert again.state == JobState.FAILED
    assert Artifact.objects.filter(job=again, name="script.sh").exists()


@pytest.mark.slow
def test_what_it_left_is_read_by_its_content(run):
    text = "".join(f"{{'loss': {2 - n / 10}, 'grad_norm': 1.0, 'learning_rate': 1e-05, "
                   f"'epoch': {n / 10}}}\n" for n in range(1, 9))
    job = run(words=["printf", "%s", text], collect=["*.log"])
    assert job.artifacts.get(name="log.txt").readings.get().kind == "training_log"


@pytest.mark.slow
def test_who_may_is_declared_per_node_and_role(people, node, engagement, run):
    for name in ("manager", "operator"):
        with pytest.raises(NotAllowed):
            services.queue_job(actor=people[name], kind="run.command", node=node,
                               engagement=engagement if name == "manager" else None,
                               parameters={"words": ["true"]})
    done = run(words=["true"])
    node.command_roles = ["operator"]
    node.save()
    for kind, parameters in (("run.command", {"words": ["true"]}), ("evi.rerun", {"job": done.pk})):
        with pytest.raises(NotAllowed):
            services.queue_job(actor=people["consultant"], kind=kind, node=node,
                               engagement=engagement, parameters=parameters)
    with pytest.raises(InvalidInput):
        services.queue_job(actor=people["operator"], kind="run.command", node=node, parameters={})
    assert services.queue_job(actor=people["operator"], kind="run.command", node=node,
                              parameters={"words": "echo 'two words'"}
                              ).parameters["words"] == ["echo", "two words"]


def test_a_careless_pattern_takes_no_time():
    assert matching_line("a" * 200_000, "*".join("a" * 200) + "*b") == ""
    assert matching_line("one\n  step 5 of 5 \nend", "step*of") == "step 5 of 5"


def test_the_form_has_one_field_per_word(client, people, node, engagement):
    client.force_login(people["consultant"])
    url = f"/jobs/new/?engagement={engagement.code}&kind=run.command"
    assert 'name="words"' in client.get(url).content.decode()
    answer = client.post(url, {
        "node": node.pk, "words": ["echo", "it's  two", '""', "", ""], "interpreter": "bash",
        "cards": "0", "status": "0", "hours": "1"})
    job = node.jobs.get()
    assert answer.status_code == 302
    assert job.command == job.parameters["words"] == ["echo", "it's  two", ""]
    assert job.timeout_seconds == 3600
    copy = client.get(f"{url}&copy_of={job.pk}").content.decode()
    assert 'value="it&#x27;s  two"' in copy


def test_paths_of_typed_kinds_may_hold_any_writing():
    kind = kinds.get("acc.compare")
    odd = "~/数据 集/it's \"new\"/dump.json"
    values = kind.clean({"target": odd, "golden": "/a/b"})
    assert kind.argv(values)[-2:] == [odd, "/a/b"]
    assert odd.split("/")[1] in kind_catalogue.default(kinds.Parameter("x", "x", default=odd))
    for wrong in ("-rf", "a/../b", "a\nb", "host:/a"):
        with pytest.raises(InvalidInput):
            kind.clean({"target": wrong, "golden": "/a/b"})
    assert os.path.basename(odd) == "dump.json"
