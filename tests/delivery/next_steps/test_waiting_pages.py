"""Every state in which something waits, reached by the services: the page says who can go on and,
where nobody can, whom it lacks."""

import html
import os
import signal
import time
from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils.translation import override

from delivery.evidence.services import build_bundle
from delivery.next_steps.engagement_steps import steps_of
from delivery.next_steps.inbox import inbox_items
from delivery.next_steps.registry import RULES
from delivery.planning.services import (
    change_proposals,
    changes,
    time_entries,
    timesheets,
    weekly_reports,
)
from delivery.quotes import services as quoting
from delivery.quotes.models import PriceLine
from delivery.reports import services as reporting
from delivery.surveys import services as surveying
from engagements import services
from engagements.errors import WrongState
from engagements.models import Membership, Role, User
from engagements.stages import Stage, StageMove
from practice_node.server import running_practice_node
from tests.delivery.conftest import api_client, measure
from tests.delivery.planning.conftest import WORDS
from tests.delivery.surveys.conftest import fill
from tests.practice_nodes import enrolled
from tests.workers.shell_kind import ShellKind
from workers.dispatch import runner
from workers.models import JobState
from workers.services import queue_job

pytestmark = pytest.mark.usefixtures("firm", "quick_files", "addresses",
                                     "practice_certificate_set")
# In their order; the first that sees the page and cannot go on looks at it.
VIEWERS = (Role.OPERATOR, Role.SALES, Role.CONSULTANT, Role.MANAGER, Role.ADMINISTRATOR,
           Role.REVIEWER)
WAITING = sorted({(table, str(state)) for rule in RULES for table, state in rule.covers})
EFFECTS = dict.fromkeys((f"effect_on_{on}" for on in ("scope", "schedule", "price", "quality",
                                                      "criteria")), "none")


class Walks:
    """How the states of each table are reached; the methods are named as the tables."""

    def __init__(self, people, engagement, request):
        self.people, self.engagement, self.request = people, engagement, request
        for role in Role.values:
            setattr(self, role, people[role])

    def to(self, table: str, state: str):
        """A row in the state, and the address of its page."""
        return getattr(self, table)(state)

    def quote(self, state):
        sales = self.sales
        quoting.load_rate_cards(actor=self.administrator)
        row = quoting.create_quote(actor=sales, engagement=self.engagement)
        quoting.add_line(actor=sales, quote=row, price=PriceLine.objects.get(code="S-PM"),
                         quantity=Decimal(5))
        row.refresh_from_db()
        quoting.update_quote(actor=sales, quote=row, source_note="as the lines say")
        steps = {"draft": lambda: None,
                 "in_review": lambda: quoting.submit_quote(actor=sales, quote=row),
                 "reviewed": lambda: quoting.review_quote(actor=self.consultant, quote=row),
                 "approved": lambda: quoting.approve_quote(actor=self.manager, quote=row),
                 "issued": lambda: quoting.issue_quote(actor=sales, quote=row),
                 "declined": lambda: quoting.answer_quote(
                     actor=self.reviewer, quote=row, is_accepted=False, reason="too dear")}
        ends = {"revoked": lambda: quoting.move_quote(actor=sales, quote=row, move="revoke",
                                                      reason="wrong price"),
                "expired": lambda: quoting.expire_quotes(today=row.valid_until + timedelta(1))}
        steps["declined"] = ends.get(state, steps["declined"])
        self._until(steps, "declined" if state in ends else state)
        return row, reverse("quotes:quote", args=[row.pk])

    def document(self, state):
        engagement = self.request.getfixturevalue("delivered")
        row = reporting.draft_acceptance(actor=self.manager, engagement=engagement)
        steps = {"draft": lambda: None,
                 "in_review": lambda: reporting.submit_document(actor=self.manager, document=row),
                 "reviewed": lambda: reporting.review_document(actor=self.consultant,
                                                               document=row)}
        self._until(steps, state)
        return row, reverse("reports:document", args=[row.pk])

    def review(self, state):
        act = self.request.getfixturevalue("act")
        row = act.open(self.request.getfixturevalue("delivered"))
        if state == "decided":
            act.decide(row, models=[{"model": model.code, "decision": "accepted"}
                                    for model in self.engagement.models.all()])
        return row, reverse("acceptance:review", args=[row.document_id])

    def closing(self, _state):
        """Accepted, without a warranty, its certificate archived."""
        act, delivered = map(self.request.getfixturevalue, ("act", "delivered"))
        measure(delivered, self.people, delivered.models.get(code="PSR"))
        row = act.open(delivered)
        act.decide(row)
        act.sign(row)
        build_bundle(actor=act.manager, engagement=delivered)
        return delivered, reverse("engagements:engagement", args=[delivered.code])

    def change(self, state):
        row = changes.create_change(actor=self.consultant, engagement=self.engagement,
                                    **{**WORDS, **EFFECTS})
        steps = {"draft": lambda: None,
                 "submitted": lambda: changes.submit_change(actor=self.consultant, change=row),
                 "applied": lambda: [changes.approve_change(actor=person, change=row)
                                     for person in (self.reviewer, self.manager)]}
        self._until(steps, state)
        return row, reverse("planning:change", args=[row.pk])

    def change_proposal(self, _state):
        row = change_proposals.raise_proposal(
            actor=self.reviewer, engagement=self.engagement, title="c", category="scope",
            description="d", reason="r")
        return row, reverse("planning:proposal", args=[row.pk])

    def survey(self, state):
        row = surveying.start_survey(actor=self.consultant, engagement=self.engagement)
        fill(row, self.consultant)
        steps = {"draft": lambda: None,
                 "submitted": lambda: surveying.submit_survey(actor=self.reviewer, survey=row),
                 "confirmed": lambda: surveying.confirm_survey(actor=self.consultant, survey=row)}
        self._until(steps, state)
        return row, reverse("surveys:overview", args=[self.engagement.code])

    def timesheet(self, state):
        time_entries.record_day(
            halves=["am", "pm"], actor=self.consultant, engagement=self.engagement,
            work_date=date(2025, 9, 22), item="adapt", grade="senior",
            model=self.engagement.models.get())
        row = timesheets.confirm_month(actor=self.manager, engagement=self.engagement,
                                       month=date(2025, 9, 1))
        if state == "rejected":
            timesheets.answer_timesheet(actor=self.reviewer, timesheet=row, is_confirmed=False,
                                        reason="one day too many")
        return row, reverse("planning:timesheet", args=[row.pk])

    def weekly(self, _state):
        row = weekly_reports.draft_weekly(actor=self.consultant, engagement=self.engagement,
                                          day=date(2025, 9, 22))
        return row, reverse("planning:weekly", args=[row.pk])

    def stage(self, state):
        row = self.engagement.models.get().stages.get(stage=Stage.SURVEY)

        def move(person, name):
            return services.move_stage(actor=person, record=row, move=name, comment="again")

        steps = {"not_started": lambda: None,
                 "in_progress": lambda: move(self.consultant, StageMove.START),
                 "submitted": lambda: move(self.consultant, StageMove.SUBMIT),
                 "sent_back": lambda: move(self.manager, StageMove.SEND_BACK)}
        self._until(steps, state)
        return row, reverse("engagements:stage", args=[self.engagement.code, "LLM", row.stage])

    def job(self, state):
        """Real jobs over SSH: one fails, one is stopped, one is killed,
        one's node does not answer."""
        row = getattr(self, f"_{state}")(self.request.getfixturevalue("queue"))
        assert row.state == state
        return row, reverse("workers:job", args=[row.pk])

    def _advance(self, job, state):
        """Advance the job as its steps fall due, up to the state."""
        deadline = time.monotonic() + 60
        while job.state != state and time.monotonic() < deadline:
            runner.advance_while_due(job.pk)
            job.refresh_from_db()
            time.sleep(0.1)
        return job

    def _failed(self, queue):
        return runner.drive(queue("exit 5"))

    def _timed_out(self, queue):
        """Its kind lets it run for a second."""
        self.request.getfixturevalue("monkeypatch").setattr(ShellKind, "timeout_seconds", 1)
        return runner.drive(queue("sleep 20"))

    def _lost(self, queue):
        """Everything of the job is killed on its node; no exit status is left."""
        job = self._advance(queue("sleep 20"), JobState.RUNNING)
        leader = int(job.remote["pid"])
        assert os.getpgid(leader) == leader  # the job's own group, not that of this process
        os.killpg(leader, signal.SIGKILL)
        return runner.drive(job)

    def _unknown(self, _queue):
        """Its node, one of its own, is switched off."""
        root = self.request.getfixturevalue("tmp_path")
        with running_practice_node(root) as server:
            node = enrolled(self.operator, server, name="practice-2")
            job = queue_job(actor=self.consultant, kind=ShellKind.code, node=node,
                            engagement=self.engagement, parameters={"script": "sleep 20"})
            self._advance(job, JobState.RUNNING)
        return self._advance(job, JobState.UNKNOWN)

    def _until(self, steps, state):
        """Take the steps in their order, up to the state."""
        for name, step in steps.items():
            step()
            if name == state:
                return
        raise AssertionError(f"no walk leads to {state}")


@pytest.fixture
def walks(people, engagement, llm, request):
    if request.node.callspec.params["table"] in ("closing", "document", "review"):
        llm.delete()  # the engagement of a delivery has models of its own
    return Walks(people, engagement, request)


def _viewer(client, people, url, able):
    """Somebody who sees the page and cannot go on; the page's text."""
    for role in VIEWERS:
        if people[role] not in able and people[role].is_active:
            client.force_login(people[role])
            answer = client.get(url, headers={"Accept-Language": "en"})
            if answer.status_code == 200:
                return people[role], html.unescape(answer.content.decode())
    raise AssertionError(f"nobody sees {url}")


def _take_away(able, administrator):
    """They leave the team and the firm; only the last administrator, whom the service keeps, is
    locked out in the database."""
    for membership in Membership.objects.filter(user__in=able):
        services.remove_member(actor=administrator, membership=membership)
    for person in sorted(able, key=lambda person: person == administrator):
        try:
            services.update_person(actor=administrator, person=person, is_active=False)
        except WrongState:
            assert person == administrator
            User.objects.filter(pk=person.pk).update(is_active=False)
        person.is_active = False


@pytest.mark.slow
@pytest.mark.parametrize(("table", "state"), [
    pytest.param(table, state, id=f"{table}-{state}",
                 marks=pytest.mark.django_db(transaction=table == "job"))  # polls have threads
    for table, state in WAITING])
def test_who_can_go_on(client, people, walks, table, state):
    """Page, next step, inbox and API name the same people; with each of them gone, the page says
    whom it lacks."""
    with override("en"):
        row, url = walks.to(table, state)
        row = type(row)._base_manager.get(pk=row.pk)
        for person in (one for one in people.values() if one.is_active):
            _offered_alike(client, row, person)
        viewer, page = _viewer(client, people, url, [])
        steps = steps_of(row, viewer)
        assert steps, f"{url} names nobody"
        for step in steps:
            assert (step.label in page, step.people != []) == (True, True), step
            assert [person for person in step.people if str(person) not in page] == []
        while able := {person for step in steps for person in step.people}:
            _take_away([one for one in people.values() if one in able],
                       people[Role.ADMINISTRATOR])
            viewer, page = _viewer(client, people, url, able)
            steps = steps_of(row, viewer)
        assert [step.missing in page for step in steps] == [True] * len(steps)
        assert all(step.missing for step in steps)
        assert any(str(role) in page for role in Role.labels)


def _offered_alike(client, row, person) -> None:
    """What a step names as possible for a person is in that person's inbox and API and opens for
    them; nobody else has it there."""
    steps = {}
    for step in steps_of(row, person):  # both sides' steps of a change share a page
        key = step.code, step.url
        steps[key] = steps.get(key, False) or step.is_for(person)
    inbox = {(item.kind, item.url) for item in inbox_items(person, also=True)}
    theirs = {key for key, is_theirs in steps.items() if is_theirs}
    assert {key for key in steps if key in inbox} == theirs, person.role
    told = api_client(person).get("/api/v1/desk/?also=true&limit=200").json()
    assert {(item["kind"], item["url"]) for item in told} == inbox, person.role
    client.force_login(person)
    pages = {url for _code, url in theirs}
    assert {url: client.get(url).status_code for url in pages} == dict.fromkeys(pages, 200), (
        person.role)
