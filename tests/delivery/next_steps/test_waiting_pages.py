"""Every state in which something waits, reached by the services: the page says who can go on and,
where nobody can, whom it lacks."""

import html
import os
import signal
from datetime import date
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from delivery.next_steps.engagement_steps import steps_of
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
from engagements.models import Membership, Role, User
from engagements.stages import Stage, StageMove
from tests.delivery.acceptance.conftest import (
    _addresses,
    _practice_certificate,
    _quick_files,
    act,
    practice_p12,
)
from tests.delivery.planning.conftest import firm
from tests.delivery.planning.test_changes import WORDS
from tests.delivery.surveys.conftest import fill
from tests.workers.conftest import node, queue, ssh_server
from workers.dispatch import runner
from workers.models import Job, JobState
from workers.nodes import ssh

__all__ = ["_addresses", "_practice_certificate", "_quick_files", "act", "firm", "node",
           "practice_p12", "queue", "ssh_server"]
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
        self._until(steps, state)
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
        queue = self.request.getfixturevalue("queue")
        row = queue("exit 5" if state == "failed" else "sleep 20")
        if state == "failed":
            row = runner.drive(row)
        else:
            self._run(row)
            getattr(self, f"_{state}")(row)
            row.refresh_from_db()
        return row, reverse("workers:job", args=[row.pk])

    def _run(self, job):
        while job.state != JobState.RUNNING:
            runner.advance_while_due(job.pk)
            job.refresh_from_db()

    def _timed_out(self, job):
        Job.objects.filter(pk=job.pk).update(timeout_seconds=0)
        runner.drive(job)

    def _lost(self, job):
        """Everything of the job is killed on its node; no exit status is left."""
        leader = int(job.remote["pid"])
        assert os.getpgid(leader) == leader  # the job's own group, not that of this process
        os.killpg(leader, signal.SIGKILL)
        runner.drive(job)

    def _unknown(self, job):
        monkeypatch = self.request.getfixturevalue("monkeypatch")

        def away(*_args, **_kwargs):
            raise ssh.Unreachable("connection refused")

        with monkeypatch.context() as patch:
            patch.setattr(ssh, "run", away)
            Job.objects.filter(pk=job.pk).update(next_step_at=timezone.now())
            runner.advance_while_due(job.pk)

    def _until(self, steps, state):
        """Take the steps in their order, up to the state."""
        for name, step in steps.items():
            step()
            if name == state:
                return
        raise AssertionError(f"no walk leads to {state}")


@pytest.fixture
def walks(people, engagement, llm, request):
    if request.node.callspec.params["table"] in ("document", "review"):
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


def _take_away(able):
    """They leave the team and the firm."""
    keys = [person.pk for person in able]
    Membership.objects.filter(user__in=keys).delete()
    User.objects.filter(pk__in=keys).update(is_active=False)
    for person in able:
        person.is_active = False


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("table", "state"), WAITING, ids=["-".join(key) for key in WAITING])
def test_the_page_says_who_can_go_on_and_whom_it_lacks(client, people, walks, table, state):
    with override("en"):
        row, url = walks.to(table, state)
        row = type(row)._base_manager.get(pk=row.pk)
        viewer, page = _viewer(client, people, url, [])
        steps = steps_of(row, viewer)
        assert steps, f"{url} names nobody"
        for step in steps:
            assert (step.label in page, step.people != []) == (True, True), step
            assert [person for person in step.people if str(person) not in page] == []
        while able := {person for step in steps for person in step.people}:
            _take_away([one for one in people.values() if one in able])
            viewer, page = _viewer(client, people, url, able)
            steps = steps_of(row, viewer)
        assert [step.missing in page for step in steps] == [True] * len(steps)
        assert all(step.missing for step in steps)
        assert any(str(role) in page for role in Role.labels)
