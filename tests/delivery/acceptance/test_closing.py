"""How an engagement ends: what stands in the way, what ends with it, what goes on after it."""

from datetime import date

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from assessments import services as assessing
from delivery.acceptance import services
from delivery.acceptance.models import Review
from delivery.evidence.models import EvidenceBundle
from delivery.next_steps.inbox import inbox_items
from delivery.notices.models import Event
from delivery.planning.models import Timesheet
from delivery.planning.services import control, time_entries, timesheets
from delivery.quotes import services as quoting
from delivery.quotes.models import Quote
from delivery.reports.models import Document
from engagements import services as engagement_services
from engagements.access import EngagementEnded
from engagements.closing import TRANSITIONS, ConditionsOpen, conditions_of
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Engagement, MigratedModel, Role
from engagements.moves import allowed_moves
from tests.delivery.conftest import api_client, measure
from workers.models import Job, JobState
from workers.services import queue_job

today = timezone.localdate


def open_conditions(engagement) -> list[str]:
    return [check.code for check in conditions_of(engagement) if not check.is_met]


def to_close(user) -> list[str]:
    return [item.url for item in inbox_items(user) if item.kind == "closing"]


def running_job(engagement, people) -> Job:
    return Job.objects.create(kind="env.npu_info", engagement=engagement, state=JobState.RUNNING,
                              created_by=people[Role.CONSULTANT])


def waiting_timesheet(engagement, people) -> Timesheet:
    time_entries.record_time(actor=people[Role.CONSULTANT], engagement=engagement,
                             work_date=date(2025, 7, 1), half="am", item="debugging",
                             grade="engineer")
    return timesheets.confirm_month(actor=people[Role.MANAGER], engagement=engagement,
                                    month=date(2025, 7, 1))


def offered_quote(engagement, people) -> Quote:
    quote = quoting.create_quote(actor=people[Role.SALES], engagement=engagement)
    Quote.objects.filter(pk=quote.pk).update(
        state="issued", issued_at=timezone.now(), content_hash="x", valid_until=today(),
        snapshot={"totals": dict.fromkeys(("net", "tax", "gross"), "0.00"), "lines": [],
                  "currency": "CNY", "payment": []})
    return Quote.objects.get(pk=quote.pk)


@pytest.fixture
def accepted(delivered, people, act) -> Review:
    """A final acceptance that the customer signed, with a warranty of two months."""
    services.set_terms(actor=act.manager, engagement=delivered, warranty_months=2)
    measure(delivered, people, MigratedModel.objects.get(code="PSR"))
    review = act.open(delivered)
    act.decide(review)
    act.sign(review)
    return Review.objects.get(pk=review.pk)


def end_warranty(review) -> None:
    Review.objects.filter(pk=review.pk).update(terms={"warranty_months": 0})


def store_bundle(review) -> None:
    EvidenceBundle.objects.create(engagement=review.engagement, document=review.document,
                                  file="bundles/x.zip", size=1, sha256="0" * 64)


def test_closing_names_what_is_open_and_where_it_is_mended(delivered, people, client):
    manager = people[Role.MANAGER]
    running_job(delivered, people)
    sheet, quote = waiting_timesheet(delivered, people), offered_quote(delivered, people)
    url = f"/api/v1/engagements/{delivered.code}/"
    answer = api_client(manager).post(f"{url}close/", {})
    assert (answer.status_code, answer.json()["title"]) == (409, "conditions_open")
    found = {check["code"]: check for check in answer.json()["checks"]}
    assert list(found) == ["jobs", "time", "quotes", "certificate", "archive"]
    client.force_login(manager)
    assert {client.get(check["url"]).status_code for check in found.values()} == {200}
    page = client.get(reverse("engagements:ending", args=[delivered.code])).content.decode()
    assert all(check["url"].replace("&", "&amp;") in page for check in found.values())
    assert 'ending/close/"' not in page  # no button before nothing is open
    # Each way out that was named is gone: what was open no longer is.
    Job.objects.update(state=JobState.SUCCEEDED, finished_at=timezone.now())
    timesheets.answer_timesheet(actor=people[Role.REVIEWER], timesheet=sheet, is_confirmed=True)
    quoting.move_quote(actor=manager, quote=quote, move="revoke", reason="过期")
    assert open_conditions(delivered) == ["certificate", "archive"]
    for role in (Role.CONSULTANT, Role.REVIEWER):
        with pytest.raises(NotAllowed):
            engagement_services.close_engagement(actor=people[role], engagement=delivered)


@pytest.mark.slow
def test_from_the_signature_over_warranty_and_archive_to_the_closing_and_back(
        accepted, people, act, client):
    engagement, manager = Engagement.objects.get(), act.manager
    assert (engagement.state, open_conditions(engagement)) == (
        "accepted", ["warranty", "archive"])
    claim = services.raise_claim(actor=act.reviewer, engagement=engagement, description="报错",
                                 found_on=today())
    end_warranty(accepted)
    store_bundle(accepted)
    assert open_conditions(engagement) == ["claims"]
    with pytest.raises(ConditionsOpen, match="1"):
        engagement_services.close_engagement(actor=manager, engagement=engagement)
    type(claim).objects.all().delete()
    assert to_close(manager) == [reverse("engagements:ending", args=[engagement.code])]
    assert to_close(people[Role.CONSULTANT]) == []
    client.force_login(manager)
    client.post(reverse("engagements:end", args=[engagement.code, "close"]), {"note": "归档"})
    engagement.refresh_from_db()
    assert (engagement.state, engagement.end_reason, to_close(manager)) == ("closed", "归档", [])
    assert Event.objects.filter(kind="engagement_closed").exists()
    # Nothing of it is written any more, by whatever way; each refusal names the way out.
    model = engagement.models.first()
    writes = {
        "job": lambda: queue_job(actor=manager, kind="env.npu_info", engagement=engagement),
        "model": lambda: engagement_services.add_model(
            actor=manager, engagement=engagement, code="NEW", name="新"),
        "stage": lambda: engagement_services.move_stage(
            actor=manager, record=model.stages.first(), move="start"),
        "criteria": lambda: assessing.draft_criteria(actor=manager, engagement=engagement),
        "quote": lambda: quoting.create_quote(actor=people[Role.SALES], engagement=engagement),
        "risk": lambda: control.add_risk(
            actor=manager, engagement=engagement, title="x", probability=1, impact=1,
            response="x", owner=manager, review_on=today()),
        "document": lambda: act.correct(accepted.document, {}),
        "facts": lambda: engagement_services.update_engagement(
            actor=manager, engagement=engagement, name="x"),
        "cancel": lambda: engagement_services.cancel_engagement(
            actor=manager, engagement=engagement, reason="x", settlement="x")}
    entries = AuditEntry.objects.count()
    for name, write in writes.items():
        with override("en"), pytest.raises(EngagementEnded, match="reopen") as refused:
            write()
        assert refused.value.status == 409, name
    assert AuditEntry.objects.count() == entries
    assert allowed_moves(manager, TRANSITIONS, engagement) == ["reopen"]
    # A defect that was found within the warranty is claimed still.
    Review.objects.filter(pk=accepted.pk).update(terms={"warranty_months": 2})
    services.raise_claim(actor=act.reviewer, engagement=engagement, description="复发",
                         found_on=today())
    assert "claim" in {item.kind for item in inbox_items(manager)}
    with pytest.raises(InvalidInput):
        engagement_services.reopen_engagement(actor=manager, engagement=engagement, reason=" ")
    engagement = engagement_services.reopen_engagement(actor=manager, engagement=engagement,
                                                       reason="质保返修")
    assert (engagement.state, engagement.ended_at) == ("accepted", None)  # as the certificate says
    writes["model"]()  # and is written again
    assert engagement.models.filter(code="NEW").exists()


@pytest.mark.slow
def test_cancelling_ends_what_is_under_way_and_reopening_goes_on(delivered, people, act):
    manager = act.manager
    job, quote = running_job(delivered, people), offered_quote(delivered, people)
    sheet = waiting_timesheet(delivered, people)
    review = act.open(delivered)
    for given in ({"reason": "", "settlement": "x"}, {"reason": "预算取消", "settlement": " "}):
        with pytest.raises(InvalidInput):
            engagement_services.cancel_engagement(actor=manager, engagement=delivered, **given)
    answer = api_client(manager).post(f"/api/v1/engagements/{delivered.code}/cancel/", {
        "reason": "预算取消", "settlement": "完成调研，已付 30 %，余款不再支付"})
    assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")
    for row in (job, quote, sheet, review.document):
        row.refresh_from_db()
    assert job.cancel_requested_at is not None
    assert (quote.state, sheet.state, review.document.state) == (
        "revoked", "withdrawn", Document.State.WITHDRAWN)
    assert not delivered.time_entries.exclude(timesheet=None).exists()
    with pytest.raises(EngagementEnded):
        services.raise_claim(actor=act.reviewer, engagement=Engagement.objects.get(),
                             description="x", found_on=today())
    assert [item.kind for item in inbox_items(manager)] == []
    answer = api_client(manager).post(f"/api/v1/engagements/{delivered.code}/reopen/",
                                      {"reason": "预算恢复"})
    assert answer.json()["state"] == "active"
    entry = AuditEntry.objects.filter(action="engagement.reopen").get()
    assert entry.data["settlement"].startswith("完成调研")
    with pytest.raises(WrongState):
        engagement_services.reopen_engagement(actor=manager, engagement=delivered, reason="x")
