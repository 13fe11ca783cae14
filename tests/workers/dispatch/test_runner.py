"""Jobs over a real SSH connection, from the queue to their artifacts."""

import threading

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from engagements.errors import InvalidInput, NotAllowed, WrongState
from tests.workers.shell_kind import ShellKind
from workers import services
from workers.dispatch import runner
from workers.kinds import base as registry
from workers.models import Artifact, CardLease, Job, JobState, Node
from workers.nodes import ssh
from workers.nodes.card_leases import choose_cards, free_cards
from workers.queries import attempts_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def shell_kind(monkeypatch):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())


@pytest.fixture
def queue(people, node, engagement):
    def go(script, cards=0):
        return services.queue_job(actor=people["consultant"], kind="test.shell", node=node,
                                  engagement=engagement,
                                  parameters={"script": script, "cards": cards})

    return go


def test_files_come_back_with_the_checksum_the_node_computed(queue):
    job = runner.drive(queue("mkdir sub; printf abc > a.txt; printf d > sub/b.txt; echo done"))
    assert (job.state, job.sentence, job.is_practice) == (JobState.SUCCEEDED, "status 0", True)
    files = {a.name: (a.size, a.sha256[:8], a.note, a.is_practice) for a in job.artifacts.all()}
    assert files == {
        "a.txt": (3, "ba7816bf", "", True), "sub/b.txt": (1, "18ac3e73", "", True),
        "log.txt": (5, Artifact.objects.get(job=job, name="log.txt").sha256[:8], "", True)}


def test_failing_command_is_failed_with_its_status(queue):
    job = runner.drive(queue("exit 5"))
    assert (job.state, job.exit_status) == (JobState.FAILED, 5)


def test_secrets_are_masked_in_log_and_files(queue):
    job = runner.drive(queue(
        "word=hunter2; echo API_TOKEN=$word; echo password: $word > a.txt"))
    texts = {a.name: a.file.read().decode() for a in job.artifacts.all()}
    assert texts == {"log.txt": "API_TOKEN=******\n", "a.txt": "password: ******\n"}


def test_files_say_whether_their_secrets_are_masked(queue, client, people):
    """By their content, whatever they are called; what is no text is kept as it is, and says so."""
    job = runner.drive(queue(
        r'mkdir out; cd out; w=hunter2; echo sk=$w > .env; printf "sk=$w\0" > weights;'
        r'printf "sk=$w\0" > odd.log; printf "\303\334 sk=$w\n" > gbk.log'))
    files = {a.name: a for a in job.artifacts.exclude(name="log.txt")}
    assert {name: (a.file.read(), a.masking) for name, a in files.items()} == {
        "out/.env": (b"sk=******\n", "masked"), "out/weights": (b"sk=hunter2\0", "not_text"),
        "out/odd.log": (b"sk=******", "not_text"),
        "out/gbk.log": (b"\xc3\xdc sk=******\n", "masked")}
    client.force_login(people["consultant"])
    for name, sentence in (("out/weights", "不是纯文本"), ("out/.env", "能识别的已遮盖")):
        assert sentence in client.get(
            reverse("workers:artifact", args=[files[name].pk])).content.decode()
        assert client.get(f"/api/v1/artifacts/{files[name].pk}/").json()["masking"] == (
            files[name].masking)


@pytest.mark.slow
def test_a_text_above_the_former_limit_is_masked(queue):
    """Across the pieces in which it is masked, too: the secret is where the first one ends."""
    zeros = "head -c %d /dev/zero | tr '\\0' '\\n' >> a.txt;"
    job = runner.drive(queue(
        f"{zeros % (2**20 - 5)} word=hunter2; echo password: $word >> a.txt; "
        f"{zeros % (65 * 2**20)}"))
    artifact = job.artifacts.get(name="a.txt")
    assert artifact.masking == "masked"
    assert artifact.file.read().strip() == b"password: ******"


def test_an_upload_says_that_it_is_kept_as_given(people, engagement):
    stored = services.upload_artifact(
        actor=people["consultant"], engagement=engagement,
        upload=SimpleUploadedFile("a.txt", b"sk=hunter2"))
    assert (stored.file.read(), stored.masking) == (b"sk=hunter2", "as_given")


def test_two_workers_at_once_run_a_job_once(queue, ssh_server):
    job = queue("echo x >> $HOME/times; sleep 0.3")
    marker = ssh_server.root / "home" / "times"

    def drive():
        runner.drive(Job.objects.get(pk=job.pk))
        connection.close()

    threads = [threading.Thread(target=drive) for _n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED
    assert marker.read_text() == "x\n"


def test_cancel_ends_the_group_before_the_cards_are_free(queue, people, node):
    job = queue("sleep 60 & sleep 60", cards=2)
    while job.state != JobState.RUNNING:
        runner.advance_while_due(job.pk)
        job.refresh_from_db()
    assert free_cards(node) == [2, 3, 4, 5, 6, 7]
    services.cancel_job(actor=people["consultant"], job=job)
    job = runner.drive(job)
    assert job.state == JobState.CANCELLED
    assert free_cards(node) == list(range(8))


def test_job_sees_its_cards(queue):
    job = runner.drive(queue("printf $ASCEND_RT_VISIBLE_DEVICES > a.txt", cards=4))
    assert job.artifacts.get(name="a.txt").file.read() == b"0,1,2,3"


def test_job_waits_while_cards_are_taken(queue, node):
    blocker = queue("sleep 60", cards=8)
    CardLease.objects.bulk_create(
        CardLease(node=node, card_index=i, job=blocker, fence=1, taken_at=timezone.now())
        for i in range(8))
    Job.objects.filter(pk=blocker.pk).update(state=JobState.RUNNING)
    job = queue("true", cards=1)
    runner.advance_while_due(job.pk)
    job.refresh_from_db()
    assert (job.state, job.message_values) == (
        JobState.LEASING, {"n": 1, "free": 0, "place": 1})


def test_four_cards_stay_in_one_ring():
    assert choose_cards([1, 2, 3, 4, 5, 6, 7], 4) == [4, 5, 6, 7]
    assert choose_cards([0, 1, 4, 5], 3) is None
    assert choose_cards([0, 1, 2, 4], 1) == [4]


def test_unreachable_node_is_unknown_and_returns_to_the_true_state(queue, node, monkeypatch):
    job = queue("sleep 0.2; echo late")
    while job.state != JobState.RUNNING:
        runner.advance_while_due(job.pk)
        job.refresh_from_db()

    def away(*_args, **_kwargs):
        raise ssh.Unreachable("connection refused")

    with monkeypatch.context() as patch:
        patch.setattr(ssh, "run", away)
        Job.objects.filter(pk=job.pk).update(next_step_at=timezone.now())
        runner.advance_while_due(job.pk)
    job.refresh_from_db()
    assert (job.state, job.state_before_unknown) == (JobState.UNKNOWN, JobState.RUNNING)
    Job.objects.filter(pk=job.pk).update(next_step_at=timezone.now())
    assert runner.drive(job).state == JobState.SUCCEEDED


def test_changed_host_key_quarantines_the_node(queue, node):
    import asyncssh

    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
    Node.objects.filter(pk=node.pk).update(host_key=other)
    job = queue("true")
    runner.advance_while_due(job.pk)
    job.refresh_from_db()
    node.refresh_from_db()
    assert (job.state, node.state) == (JobState.UNKNOWN, Node.State.QUARANTINED)


def test_stale_worker_changes_nothing(queue, monkeypatch):
    job = queue("true")

    def stolen(job):
        Job.objects.filter(pk=job.pk).update(claim_token="somebody else")
        return {"state": JobState.FAILED, "finished_at": timezone.now()}

    monkeypatch.setattr(runner.transitions, "step", stolen)
    runner.advance_while_due(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.QUEUED


def test_fingerprint_must_be_the_offered_one(people, ssh_server):
    node = services.enrol_node(
        actor=people["operator"], name="n2", host=ssh_server.host, port=ssh_server.port,
        username="x", private_key=ssh_server.private_key_text)
    with pytest.raises(InvalidInput):
        services.confirm_host_key(actor=people["operator"], node=node, fingerprint="SHA256:no")


def test_credentials_are_encrypted_at_rest(node, ssh_server):
    with connection.cursor() as cursor:
        cursor.execute("select private_key from workers_node where id = %s", [node.pk])
        stored = cursor.fetchone()[0]
    assert "PRIVATE KEY" not in stored
    assert Node.objects.get(pk=node.pk).private_key == ssh_server.private_key_text


def test_roles_and_states_are_respected(people, node, engagement, queue):
    with pytest.raises(NotAllowed):
        services.queue_job(actor=people["reviewer"], kind="test.shell", node=node,
                           engagement=engagement, parameters={"script": "true"})
    Node.objects.filter(pk=node.pk).update(state=Node.State.MAINTENANCE)
    node.refresh_from_db()
    with pytest.raises(WrongState):
        queue("true")


def test_retry_is_a_new_attempt_linked_to_the_old(queue, people):
    first = runner.drive(queue("exit 1"))
    second = services.retry_job(actor=people["consultant"], job=first)
    assert (second.retry_of, second.attempt) == (first, 2)
    assert second.directory_name != first.directory_name
    assert runner.drive(second).state == JobState.FAILED


def test_every_attempt_shows_all_of_them(queue, people, client):
    first = runner.drive(queue("exit 1"))
    second = runner.drive(services.retry_job(actor=people["consultant"], job=first))
    third = runner.drive(services.retry_job(actor=people["consultant"], job=second))
    other = runner.drive(queue("exit 1"))
    assert attempts_of(second) == [first, second, third]
    assert attempts_of(other) == []
    client.force_login(people["consultant"])
    page = client.get(reverse("workers:job", args=[second.pk])).content.decode()
    for job in (first, third):
        assert f'href="{reverse("workers:job", args=[job.pk])}"' in page
