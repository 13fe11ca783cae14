"""The button “Undo” of a toast: every action of the table is taken back by a service of its own,
and refused where something else happened since."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse

from delivery.knowledge.models import SolvedCase
from delivery.knowledge.services.cases import add_case, update_case
from delivery.notices.models import Notice
from delivery.portal.models import SavedView
from delivery.portal.portfolio.saved_views import save_view
from delivery.undo.actions import ACTIONS
from engagements import services
from engagements.audit import audit_log
from engagements.models import AuditEntry, Membership, Role, StageAssignment, StageRecord
from engagements.stages import Stage, StageMove, StageState
from engagements.web import undo_note
from tests.delivery.knowledge.conftest import HCCL, fail, node
from workers.models import Runtime, RuntimeChoice
from workers.services import runtimes

__all__ = ["fail", "node"]
NEXT = re.compile(r'name="next" value="([^"]+)"><button')
NOTE = re.compile(r'name="note" value="([^"]+)"')


class Page:
    """Somebody's client: does something, then presses the button of the toast that follows."""

    def __init__(self, client, user):
        self.client, self.notes = client, []
        client.force_login(user)

    def do(self, name: str, *args, **fields) -> str:
        """Post to a route; the note of the toast, "" without a button."""
        answer = self.client.post(reverse(name, args=args), fields, follow=True)
        assert answer.status_code == 200
        self.notes = NOTE.findall(answer.content.decode())
        self.next_places = NEXT.findall(answer.content.decode())
        return self.notes[0] if self.notes else ""

    def undo(self, note: str) -> tuple[bool, str]:
        """Whether it was taken back, and what the page says."""
        answer = self.client.post("/undo/", {"note": note, "next": "/"}, follow=True)
        shown = [(message.level_tag, str(message)) for message in answer.context["messages"]]
        return shown[0][0] == "success", shown[0][1]


@pytest.fixture
def record(people, engagement):
    model = services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM",
                               name="x")
    return model.stages.get(stage=Stage.DESIGN)


@pytest.fixture
def manager(client, people) -> Page:
    return Page(client, people[Role.MANAGER])


def last_actions(count: int) -> list[str]:
    return list(AuditEntry.objects.values_list("action", flat=True)[:count])


def states(records) -> list[str]:
    return [StageRecord.objects.get(pk=record.pk).state for record in records]


def clean() -> bool:
    return (next(audit_log.findings(), None), list(audit_log.row_differences())) == (None, [])


@pytest.mark.slow
def test_an_assignment(manager, people, engagement, record):
    consultant, boss = people[Role.CONSULTANT], people[Role.MANAGER]
    services.assign_stages(actor=boss, records=[record], person=boss, note="first")
    note = manager.do("engagements:assign", engagement.code, record=record.pk,
                      person=consultant.pk, comment="second")
    entry = AuditEntry.objects.filter(action="stage.assign").first()
    assert entry.data == {"from": boss.username, "note_before": "first",
                          "to": consultant.username, "note": "second"}
    assert manager.undo(note)[0]
    given = StageAssignment.objects.get()
    assert (given.person, given.note, last_actions(1)) == (boss, "first", ["stage.assign"])
    assert manager.undo(note)[0] is False  # it is no longer as the note knows it
    first = manager.do("engagements:assign", engagement.code, record=record.pk, person="")
    services.assign_stages(actor=boss, records=[record], person=consultant)
    is_done, sentence = manager.undo(first)
    assert (is_done, str(record) in sentence) == (False, True)
    assert StageAssignment.objects.get().person == consultant
    assert clean()


def test_nobody_is_given_a_stage_after_leaving_the_team(manager, people, engagement, record):
    consultant = people[Role.CONSULTANT]
    services.assign_stages(actor=people[Role.MANAGER], records=[record], person=consultant)
    note = manager.do("engagements:assign", engagement.code, record=record.pk, person="")
    services.remove_member(actor=people[Role.MANAGER],
                           membership=engagement.memberships.get(user=consultant))
    assert manager.undo(note)[0] is False
    assert not StageAssignment.objects.exists()


@pytest.mark.slow
def test_a_move_that_the_table_leads_back(manager, people, engagement, record):
    place = ("engagements:stage_move", engagement.code, "LLM", record.stage)
    note = manager.do(*place, move=StageMove.SKIP, comment="not asked for")
    assert manager.undo(note)[0]
    record.refresh_from_db()
    assert (record.state, last_actions(1)) == (StageState.NOT_STARTED, ["stage.restore"])
    note = manager.do(*place, move=StageMove.SKIP, comment="not asked for")
    for move in (StageMove.RESTORE, StageMove.SKIP):
        services.move_stage(actor=people[Role.MANAGER], record=record, move=move, comment="x")
    assert manager.undo(note)[0] is False
    record.refresh_from_db()
    assert (record.state, clean()) == (StageState.SKIPPED, True)


@pytest.mark.slow
def test_a_start_and_a_submission(manager, people, engagement, record):
    survey = record.model.stages.get(stage=Stage.SURVEY)
    place = ("engagements:stage_move", engagement.code, "LLM", survey.stage)
    for moves, action, before in (
            ([StageMove.START], "stage.undo_start", StageState.NOT_STARTED),
            ([StageMove.START, StageMove.SUBMIT], "stage.withdraw", StageState.IN_PROGRESS)):
        note = [manager.do(*place, move=move) for move in moves][-1]
        assert manager.undo(note)[0]
        survey.refresh_from_db()
        assert (survey.state, survey.submitted_at, last_actions(1)) == (before, None, [action])
    assert [survey.started_at is None, clean()] == [False, True]
    assert manager.undo(note)[0] is False


def test_no_button_where_the_table_does_not_lead_back(manager, people, engagement, record):
    accept = record.model.stages.get(stage=Stage.ACCEPT)
    survey = record.model.stages.get(stage=Stage.SURVEY)
    for move in (StageMove.START, StageMove.SUBMIT):
        services.move_stage(actor=people[Role.CONSULTANT], record=survey, move=move)
    place = ("engagements:stage_move", engagement.code, "LLM")
    assert [manager.do(*place, survey.stage, move=move, comment="x")
            for move in (StageMove.SEND_BACK, StageMove.START)] == ["", ""]
    StageRecord.objects.filter(pk=accept.pk).update(state=StageState.IN_PROGRESS)
    assert manager.do(*place, accept.stage, move=StageMove.SUBMIT) == ""


@pytest.mark.slow
def test_a_move_of_several_stages(manager, people, engagement, record):
    other = services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="DET",
                               name="y")
    surveys = [model.stages.get(stage=Stage.SURVEY) for model in (record.model, other)]
    fields = {"move": StageMove.START, "record": [row.pk for row in surveys], "back": "matrix"}
    note = manager.do("planning:board_move", **fields)
    assert manager.undo(note)[0]
    assert states(surveys) == [StageState.NOT_STARTED] * 2
    assert last_actions(2) == ["stage.undo_start"] * 2
    note = manager.do("planning:board_move", **fields)
    services.move_stage(actor=people[Role.MANAGER], record=surveys[1], move=StageMove.SUBMIT)
    assert manager.undo(note)[0] is False  # none of them, as one moved on
    assert states(surveys) == [StageState.IN_PROGRESS, StageState.SUBMITTED]
    assert clean()


def test_some_of_several_stages_moved(manager, people, engagement, record):
    survey = record.model.stages.get(stage=Stage.SURVEY)
    note = manager.do("planning:board_move", move=StageMove.START,
                      record=[survey.pk, record.pk], back="matrix")
    assert manager.next_places == [f"/engagements/{engagement.code}/#cell-{survey.pk}"]
    assert manager.undo(note)[0]
    assert states([survey, record]) == [StageState.NOT_STARTED] * 2


def test_a_tick_of_the_checklist(manager, people, engagement, record):
    services.move_stage(actor=people[Role.MANAGER], move=StageMove.START,
                        record=record.model.stages.get(stage=Stage.SURVEY))
    item = record.model.stages.get(stage=Stage.SURVEY).checklist.first()
    place = ("engagements:item_tick", engagement.code, "LLM", Stage.SURVEY, item.pk)
    fields = {"done": "yes", "evidence": "/share/x"}
    note = manager.do(*place, **fields)
    assert manager.undo(note)[0]
    item.refresh_from_db()
    assert (item.done_at, last_actions(1)) == (None, ["checklist.untick"])
    note = manager.do(*place, **fields)
    services.tick_item(actor=people[Role.MANAGER], item=item)
    assert manager.undo(note)[0] is False
    item.refresh_from_db()
    assert item.done_at is not None


def test_a_person_taken_off_the_team(manager, people, engagement):
    membership = engagement.memberships.get(user=people[Role.CONSULTANT])
    place = ("engagements:member_remove", engagement.code, membership.pk)
    note = manager.do(*place)
    assert manager.undo(note)[0]
    again = Membership.objects.get(user=people[Role.CONSULTANT])
    assert (again.role, last_actions(1)) == (membership.role, ["member.add"])
    assert manager.undo(note)[0] is False


@pytest.mark.slow
def test_notices_marked_read(manager, people, record):
    for move in (StageMove.START, StageMove.SUBMIT):
        services.move_stage(actor=people[Role.CONSULTANT], move=move,
                            record=record.model.stages.get(stage=Stage.SURVEY))
    mine = Notice.objects.filter(recipient=people[Role.MANAGER])
    count = mine.unread().count()
    assert count > 0
    note = manager.do("notices:open", mine.first().pk, stay="yes")
    assert (manager.undo(note)[0], mine.unread().count()) == (True, count)
    note = manager.do("notices:all_read")
    assert (mine.unread().count(), manager.undo(note)[0], mine.unread().count()) == (
        0, True, count)
    assert (manager.undo(note)[0], last_actions(1)) == (False, ["notices.unread"])


def test_a_deleted_view(manager, people):
    view = save_view(actor=people[Role.MANAGER], name="late", query="late=yes")
    note = manager.do("portal:view_delete", view.pk)
    assert manager.undo(note)[0]
    again = SavedView.objects.get()
    assert (again.name, again.query, last_actions(1)) == ("late", "late=yes", ["view.save"])
    note = manager.do("portal:view_delete", again.pk)
    save_view(actor=people[Role.MANAGER], name="late", query="state=closed")
    assert manager.undo(note)[0] is False
    assert SavedView.objects.get().query == "state=closed"


@pytest.mark.slow
def test_a_solved_case(manager, people, fail):
    case = add_case(actor=people[Role.MANAGER], title="x", cause="x", cure="x",
                    error_code="EI0002", job=fail(HCCL))
    note = manager.do("knowledge:case_retire", case.pk, reason="obsolete")
    assert manager.undo(note)[0]
    assert SolvedCase.objects.get().retired_at is None
    manager.do("knowledge:case_retire", case.pk, reason="obsolete")
    note = manager.do("knowledge:case_restore", case.pk)
    assert manager.undo(note)[0]
    assert SolvedCase.objects.get().retired_reason == "obsolete"
    note = manager.do("knowledge:case_restore", case.pk)
    update_case(actor=people[Role.MANAGER], case=case, title="y")
    assert manager.undo(note)[0] is False
    assert SolvedCase.objects.get().retired_at is None


def test_a_retired_runtime(client, people, engagement):
    operator = people[Role.OPERATOR]
    page = Page(client, operator)
    runtime = runtimes.save_runtime(actor=operator, name="cann", place="host", options={})
    runtimes.choose_runtime(actor=people[Role.MANAGER], engagement=engagement, runtime=runtime)
    note = page.do("workers:runtime_retire", runtime.pk)
    assert (page.undo(note)[0], last_actions(1)) == (True, ["runtime.reuse"])
    assert (Runtime.objects.get().retired_at, RuntimeChoice.objects.get().engagement) == (
        None, engagement)
    assert (page.undo(note)[0], clean()) == (False, True)


@pytest.mark.slow
def test_a_note_is_for_one_person_and_a_short_time(
        manager, client, people, engagement, record, monkeypatch):
    fields = {"record": record.pk, "person": people[Role.CONSULTANT].pk}
    note = manager.do("engagements:assign", engagement.code, **fields)
    assert Page(client, people[Role.ADMINISTRATOR]).undo(note)[0] is False
    manager = Page(client, people[Role.MANAGER])
    assert manager.undo(note + "x")[0] is False
    monkeypatch.setattr(undo_note, "LIFETIME", timedelta(seconds=-1))
    assert manager.undo(note)[0] is False
    assert StageAssignment.objects.exists()


def test_an_address_elsewhere_is_not_gone_to(manager):
    answer = manager.client.post("/undo/", {"note": "", "next": "https://elsewhere.example/"})
    assert answer.url == "/"


def test_every_action_of_the_table_is_tried_above():
    assert set(ACTIONS) == {"stage.assign", "stage.move", "checklist.tick", "member.remove",
                            "notices.read", "view.delete", "case.retire", "case.restore",
                            "runtime.retire"}
