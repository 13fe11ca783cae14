"""No dead ends: in every state that is not an end somebody is named who can go on."""

from datetime import date, timedelta

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from assessments.models import Confirmation
from assessments.services import draft_criteria, load_standard_definitions
from delivery.acceptance.models import Review, Signer
from delivery.acceptance.review import transitions as review
from delivery.evidence.models import EvidenceBundle
from delivery.next_steps import engagement_steps
from delivery.next_steps.engagement_steps import TABLES as TABLE_OF
from delivery.next_steps.engagement_steps import steps_of
from delivery.next_steps.inbox import inbox_items
from delivery.next_steps.registry import RULES
from delivery.operation.state_machines import MACHINES
from delivery.planning.changes import proposal_transitions as change_proposal
from delivery.planning.changes import transitions as change
from delivery.planning.control import transitions as weekly
from delivery.planning.models import ChangeRequest, Timesheet
from delivery.planning.services import change_proposals, changes
from delivery.planning.services.weekly_reports import draft_weekly
from delivery.planning.time import transitions as timesheet
from delivery.portal.templatetags.next_steps import next_steps
from delivery.quotes import services as quoting
from delivery.quotes import transitions as quote
from delivery.quotes.models import Quote
from delivery.reports import transitions as document
from delivery.reports.models import ApprovalTurn, Document
from delivery.surveys import transitions as survey
from delivery.surveys.models import Survey
from delivery.surveys.services import start_survey
from engagements import closing, stages
from engagements.models import Engagement, Membership, Role, User
from engagements.moves import allowed_moves
from tests.delivery.conftest import api_client
from workers.dispatch import transitions as job
from workers.models import Job, JobState
from workers.models.job import FINAL_STATES

TABLES = {"closing": closing, "survey": survey, "quote": quote, "change": change,
          "change_proposal": change_proposal, "timesheet": timesheet,
          "weekly": weekly, "document": document, "review": review, "stage": stages,
          "job": job}
# States from which moves lead on although nobody is waited for, and why.
ENDS = {
    ("closing", "active"): "its own steps lead on; ending it is a manager's decision",
    ("closing", "closed"): "ended; reopened only for a reason",
    ("closing", "cancelled"): "ended; reopened only for a reason",
    ("closing", "not_won"): "ended; reopened only for a reason",
    ("document", "issuing"): "a worker makes the files; taken back only where it cannot",
    ("document", "issued"): "issued for good; a correction is somebody's decision",
    ("document", "signed"): "signed; a correction is somebody's decision",
    ("document", "withdrawn"): "withdrawn; a new version is somebody's decision",
    ("weekly", "frozen"): "sent; a next version is somebody's decision",
    ("review", "signed"): "signed; receipts may still be added",
    ("review", "deemed"): "accepted under the contract; comments may still be made",
    ("stage", "passed"): "done; reopened only for a reason",
    ("stage", "waived"): "done; reopened only for a reason",
    ("stage", "skipped"): "out of scope; brought back only for a reason",
    ("job", "queued"): "a worker takes it on; a node that takes none is its operator's step",
    ("job", "staging"): "a worker brings the files; cancelled only if somebody wants to",
    ("job", "leasing"): "a worker leases cards; cancelled only if somebody wants to",
    ("job", "starting"): "a worker starts it; cancelled only if somebody wants to",
    ("job", "running"): "goes on by itself; cancelled only if somebody wants to",
    ("job", "collecting"): "a worker fetches files; cancelled only if somebody wants to",
    ("job", "reading"): "a worker reads files; cancelled only if somebody wants to",
    ("job", "cancelled"): "stopped on purpose; running it again is somebody's decision",
}


def states_with_moves():
    for name, module in TABLES.items():
        for row in module.TRANSITIONS.values():
            yield from ((name, str(state)) for state in row.sources)


def test_every_state_with_a_way_on_is_covered_or_an_end():
    covered = {(table, str(state)) for rule in RULES for table, state in rule.covers}
    assert {key for key in states_with_moves() if key not in covered and key not in ENDS} == set()
    assert {key for key in ENDS if key not in set(states_with_moves())} == set()


# States from which no move leads, and why nobody has anything to do then.
OVER = {
    ("quote", "accepted"): "agreed; a change request changes it",
    ("quote", "superseded"): "a newer version stands",
    ("change", "rejected"): "one side said no; another request is somebody's decision",
    ("change_proposal", "converted"): "the change request goes on",
    ("change_proposal", "answered"): "answered", ("change_proposal", "declined"): "answered",
    ("change_proposal", "withdrawn"): "taken back by its author",
    ("timesheet", "confirmed"): "confirmed by the customer",
    ("timesheet", "withdrawn"): "its entries come on the next one",
    ("document", "superseded"): "a newer version holds",
    ("review", "replaced"): "the newer version has a review of its own",
    ("job", "succeeded"): "done; its measurement follows by itself",
}
# Of tables without a state machine: the rule whose inbox item holds the state, or why none does.
ELSEWHERE = {
    "agreement.agreement": {"draft": "drawn from its sources; the statement of work that agrees on "
                                     "it has inbox items of its own",
                            "agreed": "", "superseded": ""},
    "workers.node": {"pending": "node_pending", "quarantined": "node_quarantined", "ready": "",
                     "untried": "tried by itself", "maintenance": "its operator ends it",
                     "retired": ""},
    "workers.importednode": {"to_confirm": "shown while the import is open", "ready": "",
                             "waiting": "a worker takes it on", "looking": "a worker looks",
                             "failed": "shown with its reason while the import is open"},
    "workers.readingrequest": {"being_read": "a worker reads", "read": "", "refused": "told"},
    "assessments.criteriaset": {"draft": "criteria_sign", "signed": "", "superseded": ""},
    "reports.renderjob": {"pending": "a worker", "running": "a worker", "done": "",
                          "failed": "document"},
    "acceptance.signer": {"waiting": "signature", "signed": "", "declined": "review_refused"},
    "planning.risk": {"open": "risk", "occurred": "risk", "closed": ""},
    "planning.effortestimate": {"draft": "estimate", "approved": "", "superseded": ""},
    "notices.channel": {"active": "", "closed": "switched off", "disabled": "told by e-mail"},
    "notices.dispatch": {"pending": "a worker", "sending": "a worker", "sent": "",
                         "failed": "its channel's page tells", "withdrawn": ""},
    "engagements.modelprogress": dict.fromkeys(stages.StageState.values, "a summary of stages"),
}


def test_every_state_of_every_object_has_a_next_person_or_a_reason_for_none():
    covered = {(table, str(state)) for rule in RULES for table, state in rule.covers}
    module_of = {module: name for name, module in TABLES.items()}
    machines = {(module_of[module], str(state))
                for _title, module, states in MACHINES for state in states}
    assert machines - covered - set(ENDS) == set(OVER)
    found = {model._meta.label_lower: dict(field.flatchoices)
             for model in apps.get_models() for field in model._meta.concrete_fields
             if field.name == "state" and field.choices}
    assert set(found) - set(ELSEWHERE) == set(TABLE_OF) - {"acceptance.review"}
    assert {name: set(found[name]) for name in ELSEWHERE} == {
        name: set(states) for name, states in ELSEWHERE.items()}
    codes = {rule.code for rule in RULES}
    named = {text for states in ELSEWHERE.values() for text in states.values() if "_" in text}
    assert named <= codes


def test_criteria_that_both_sides_confirmed_wait_for_whoever_may_sign(people, engagement, llm):
    """Who wrote them does not; where nobody else may, that is said."""
    load_standard_definitions()
    draft = draft_criteria(actor=people[Role.MANAGER], engagement=engagement)
    Confirmation.objects.bulk_create(Confirmation(
        criteria_set=draft, side=side, content_hash="x", confirmed_by=people[role])
        for side, role in (("firm", Role.MANAGER), ("customer", Role.REVIEWER)))
    [step] = [step for step in engagement_steps(engagement, people[Role.MANAGER])
              if step.code == "criteria_sign"]
    assert step.people == [people[Role.ADMINISTRATOR]]
    [item] = [item for item in inbox_items(people[Role.ADMINISTRATOR])
              if item.kind == "criteria_sign"]
    assert item.url == reverse("assessments:criteria", args=[engagement.code])
    User.objects.filter(role=Role.ADMINISTRATOR).update(is_active=False)
    [step] = [step for step in engagement_steps(engagement, people[Role.MANAGER])
              if step.code == "criteria_sign"]
    assert (step.people, step.missing != "") == ([], True)


@pytest.fixture
def make(people, engagement, llm):
    """A row of each table in a state, by the shortest way."""
    load_standard_definitions()
    now = timezone.now()

    def an_engagement(state):
        row = Document.objects.create(
            engagement=engagement, kind="FA", number="FA-1", created_by=people[Role.MANAGER],
            state="signed", issued_at=now, content_hash="x")
        EvidenceBundle.objects.create(engagement=engagement, document=row, file="x.zip", size=1,
                                      sha256="0" * 64)
        Engagement.objects.filter(pk=engagement.pk).update(state=state)
        return Engagement.objects.get(pk=engagement.pk), closing.TRANSITIONS

    def a_survey(state):
        row = start_survey(actor=people[Role.CONSULTANT], engagement=engagement)
        Survey.objects.filter(pk=row.pk).update(state=state, confirmed_at=now)
        return Survey.objects.get(pk=row.pk), survey.TRANSITIONS

    def a_quote(state):
        row = quoting.create_quote(actor=people[Role.SALES], engagement=engagement)
        Quote.objects.filter(pk=row.pk).update(
            state=state, issued_at=now, content_hash="x",
            answered_at=now, snapshot={
                "currency": "CNY", "totals": dict.fromkeys(("net", "tax", "gross"), "0.00"),
                "lines": [], "payment": []},
            answered_by=people[Role.REVIEWER], answer_reason="x",
            valid_until=timezone.localdate() + timedelta(days=20))
        return Quote.objects.get(pk=row.pk), quote.TRANSITIONS

    def a_change(state):
        row = changes.create_change(
            actor=people[Role.CONSULTANT], engagement=engagement, title="c", category="scope",
            requested_by="x", reason="x", before="x", after="x", effect_on_scope="x",
            effect_on_schedule="x", effect_on_price="x", effect_on_quality="x",
            effect_on_criteria="x")
        ChangeRequest.objects.filter(pk=row.pk).update(
            state=state, submitted_at=now, content_hash="x", facts={"x": 1},
            **({} if state != "applied" else {
                "applied_at": now, "customer_approved_at": now, "firm_approved_at": now,
                "customer_approved_by": people[Role.REVIEWER],
                "firm_approved_by": people[Role.MANAGER]}))
        return ChangeRequest.objects.get(pk=row.pk), change.TRANSITIONS

    def a_proposal(_state):
        return change_proposals.raise_proposal(
            actor=people[Role.REVIEWER], engagement=engagement, title="c", category="scope",
            description="d", reason="r"), change_proposal.TRANSITIONS

    def a_timesheet(state):
        return Timesheet.objects.create(
            engagement=engagement, month=date(2025, 7, 1), number=1, content_hash="x",
            facts={"grades": []}, confirmed_by=people[Role.MANAGER], state=state,
            answered_by=people[Role.REVIEWER], answered_at=now), timesheet.TRANSITIONS

    def a_weekly(_state):
        return draft_weekly(actor=people[Role.CONSULTANT], engagement=engagement,
                            day=date(2025, 7, 1)), weekly.TRANSITIONS

    def a_document(state):
        row = Document.objects.create(
            engagement=engagement, kind="TR", created_by=people[Role.CONSULTANT], state=state,
            submitted_by=people[Role.CONSULTANT], submitted_at=now, issued_at=now,
            reviewed_by=people[Role.SALES], reviewed_at=now)
        for position, (action, role) in enumerate((("review", ""), ("approve", "manager")), 1):
            ApprovalTurn.objects.create(document=row, action=action, position=position,
                                        title=action, role=role)
        return row, document.TRANSITIONS

    def a_review(state):
        row = Document.objects.create(
            engagement=engagement, kind="FA", number="FA-1", created_by=people[Role.MANAGER],
            state="issued", issued_at=now, content_hash="x")
        found = Review.objects.create(document=row, **({} if state == "open" else {
            "decision": "accepted", "decided_by": people[Role.REVIEWER], "decided_at": now}))
        if state == "open":
            return found, review.TRANSITIONS
        return Signer.objects.create(review=found, user=people[Role.REVIEWER], position=1), None

    def a_stage(state):
        llm.stages.filter(stage="survey").update(state=state)
        return llm.stages.get(stage="survey"), stages.TRANSITIONS

    def a_job(state):
        return Job.objects.create(
            kind="env.gpu_probe", engagement=engagement, created_by=people[Role.CONSULTANT],
            state=state, finished_at=now if state in FINAL_STATES else None), job.TRANSITIONS

    makers = {"closing": an_engagement, "survey": a_survey, "quote": a_quote, "change": a_change,
              "change_proposal": a_proposal, "timesheet": a_timesheet,
              "weekly": a_weekly, "document": a_document, "review": a_review, "stage": a_stage,
              "job": a_job}
    return lambda table, state: makers[table](state)


COVERED = sorted({(table, str(state)) for rule in RULES for table, state in rule.covers})


@pytest.mark.slow
@pytest.mark.parametrize(("table", "state"), COVERED, ids=["-".join(key) for key in COVERED])
def test_in_every_state_somebody_can_go_on_and_really_may(people, engagement, make, table, state):
    row, transitions = make(table, state)
    found = [step for step in engagement_steps(engagement, people[Role.ADMINISTRATOR])
             if row in step.rows]
    assert found, f"{table} is a dead end when {state}"
    for step in found:
        assert step.people, (step.code, step.missing)
        has_moves = transitions and transitions.moves_from(state) and step.code != "quote_due"
        for person in step.people if has_moves else ():
            assert allowed_moves(person, transitions, row), (step.code, person)


def _steps_of_job(row):
    return steps_of(row, User.objects.get(role=Role.ADMINISTRATOR))


@pytest.mark.parametrize("left", ["team", "account", "role"])
def test_a_failed_job_whose_author_left_is_for_the_others(people, engagement, make, left):
    row, _table = make("job", JobState.FAILED)
    author = people[Role.CONSULTANT]
    [step] = _steps_of_job(row)
    assert step.people == [author]
    if left == "team":
        Membership.objects.filter(engagement=engagement, user=author).delete()
    elif left == "account":
        User.objects.filter(pk=author.pk).update(is_active=False)
    else:
        User.objects.filter(pk=author.pk).update(role=Role.SALES)
    [step] = _steps_of_job(row)
    assert author not in step.people
    assert people[Role.MANAGER] in step.people
    for person in step.people:
        assert allowed_moves(person, job.TRANSITIONS, row) == ["retry"]


def test_where_nobody_can_go_on_the_missing_role_is_named(people, engagement, make):
    row, _table = make("quote", "in_review")
    Quote.objects.filter(pk=row.pk).update(state="reviewed", created_by=people[Role.MANAGER],
                                           reviewed_by=people[Role.ADMINISTRATOR])
    with override("en"):
        [step] = steps_of(Quote.objects.get(pk=row.pk), people[Role.SALES])
    assert (step.people, step.label) == ([], "Quote to approve")
    assert "Project manager" in step.missing


def test_a_new_engagement_says_what_it_lacks(people, engagement, client):
    Membership.objects.filter(engagement=engagement, role=Role.REVIEWER).delete()
    codes = [step.code for step in engagement_steps(engagement, people[Role.MANAGER])]
    assert codes == ["models_missing", "reviewer_missing"]
    client.force_login(people[Role.MANAGER])
    page = client.get(reverse("engagements:engagement", args=[engagement.code])).content.decode()
    assert reverse("engagements:model_new", args=[engagement.code]) in page
    assert reverse("engagements:team", args=[engagement.code]) in page


def test_next_steps_by_api_and_for_whom(people, engagement, make, stranger):
    make("quote", "in_review")
    url = f"/api/v1/engagements/{engagement.code}/next-steps/"
    [found] = [step for step in api_client(people[Role.CONSULTANT]).get(url).json()
               if step["code"] == "quote"]
    assert (found["label"], found["is_mine"], found["missing"]) == ("Quote to review", True, "")
    assert people[Role.CONSULTANT].pk in [person["id"] for person in found["people"]]
    assert [step["code"] for step in api_client(people[Role.REVIEWER]).get(url).json()] == [
        "survey_missing"]
    assert api_client(stranger).get(url).status_code == 404


def test_many_rows_cost_the_queries_of_one(people, engagement, llm, detector):
    def cost():
        with CaptureQueriesContext(connection) as caught:
            engagement_steps(engagement, people[Role.MANAGER])
        return len(caught)

    quoting.create_quote(actor=people[Role.SALES], engagement=engagement)
    one = cost()
    for _more in range(4):
        quoting.create_quote(actor=people[Role.SALES], engagement=engagement)
    assert cost() == one


def test_the_page_keeps_the_steps_until_something_of_the_engagement_is_written(people, engagement):
    user = people[Role.SALES]
    before = next_steps(engagement, user)
    with CaptureQueriesContext(connection) as asked:
        assert next_steps(engagement, user) == before
    assert len(asked) == 1
    made = quoting.create_quote(actor=user, engagement=engagement)
    assert reverse("quotes:quote", args=[made.pk]) in next_steps(engagement, user)
