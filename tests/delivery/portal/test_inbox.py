"""The inbox and the board: who sees what waits, in which order, at a constant cost."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from assessments.models import Confirmation, CriteriaSet
from delivery.acceptance.models import Condition, Review, Signer
from delivery.next_steps import inbox_items
from delivery.next_steps.items import BROKEN, OPEN, OTHERS_WAIT, OVERDUE, SOON, InboxContext
from delivery.planning.board import matching, rows_of
from delivery.planning.models import Task
from delivery.planning.services import control, plans
from delivery.quotes import services as quoting
from delivery.quotes.models import Quote
from delivery.reports.approvals import approval_chain
from delivery.reports.models import ApprovalTurn, Document
from delivery.reports.transitions import TRANSITIONS
from engagements import services
from engagements.models import (
    Role,
)
from engagements.moves import allowed_moves
from engagements.stages import Stage, StageState
from tests.delivery.portal.conftest import many
from workers.models import Node

DAY = timedelta(days=1)


def board(user, params, now=None):
    """The rows of the board that fit a filter."""
    return rows_of(matching(user, params, now), now)


def test_inbox_of_each_role_in_order_of_urgency(people, busy):
    kinds = {role: [(item.urgency, item.kind) for item in inbox_items(user)]
             for role, user in people.items()}
    assert kinds[Role.CONSULTANT] == [
        (0, "todo"), (1, "risk"), (1, "todo"), (2, "quote"), (3, "job"), (4, "stage_in_progress")]
    assert sorted(kinds[Role.MANAGER]) == [(2, "change"), (2, "quote"), (2, "stage_submitted")]
    assert kinds[Role.OPERATOR] == [(3, "job")]
    assert kinds[Role.SALES] == []
    assert kinds[Role.REVIEWER] == [(2, "change")]


def test_a_quote_waits_for_each_step_of_its_chain(people, busy):
    def wait_for_quotes():
        return {role for role, user in people.items()
                if any(item.kind == "quote" for item in inbox_items(user))}

    assert wait_for_quotes() == {Role.ADMINISTRATOR, Role.MANAGER, Role.CONSULTANT}
    Quote.objects.update(state=Quote.State.REVIEWED, reviewed_by=people[Role.MANAGER])
    assert wait_for_quotes() == {Role.ADMINISTRATOR}


def test_nobody_approves_his_own(people, busy):
    Quote.objects.update(created_by=people[Role.MANAGER])
    assert "quote" not in {item.kind for item in inbox_items(people[Role.MANAGER])}
    assert "quote" in {item.kind for item in inbox_items(people[Role.ADMINISTRATOR])}


def test_every_entry_leads_to_a_page_that_opens(client, people, busy):
    for user in people.values():
        client.force_login(user)
        page = client.get(reverse("portal:home")).content.decode()
        for item in inbox_items(user):
            assert f'href="{item.url}"' in page
            assert client.get(item.url).status_code == 200


def test_stranger_s_inbox_is_empty(people, busy, stranger):
    assert inbox_items(stranger) == []
    assert board(stranger, {}) == []


def test_board_says_since_when_for_whom_and_what_it_holds_up(people, busy, llm, detector):
    now = timezone.now() + 9 * DAY
    plans.draft_plan(actor=people[Role.MANAGER], engagement=busy, starts_on=timezone.localdate())
    Task.objects.filter(model=llm, stage="design").update(owner=people[Role.OPERATOR])
    first, second = sorted(board(people[Role.MANAGER], {}, now), key=lambda r: r.model.position)
    assert (first.current.state, first.age, first.waits_for, first.is_blocked) == (
        StageState.SUBMITTED, 9, ["Manager"], True)
    assert first.blocks == f"{Stage.DESIGN.label} · Operator"
    assert (second.waits_for, second.is_blocked, second.is_old) == (["Consultant"], False, True)
    control.add_issue(
        actor=people[Role.MANAGER], engagement=busy, description="缺数据", level="blocking",
        model=detector, raised_on=timezone.localdate(), owner=people[Role.SALES],
        due_on=timezone.localdate())
    [blocked] = board(people[Role.MANAGER], {"q": "DET"}, now)
    assert (blocked.waits_for, blocked.is_blocked) == (["Sales"], True)


@pytest.mark.parametrize(("params", "codes"), [
    ({}, {"LLM", "DET"}), ({"q": "llm"}, {"LLM"}), ({"state": "submitted"}, {"LLM"}),
    ({"stage": "design"}, set()), ({"days": "3"}, {"LLM", "DET"}), ({"days": "4"}, set()),
    ({"blocked": "yes"}, {"LLM"}), ({"engagement": "EP2501"}, {"LLM", "DET"}),
    ({"engagement": "none"}, set())])
def test_board_filters(people, busy, params, codes):
    rows = board(people[Role.CONSULTANT], params, timezone.now() + 3 * DAY)
    assert {row.model.code for row in rows} == codes


def queries_of(client, url) -> int:
    with CaptureQueriesContext(connection, ) as caught:
        assert client.get(url).status_code == 200
    return len(caught)


def test_300_models_cost_the_queries_of_three(client, people, engagement):
    client.force_login(people[Role.MANAGER])
    urls = [reverse("planning:board"), reverse("portal:home")]
    many(people, engagement.customer, 3, "SMALL")
    few = [queries_of(client, url) for url in urls]
    many(people, engagement.customer, 297, "LARGE")
    assert len(board(people[Role.MANAGER], {})) == 300
    assert [queries_of(client, url) for url in urls] == few


def test_inbox_by_api(client, people, busy):
    client.force_login(people[Role.CONSULTANT])
    found = client.get("/api/v1/desk/").json()
    assert [row["kind"] for row in found] == [
        "todo", "risk", "todo", "quote", "job", "stage_in_progress"]
    assert (found[0]["urgency"], found[0]["count"], bool(found[0]["reason"])) == (0, 1, True)


@pytest.mark.parametrize(("rank", "due", "since", "urgency", "reason"), [
    (OPEN, -3, None, OVERDUE, "3 days late"), (OTHERS_WAIT, -1, None, OVERDUE, "1 day late"),
    (OPEN, 0, None, SOON, "due today"), (OPEN, 1, None, SOON, "due in 1 day"),
    (OTHERS_WAIT, 7, -30, SOON, "due in 7 days"),
    (OTHERS_WAIT, 8, -30, OTHERS_WAIT, "waiting for 30 days"),
    (OPEN, 8, None, OPEN, "due in 8 days"), (OTHERS_WAIT, None, 0, OTHERS_WAIT,
                                             "waiting since today"),
    (BROKEN, None, -1, BROKEN, "failing for 1 day"), (BROKEN, None, None, BROKEN, "failing"),
    (OTHERS_WAIT, None, None, OTHERS_WAIT, "blocking others"),
    (OPEN, None, -2, OPEN, "open for 2 days"), (OPEN, None, 0, OPEN, "open since today")])
def test_the_rank_of_a_line_and_why(rank, due, since, urgency, reason):
    now = timezone.now()
    context = InboxContext(None, now)
    with override("en"):
        line = context.item(
            rank, "x", "", "", "", "", due=due if due is None else context.today + due * DAY,
            since=since if since is None else now + since * DAY)
        assert (line.urgency, line.reason) == (urgency, reason)


def kinds_of(user) -> list[tuple[int, str]]:
    return [(item.urgency, item.kind) for item in inbox_items(user)]


def test_the_longest_late_and_the_longest_waiting_come_first(people, engagement):
    today, consultant = timezone.localdate(), people[Role.CONSULTANT]
    for text, days in (("b", -1), ("a", -5), ("d", 3), ("c", 1), ("e", 30)):
        control.add_todo(actor=people[Role.MANAGER], engagement=engagement, text=text,
                         owner=consultant, due_on=today + days * DAY)
    for level, days in (("blocking", 40), ("minor", 20)):
        control.add_issue(
            actor=people[Role.MANAGER], engagement=engagement, description=level, level=level,
            raised_on=today, owner=consultant, due_on=today + days * DAY)
    assert [(item.urgency, item.title.split(" ")[-1]) for item in inbox_items(consultant)] == [
        (OVERDUE, "a"), (OVERDUE, "b"), (SOON, "c"), (SOON, "d"), (OTHERS_WAIT, "blocking"),
        (OPEN, "minor"), (OPEN, "e")]


def test_many_stages_are_one_line_that_leads_to_the_board(client, people, engagement):
    many(people, engagement.customer, 6, "SIX")
    manager = people[Role.MANAGER]
    [line] = inbox_items(manager)
    assert (line.kind, line.count, line.engagement) == ("stage_submitted", 6, "SIX")
    client.force_login(manager)
    assert len(client.get(line.url).context["page"].object_list) == 6


def test_who_submitted_a_stage_is_not_asked_to_decide_on_it(people, engagement, llm):
    for move in ("start", "submit"):
        services.move_stage(actor=people[Role.MANAGER], record=llm.stages.get(stage="survey"),
                            move=move)
    assert kinds_of(people[Role.MANAGER]) == []
    assert kinds_of(people[Role.ADMINISTRATOR]) == [(OTHERS_WAIT, "stage_submitted")]


def test_the_way_of_a_quote_back_and_to_the_customer(people, engagement):
    sales, today = people[Role.SALES], timezone.localdate()
    quote = quoting.create_quote(actor=sales, engagement=engagement)
    assert kinds_of(sales) == [(OPEN, "quote_draft")]
    Quote.objects.update(state=Quote.State.IN_REVIEW)
    quoting.return_quote(actor=people[Role.CONSULTANT], quote=quote, reason="too low")
    assert kinds_of(sales) == [(OTHERS_WAIT, "quote_back")]
    for days, expected in ((20, [(OTHERS_WAIT, "quote")]), (2, [(SOON, "quote")]), (-1, [])):
        Quote.objects.update(state=Quote.State.ISSUED, issued_at=timezone.now(),
                             content_hash="x", quote_date=today - 9 * DAY,
                             valid_until=today + days * DAY)
        assert kinds_of(people[Role.REVIEWER]) == expected  # what has expired cannot be answered


def test_documents_wait_for_whose_turn_it_is(people, engagement):
    document = Document.objects.create(
        engagement=engagement, kind="TR", created_by=people[Role.CONSULTANT],
        submitted_by=people[Role.CONSULTANT], state="in_review", submitted_at=timezone.now())
    first = ApprovalTurn.objects.create(document=document, action="review", position=1, title="x",
                                        holder=people[Role.SALES])
    ApprovalTurn.objects.create(document=document, action="approve", position=2, title="y",
                                role="manager")

    def asked() -> set[str]:
        document.refresh_from_db()
        for user in people.values():
            says = {"review", "issue"} & set(allowed_moves(user, TRANSITIONS, document))
            assert approval_chain.waits_for(user, document) == bool(says)
        return {role for role, user in people.items() if "document" in dict(
            map(reversed, kinds_of(user)))}

    assert asked() == {Role.SALES}
    ApprovalTurn.objects.filter(pk=first.pk).update(holder=None)
    assert asked() >= {Role.MANAGER}
    assert Role.CONSULTANT not in asked()
    ApprovalTurn.objects.filter(pk=first.pk).update(done_by=people[Role.MANAGER],
                                                    done_at=timezone.now())
    Document.objects.update(state="reviewed", reviewed_by=people[Role.MANAGER],
                            reviewed_at=timezone.now())
    assert asked() == set()  # the one manager has reviewed it
    Document.objects.update(state="draft")
    assert kinds_of(people[Role.CONSULTANT]) == [(OPEN, "document_draft")]
    document.steps.create(action="send_back", actor=people[Role.MANAGER], at=timezone.now())
    assert kinds_of(people[Role.CONSULTANT]) == [(OTHERS_WAIT, "document_back")]


def test_what_waits_for_the_customer_until_it_is_signed_and_closed(people, engagement):
    reviewer, manager, today = people[Role.REVIEWER], people[Role.MANAGER], timezone.localdate()
    document = Document.objects.create(
        engagement=engagement, kind="AF", number="AF-1", created_by=manager, state="issued",
        issued_at=timezone.now(), content_hash="x")
    review = Review.objects.create(document=document, due_on=today + 3 * DAY)
    assert kinds_of(reviewer) == [(SOON, "review")]
    signer = Signer.objects.create(review=review, user=reviewer, position=1)
    Review.objects.update(decision="conditional", decided_by=reviewer, decided_at=timezone.now())
    assert kinds_of(reviewer) == [(OTHERS_WAIT, "signature")]
    Signer.objects.filter(pk=signer.pk).update(state="signed")
    condition = Condition.objects.create(review=review, description="缺手册", owner="x",
                                         due_on=today - DAY)
    assert (kinds_of(reviewer), kinds_of(manager)) == ([], [(OVERDUE, "condition")])
    Condition.objects.filter(pk=condition.pk).update(reported_at=timezone.now())
    assert (kinds_of(reviewer), kinds_of(manager)) == ([(OVERDUE, "condition")], [])


def test_what_the_other_side_has_confirmed(people, engagement):
    sheet = CriteriaSet.objects.create(engagement=engagement, version=1)
    for side, role in (("firm", Role.MANAGER), ("customer", Role.REVIEWER)):
        other = people[Role.REVIEWER if role == Role.MANAGER else Role.MANAGER]
        Confirmation.objects.all().delete()
        Confirmation.objects.create(criteria_set=sheet, side=side, content_hash="a",
                                    confirmed_by=people[role])
        assert kinds_of(other) == [(OTHERS_WAIT, "criteria")]
        assert kinds_of(people[role]) == []
        Confirmation.objects.create(
            criteria_set=sheet, side="customer" if side == "firm" else "firm", content_hash="a",
            confirmed_by=other)
        assert kinds_of(people[Role.REVIEWER]) == []
        assert kinds_of(people[Role.MANAGER]) == [(OTHERS_WAIT, "criteria_sign")]


def test_host_keys_wait_for_operators(people):
    node = Node.objects.create(name="n1", host="127.0.0.1", username="x", cards_total=8)
    assert kinds_of(people[Role.OPERATOR]) == [(OTHERS_WAIT, "node_pending")]
    Node.objects.filter(pk=node.pk).update(state="quarantined")
    assert kinds_of(people[Role.OPERATOR]) == [(BROKEN, "node_quarantined")]
    assert kinds_of(people[Role.CONSULTANT]) == []


def test_the_front_page_shows_the_inbox_by_and_by(client, people, engagement, monkeypatch):
    from delivery.portal.home import views

    monkeypatch.setattr(views, "TODOS", 2)
    monkeypatch.setattr(views, "MOST_TODOS", 4)
    for number in range(5):
        control.add_todo(actor=people[Role.MANAGER], engagement=engagement, text=f"t{number}",
                         owner=people[Role.CONSULTANT], due_on=timezone.localdate())
    client.force_login(people[Role.CONSULTANT])
    page = client.get("/")
    assert (len(page.context["waiting"]), page.context["waiting_count"]) == (2, "2+")
    assert "?waiting=4" in page.content.decode()
    assert len(client.get("/?waiting=4").context["waiting"]) == 4
    last = client.get("/?waiting=999").context
    assert (last["waiting_shown"], last["waiting_next"]) == (4, 4)
    assert len(client.get("/?waiting=x").context["waiting"]) == 2
