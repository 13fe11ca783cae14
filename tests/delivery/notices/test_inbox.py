"""Events from the audit log, who hears of them, the inbox and preferences."""

from datetime import date, timedelta

import pytest
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override
from rest_framework.test import APIClient

from delivery.notices import deadline_watch, services
from delivery.notices.event_kinds import KINDS, kind_of_entry
from delivery.notices.event_subjects import BUILDERS, subject_of
from delivery.notices.models import Dispatch, Event, Notice, Preference
from delivery.notices.services.announcements import may_hear
from delivery.notices.transport.message_text import item_of
from delivery.notices.transport.send_dispatches import as_json
from delivery.planning.document_files import KINDS as KINDS_OF_FILES
from delivery.planning.services import changes, control, time_entries, timesheets, weekly_reports
from delivery.quotes import services as quotes
from delivery.reports.models import Document
from engagements import services as engagement_services
from engagements.audit import audit_log
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import AuditEntry, Engagement, Membership, Role
from workers.models import Job, Node
from workers.nodes import reachability


def notified(kind) -> set[str]:
    return set(Notice.objects.filter(event__kind=kind).values_list(
        "recipient__username", flat=True))


def test_submitted_stage_reaches_who_decides_and_not_the_doer(submit):
    submit()
    assert notified("stage_submitted") == {"administrator", "manager"}
    assert notified("stage_sent_back") == {"administrator", "consultant"}


def test_event_and_notices_vanish_with_a_transaction_that_fails(record, people):
    with transaction.atomic():
        engagement_services.move_stage(actor=people[Role.CONSULTANT], record=record, move="submit")
        assert Notice.objects.count() == 2
        transaction.set_rollback(True)
    assert (Event.objects.count(), Notice.objects.count()) == (0, 0)


@pytest.mark.parametrize(("state", "kind"), [
    ("succeeded", "job_succeeded"), ("failed", "job_failed"), ("timed_out", "job_failed"),
    ("lost", "job_failed"), ("cancelled", None)])
def test_end_of_a_job(engagement, people, state, kind):
    job = Job.objects.create(kind="env.npu_info", engagement=engagement, state=state,
                             finished_at=timezone.now(), created_by=people[Role.OPERATOR])
    audit_log.record(actor=None, action="job.end", target=job, engagement=engagement,
                     data={"state": state})
    found = {(e.kind, e.subject, e.path) for e in Event.objects.all()}
    expected = {(kind, str(job), reverse("workers:job", args=[job.pk]))} if kind else set()
    assert found == expected
    if kind:  # the team that works, and the operator who started it
        assert notified(kind) == {"administrator", "manager", "consultant", "operator"}


def test_who_started_a_job_hears_nothing_once_off_the_team(engagement, people, stranger):
    job = Job.objects.create(kind="env.npu_info", engagement=engagement, created_by=stranger)
    audit_log.record(actor=None, action="job.end", target=job, engagement=engagement,
                     data={"state": "failed"})
    assert "stranger" not in notified("job_failed")


def test_quote_from_approval_to_the_customer(engagement, people, monkeypatch):
    quotes.load_rate_cards(actor=people[Role.ADMINISTRATOR])
    quote = quotes.create_quote(actor=people[Role.SALES], engagement=engagement)
    for action in ("quote.submit", "quote.review", "quote.issue", "quote.accepted",
                   "quote.declined"):
        audit_log.record(actor=people[Role.MANAGER], action=action, target=quote,
                         engagement=engagement)
    assert notified("quote_to_review") == {"administrator", "consultant", "sales"}
    assert notified("quote_awaiting") == {"administrator", "sales"}
    assert notified("quote_issued") == {"administrator", "sales", "reviewer"}
    assert notified("quote_accepted") == notified("quote_declined") == {"administrator", "sales"}


def test_a_waiver_calls_those_who_sign_and_tells_of_its_use(record, people):
    manager = people[Role.MANAGER]
    engagement_services.move_stage(actor=people[Role.CONSULTANT], record=record, move="submit")
    waiver = engagement_services.draft_stage_waiver(actor=manager, record=record, reason="x")
    engagement_services.sign_stage_waiver(actor=people[Role.REVIEWER], waiver=waiver)
    engagement_services.move_stage(actor=manager, record=record, move="waive")
    engagement_services.move_stage(actor=manager, record=record, move="reopen", comment="y")
    assert notified("waiver_drafted") == {"administrator", "reviewer"}
    assert notified("stage_waived") == {"administrator", "consultant", "reviewer"}
    assert notified("stage_reopened") == {"administrator", "consultant"}


def test_customers_hear_only_what_is_meant_for_them(people):
    heard = {kind.code for kind in KINDS.values() if may_hear(people[Role.REVIEWER], kind)}
    assert heard == {"engagement_closed", "engagement_cancelled", "engagement_reopened",
                     "stage_passed", "stage_waived", "waiver_drafted", "quote_issued",
                     "acceptance_waiver_drafted",
                     "quote_revoked", "document_superseded", "document_withdrawn", "claim_raised",
                     "claim_repaired", "claim_closed", "retest_due",
                     "change_withdrawn", "change_proposal_taken", "change_proposal_answered",
                     "change_proposal_declined",
                     "report_issued", "report_overtaken", "review_requested", "comment_made",
                     "acceptance_decided", "document_signed",
                     "signature_declined", "issue_reported", "issue_closed", "issue_sent_back",
                     "issue_reopened", "trial_issue", "trial_issue_comment",
                     "trial_issue_resolved", "claim_sent_back",
                     "change_to_decide", "change_in_force", "change_rejected",
                     "timesheet_to_confirm", "review_due", "minutes_shared"}
    assert "signature_turn" not in heard  # only whose turn it is, whatever his role


@pytest.mark.parametrize(("decision", "title", "level"), [
    ("accepted", "Passed", "green"), ("conditional", "Passed with conditions", "orange"),
    ("rejected", "Failed", "red")])
@pytest.mark.parametrize("action", ["review.decide", "document.sign"])
def test_a_notice_of_the_acceptance_says_what_was_decided(action, decision, title, level, people,
                                                          engagement):
    document = Document.objects.create(
        engagement=engagement, kind="FA", number="FA-1", state="issued", issued_at=timezone.now(),
        created_by=people[Role.MANAGER])
    audit_log.record(actor=people[Role.REVIEWER], action=action, target=document,
                     engagement=engagement, data={"decision": decision})
    event = Event.objects.get()
    with override("en"):
        assert event.title.endswith(f": {title}")
        assert item_of(event).title == event.title
    assert (event.level, as_json(event)["outcome"]) == (level, decision)


def test_verdicts_other_than_failed_make_no_event():
    assert kind_of_entry("verdict.compute", {"outcome": "passed"}) is None
    assert kind_of_entry("verdict.compute", {"outcome": "not_measured"}) is None
    assert kind_of_entry("verdict.compute", {"outcome": "failed"}).code == "verdict_failed"


def test_unreachable_node_tells_operators_once_per_absence(people):
    node = Node.objects.create(name="n1", host="127.0.0.1", username="x", cards_total=8)
    reachability.missed(node, "timeout")
    reachability.missed(node, "timeout")
    assert notified("node_unreachable") == {"administrator", "operator"}
    assert Event.objects.count() == 1


def test_quarantine_is_announced_once_until_the_key_is_confirmed_again(people):
    node = Node.objects.create(name="n1", host="h", username="x", state="quarantined",
                               cards_total=8)
    for _ in range(2):
        deadline_watch.announce_due(timezone.now())
    assert Event.objects.filter(kind="node_quarantined").count() == 1
    audit_log.record(actor=people[Role.OPERATOR], action="node.confirm", target=node)
    deadline_watch.announce_due(timezone.now())
    assert Event.objects.filter(kind="node_quarantined").count() == 2


@pytest.mark.parametrize(("days", "events"), [(-1, 0), (0, 1), (3, 1), (4, 0)])
def test_deadline_of_an_engagement(engagement, days, events):
    engagement.ends_on = timezone.localdate() + timedelta(days=days)
    engagement.save()
    for _ in range(2):
        deadline_watch.announce_due(timezone.now())
    assert Event.objects.count() == events
    assert notified("deadline_near") == ({"administrator", "manager"} if events else set())


def test_what_was_announced_costs_one_query_of_keys(engagement, django_assert_num_queries):
    """However many there are: the watch goes over all of them every five minutes."""
    for number in range(3):
        Engagement.objects.create(
            code=f"EP26{number}", name="x", customer=engagement.customer,
            ends_on=timezone.localdate())
    deadline_watch.announce_due(timezone.now())
    assert Event.objects.count() == 3
    with django_assert_num_queries(8):  # six kinds of rows, and the keys
        deadline_watch.announce_due(timezone.now())


# The inbox ------------------------------------------------------------------------

def test_inbox_counts_filters_and_opens(client, people, submit):
    submit()
    client.force_login(people[Role.ADMINISTRATOR])
    page = client.get(reverse("notices:inbox"), headers={"accept-language": "en"})
    assert "2 unread notices" in page.content.decode()
    notice = Notice.objects.get(recipient=people[Role.ADMINISTRATOR],
                                event__kind="stage_submitted")
    answer = client.post(reverse("notices:open", args=[notice.pk]))
    assert answer.url == reverse("engagements:stage", args=["EP2501", "LLM", "survey"])
    assert client.get(answer.url).status_code == 200
    unread = client.get(reverse("notices:inbox"), {"unread": "1"})
    assert [n.event.kind for n in unread.context["page"]] == ["stage_sent_back"]
    client.post(reverse("notices:all_read"))
    assert not Notice.objects.visible_to(people[Role.ADMINISTRATOR]).unread().exists()
    assert Notice.objects.visible_to(people[Role.CONSULTANT]).unread().count() == 1


def test_a_notice_is_opened_by_its_recipient_only(client, people, submit):
    submit()
    notice = Notice.objects.filter(recipient=people[Role.MANAGER]).first()
    client.force_login(people[Role.CONSULTANT])
    assert client.post(reverse("notices:open", args=[notice.pk])).status_code == 404
    with pytest.raises(NotAllowed):
        services.mark_read(actor=people[Role.CONSULTANT], notice=notice)


def test_who_left_the_team_sees_its_notices_no_more(people, submit):
    submit()
    consultant = people[Role.CONSULTANT]
    assert Notice.objects.visible_to(consultant).count() == 1
    Membership.objects.filter(user=consultant).delete()
    assert Notice.objects.visible_to(consultant).count() == 0


def test_list_needs_as_many_queries_for_three_as_for_one(
        client, people, submit, django_assert_num_queries):
    submit()
    client.force_login(people[Role.ADMINISTRATOR])
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as few:
        client.get(reverse("notices:inbox"))
    submit(2)
    with django_assert_num_queries(len(few)):
        client.get(reverse("notices:inbox"))


# Preferences -----------------------------------------------------------------------

def prefer(user, kind, engagement=None, *, in_inbox=True, email="off"):
    services.set_preferences(actor=user, engagement=engagement,
                             choices={kind: {"in_inbox": in_inbox, "email": email}})


def test_the_engagements_preference_wins_over_the_general_one(people, engagement, submit):
    manager, other = people[Role.MANAGER], people[Role.ADMINISTRATOR]
    prefer(manager, "stage_submitted", in_inbox=False)
    prefer(other, "stage_submitted", in_inbox=False)
    prefer(other, "stage_submitted", engagement, in_inbox=True)
    submit()
    assert notified("stage_submitted") == {"administrator"}


def test_pace_of_e_mail_decides_when_it_leaves(people, submit):
    for name, pace in (("manager", "now"), ("administrator", "daily")):
        people[name].email = f"{name}@example.com"
        people[name].save()
        prefer(people[name], "stage_submitted", email=pace)
    submit()
    rows = {d.recipient.username: d for d in Dispatch.objects.filter(
        event__kind="stage_submitted")}
    assert rows["manager"].due_at == rows["manager"].event.at
    digest = timezone.localtime(rows["administrator"].due_at)
    assert (digest.hour, digest.minute) == (9, 0)
    assert timedelta(0) < digest - rows["administrator"].event.at <= timedelta(days=1)


def test_without_an_address_no_e_mail_is_planned(people, submit):
    submit()
    assert Dispatch.objects.count() == 0


def test_preferences_refuse_what_the_role_does_not_hear(people, engagement, stranger):
    with pytest.raises(InvalidInput):
        prefer(people[Role.REVIEWER], "quote_awaiting")
    with pytest.raises(InvalidInput):
        prefer(people[Role.MANAGER], "stage_submitted", email="hourly")
    with pytest.raises(NotAllowed):
        prefer(stranger, "job_failed", engagement)


def test_preferences_page_saves(client, people, engagement):
    client.force_login(people[Role.REVIEWER])
    url = reverse("notices:preferences") + "?engagement=EP2501"
    rows = client.get(url).context["rows"]
    data = {f"{row.kind.code}-email": "daily" for row in rows}
    data["stage_passed-in_inbox"] = "on"
    assert client.post(url, data).status_code == 302
    saved = Preference.objects.filter(user=people[Role.REVIEWER], engagement=engagement)
    assert {(p.kind, p.in_inbox, p.email) for p in saved} == {
        (row.kind.code, row.kind.code == "stage_passed", "daily") for row in rows}


def test_api_of_the_inbox(people, submit, stranger):
    submit()
    api = APIClient()
    api.force_authenticate(people[Role.CONSULTANT])
    rows = api.get("/api/v1/notices/?unread=1").json()["results"]
    assert [(r["kind"], r["engagement"], r["about"][:3]) for r in rows] == [
        ("stage_sent_back", "EP2501", "LLM")]
    assert api.post(f"/api/v1/notices/{rows[0]['id']}/read/").json()["read_at"]
    assert api.post("/api/v1/notices/read-all/").json() == {"read": 0}
    chosen = api.post("/api/v1/notices/preferences/", {"choices": [
        {"kind": "job_failed", "in_inbox": False, "email": "daily"}]}, format="json").json()
    assert {"kind": "job_failed", "in_inbox": False, "email": "daily"} in chosen
    assert api.get("/api/v1/notices/preferences/").json() == chosen
    assert api.get("/api/v1/notices/preferences/?engagement=none").status_code == 404
    api.force_authenticate(stranger)
    assert api.post(f"/api/v1/notices/{rows[0]['id']}/read/").status_code == 404
    assert api.get("/api/v1/notice-channels/").json()["results"] == []


def test_audit_chain_stays_whole(submit):
    submit()
    assert list(audit_log.findings()) == []
    assert AuditEntry.objects.filter(action="stage.submit").count() == 1


def test_a_draft_is_named_by_its_code_in_every_language(people, engagement):
    """Its title would stay in the language of whoever submitted it."""
    draft = Document.objects.create(kind="TR", engagement=engagement,
                                    created_by=people[Role.MANAGER])
    with override("zh-hans"):
        assert subject_of("reports.document", str(draft.pk)).code == f"TR-{engagement.code}"


def test_notices_know_each_issued_planning_document():
    assert {kind.model._meta.label_lower for kind in KINDS_OF_FILES.values()
            if kind.is_issued} <= BUILDERS.keys()


def test_a_change_reaches_both_sides_and_a_to_do_its_owner(people, engagement):
    consultant = people[Role.CONSULTANT]
    change = changes.create_change(
        actor=consultant, engagement=engagement, title="x", category="scope", requested_by="x",
        reason="x", before="x", after="x", effect_on_quality="x")
    changes.submit_change(actor=consultant, change=change)
    assert notified("change_to_decide") == {"administrator", "manager", "reviewer"}
    assert Event.objects.get(kind="change_to_decide").subject == change.code
    changes.reject_change(actor=people[Role.REVIEWER], change=change, reason="x")
    assert "consultant" in notified("change_rejected")
    control.add_todo(actor=people[Role.MANAGER], engagement=engagement, text="geheim",
                     owner=consultant, due_on=timezone.localdate())
    assert notified("todo_given") == {"consultant"}
    assert "geheim" not in Event.objects.get(kind="todo_given").subject


def test_a_timesheet_and_a_weekly_report_reach_who_has_to_read_them(people, engagement):
    manager, day = people[Role.MANAGER], date(2025, 9, 22)
    time_entries.record_time(actor=people[Role.CONSULTANT], engagement=engagement, work_date=day,
                             half="am", item="adapt", grade="senior")
    sheet = timesheets.confirm_month(actor=manager, engagement=engagement, month=day)
    assert notified("timesheet_to_confirm") == {"reviewer"}
    timesheets.answer_timesheet(actor=people[Role.REVIEWER], timesheet=sheet, is_confirmed=False,
                                reason="两天不对")
    assert "manager" in notified("timesheet_rejected")
    report = weekly_reports.draft_weekly(actor=manager, engagement=engagement, day=day)
    weekly_reports.update_weekly(actor=manager, report=report, summary="geheim")
    weekly_reports.freeze_weekly(actor=manager, report=report)
    assert "consultant" in notified("weekly_report")
    assert "geheim" not in Event.objects.get(kind="weekly_report").subject


def test_successes_are_a_digest_and_failures_are_counted(client, engagement, people):
    worker = people[Role.CONSULTANT]
    for state in ("succeeded", "succeeded", "failed"):
        job = Job.objects.create(kind="env.npu_info", engagement=engagement, state=state,
                                 finished_at=timezone.now(), created_by=worker)
        audit_log.record(actor=None, action="job.end", target=job, engagement=engagement,
                         data={"state": state})
    client.force_login(worker)
    page = client.get(reverse("notices:inbox"))
    assert [notice.event.kind for notice in page.context["page"]] == ["job_failed"]
    assert page.context["unread"] == 1
    assert [(kind.code, n) for kind, n in page.context["digest"]] == [("job_succeeded", 2)]
    every = client.get(reverse("notices:inbox"), {"all": "1"})
    assert len(every.context["page"].object_list) == 3
