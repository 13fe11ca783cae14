"""The practice engagements: each step once whatever stops in between, and their removal."""

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from assessments.models import MetricDefinition
from delivery.demo import sample_node
from delivery.demo.child_processes import free_port
from delivery.demo.management.commands import up
from delivery.demo.models import PracticeStep
from delivery.demo.practice_removal import remove_practice
from delivery.demo.progress_labels import STEPS, banner
from delivery.demo.sample_firm import MAIL, PEOPLE, PLAYED, SAMPLE, WAITING
from delivery.demo.sample_setup import crew_of, holds_real_work, load_sample, set_up
from delivery.demo.scenario import Scenario
from delivery.demo.scenario_runs import PARTS
from delivery.demo.step_memory import (
    PracticeRemoved,
    StepMemory,
    begin_practice,
    show_progress,
)
from delivery.planning.models import TimeEntry
from engagements.audit import audit_log, checkpoint
from engagements.audit.checkpoint import Checkpoint
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Customer, Engagement, User
from workers.artifacts.artifact_store import store_file
from workers.models import Node

PASSWORD = "Another-Long-7431"


def test_a_step_and_its_note_are_both_there_or_neither(db):
    begin_practice()
    calls = []

    def work():
        Customer.objects.create(name=f"c{len(calls)}")
        calls.append(1)
        if len(calls) == 1:
            raise WrongState("the power went off")
        return len(calls)

    with pytest.raises(WrongState):
        StepMemory("X").once("a", work)
    assert (Customer.objects.count(), PracticeStep.objects.filter(name__startswith="X").count()
            ) == (0, 0)
    assert [StepMemory("X").once("a", work) for _start in range(3)] == [2, 2, 2]
    memory = StepMemory("X")
    assert [memory.once("a", work), memory.once("a", work)] == [2, 3]  # the second of that name
    PracticeStep.objects.filter(name="begun").delete()
    with pytest.raises(PracticeRemoved):
        memory.once("b", work)
    assert Customer.objects.count() == 2


def test_every_step_exists_and_has_words_for_the_banner(db):
    assert {step for _spec, step in PARTS} <= set(STEPS)
    for spec in (SAMPLE, *PLAYED):
        assert all(callable(getattr(Scenario, step)) for step in spec.steps)
    for spec in PLAYED:
        show_progress(done=1, total=len(PARTS), engagement=spec.code, step=spec.steps[-1])
        assert spec.code in banner().sentence
    show_progress(done=1, total=2, trouble="no node")
    assert ("no node" in banner().sentence, banner().is_stopped) == (True, True)
    assert len(PEOPLE) == 12
    assert len({spec.code for spec in (SAMPLE, *PLAYED)}) == 5


@pytest.mark.slow  # the whole sample is written
def test_set_up_after_a_restart_goes_on_and_the_log_holds(db):
    for _start in range(2):
        load_sample()
        made = set_up(WAITING, StepMemory(WAITING.code), crew_of(WAITING))
    assert (made.has_practice_data, made.models.count(), made.survey.state) == (
        True, 2, "confirmed")
    assert TimeEntry.objects.filter(engagement=made).count() == 2 * WAITING.worked
    assert AuditEntry.objects.filter(engagement=made, action="engagement.create").count() == 1
    assert (next(audit_log.findings(), None), list(audit_log.row_differences())) == (None, [])


@pytest.fixture
def admin(transactional_db):
    return User.objects.create(username="admin", role="administrator", email=f"admin{MAIL}")


@pytest.fixture
def practice(admin):
    """A practice engagement with a stored file."""
    engagement = Engagement.objects.create(
        code="P1", name="p", customer=Customer.objects.create(name="c"), has_practice_data=True)
    begin_practice()
    audit_log.record(actor=admin, action="engagement.create", target=engagement,
                     engagement=engagement)
    User.objects.create(username="reviewer", role="reviewer", email=f"reviewer{MAIL}")
    return store_file(stream=ContentFile(b"log"), name="log.txt", engagement=engagement)


def test_removal_leaves_an_empty_desk_and_its_administrator(client, admin, practice):
    assert not holds_real_work()
    client.force_login(admin)
    page = reverse("practice:practice")
    client.post(page, {"password": PASSWORD})  # not confirmed
    client.post(page, {"password": "short", "is_confirmed": "on"})
    assert Engagement.objects.count() == 1
    checkpoint.keep(Checkpoint(99, "f" * 64, "f" * 64, ""))
    answer = client.post(page, {"password": PASSWORD, "is_confirmed": "on"}, follow=True)
    assert answer.redirect_chain[-1][0] == reverse("portal:home")
    assert answer.context["user"].username == "admin"  # still signed in
    assert [user.username for user in User.objects.all()] == ["admin"]
    assert User.objects.get().check_password(PASSWORD)
    assert (Engagement.objects.count(), Customer.objects.count(), PracticeStep.objects.count()
            ) == (0, 0, 0)
    assert not practice.file.storage.exists(practice.file.name)
    assert MetricDefinition.objects.exists()
    assert holds_real_work()  # the next start loads no sample
    assert AuditEntry.objects.get(action="practice.remove").data == {"engagements": ["P1"]}
    assert next(audit_log.findings(), None) is None  # what was seen of the log before is forgotten


def test_real_work_is_never_removed(admin, practice):
    Engagement.objects.create(code="R1", name="r", customer=Customer.objects.get())
    with pytest.raises(WrongState, match="R1"):
        remove_practice(actor=admin, password=PASSWORD)
    assert Engagement.objects.count() == 2
    Engagement.objects.filter(code="R1").delete()
    with pytest.raises(NotAllowed):
        remove_practice(actor=User.objects.get(username="reviewer"), password=PASSWORD)
    with pytest.raises(InvalidInput):
        remove_practice(actor=admin, password="admin")
    assert Engagement.objects.count() == 1


def test_a_start_without_practice_data_removes_what_is_there(practice, monkeypatch, capsys):
    """`./desk run --empty`; the processes of a start are left out."""
    started = []

    class NoChildren:
        def start(self, name, *_command, **_more):
            started.append(name)

        def stop(self):
            started.append("stop")

    def interrupt(*_place):
        raise KeyboardInterrupt

    monkeypatch.setattr(up, "Children", NoChildren)
    monkeypatch.setattr(up, "_prepare", lambda: None)
    monkeypatch.setattr(up, "wait_for", interrupt)
    monkeypatch.setenv(up.VARIABLE, PASSWORD)
    real = Engagement.objects.create(code="R1", name="r", customer=Customer.objects.get())
    with pytest.raises(CommandError, match="R1"):
        call_command("up", empty=True, port=free_port())
    assert (Engagement.objects.count(), started) == (2, ["stop"])
    real.delete()
    call_command("up", empty=True, port=free_port())
    assert started[1:] == ["portal", "worker", "stop"]
    assert (Engagement.objects.count(), Customer.objects.count()) == (0, 0)
    assert not practice.file.storage.exists(practice.file.name)
    [admin] = User.objects.all()
    assert (admin.username, admin.role, admin.check_password(PASSWORD)) == (
        "admin", "administrator", True)
    assert MetricDefinition.objects.exists()
    assert next(audit_log.findings(), None) is None


def test_a_practice_node_beside_real_work_is_enrolled_once_and_marked(
        db, ssh_server, tmp_path, settings, monkeypatch):
    """`./desk run --empty --practice-node`, then a start without options."""
    started, settings.VAR_DIR = [], tmp_path
    (tmp_path / "practice-node").symlink_to(ssh_server.root)

    class NoChildren:
        def start(self, name, *_command, **_more):
            started.append(name)

        def stop(self):
            pass

    def reached(_host, port):
        if port != ssh_server.port:
            raise KeyboardInterrupt

    monkeypatch.setattr(up, "Children", NoChildren)
    monkeypatch.setattr(up, "_prepare", lambda: None)
    monkeypatch.setattr(up.connection, "close", lambda: None)
    monkeypatch.setattr(up, "_stored_node_port", lambda _root: ssh_server.port)
    monkeypatch.setattr(up, "wait_for", reached)
    monkeypatch.setenv(up.VARIABLE, PASSWORD)
    for more in ({"empty": True, "practice_node": True}, {}):
        call_command("up", port=free_port(), **more)
    node = Node.objects.get()
    assert (node.state, node.is_practice, Engagement.objects.count()) == (
        Node.State.READY, True, 0)
    assert started == ["practice node", "portal", "worker"] * 2


def test_a_practice_node_is_asked_for_where_the_desk_was_started_by_run(
        people, client, settings, tmp_path, monkeypatch):
    settings.VAR_DIR = tmp_path
    client.force_login(people["operator"])
    url, nodes = reverse("practice:practice_node"), reverse("workers:nodes")
    client.post(url)
    assert not sample_node.practice_node_is_wanted()
    assert url not in client.get(nodes).content.decode()
    (tmp_path / "up.pid").write_text("1")
    assert url in client.get(nodes).content.decode()
    client.post(url)
    assert sample_node.practice_node_is_wanted()
    started = []
    monkeypatch.setattr(up.Command, "_start_practice_node",
                        lambda self, children, meanwhile: started.append(meanwhile))
    monkeypatch.setattr(up, "connection", type("Kept", (), {"close": staticmethod(int)}))
    up.Command()._start_wanted_node(None)
    assert (started, sample_node.practice_node_is_wanted()) == ([None], False)
