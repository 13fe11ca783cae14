"""A person of the customer proposes a change; the firm drafts it, answers or declines."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from delivery.notices.models import Notice
from delivery.planning.models import ChangeProposal, ChangeRequest
from delivery.planning.services import change_proposals as services
from delivery.planning.services import changes
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import Role

WORDS = {"title": "Add INT8", "category": "scope", "description": "Quantised as well",
         "reason": "Less memory at the edge"}


@pytest.fixture
def proposal(people, engagement):
    return services.raise_proposal(actor=people[Role.REVIEWER], engagement=engagement, **WORDS)


def api(person) -> APIClient:
    client = APIClient()
    client.force_authenticate(person)
    return client


def shown(person, kind: str) -> bool:
    return Notice.objects.filter(recipient=person, event__kind=kind).exists()


def test_the_customer_proposes_and_the_firm_drafts_the_change(client, people, engagement, llm):
    client.force_login(people[Role.REVIEWER])
    page = client.get(reverse("planning:changes", args=[engagement.code]))
    assert reverse("planning:proposal_new", args=[engagement.code]) in page.content.decode()
    sent = client.post(reverse("planning:proposal_new", args=[engagement.code]),
                       {**WORDS, "model": llm.pk})
    row = ChangeProposal.objects.get()
    assert sent.url == reverse("planning:proposal", args=[row.pk])
    assert (row.state, row.model, row.created_by) == ("open", llm, people[Role.REVIEWER])
    assert shown(people[Role.CONSULTANT], "change_proposed")
    assert Notice.objects.filter(event__kind="change_proposed").first().event.subject == row.code

    client.force_login(people[Role.CONSULTANT])
    form = client.get(reverse("planning:proposal_convert", args=[row.pk])).context["form"]
    assert form["title"].value() == WORDS["title"]
    assert form["after"].value() == WORDS["description"]
    client.post(reverse("planning:proposal_convert", args=[row.pk]), {
        **{name: form[name].value() or "" for name in form.fields}, "before": "FP16 only"})
    row.refresh_from_db()
    change = ChangeRequest.objects.get()
    assert (row.state, row.change, change.before, change.reason) == (
        "converted", change, "FP16 only", WORDS["reason"])
    assert str(people[Role.REVIEWER]) in change.requested_by
    assert shown(people[Role.REVIEWER], "change_proposal_taken")


def test_the_customer_reads_why_it_was_declined(client, people, proposal):
    services.decline_proposal(actor=people[Role.MANAGER], proposal=proposal,
                              reason="Outside what was agreed")
    assert shown(people[Role.REVIEWER], "change_proposal_declined")
    client.force_login(people[Role.REVIEWER])
    page = client.get(reverse("planning:proposal", args=[proposal.pk])).content.decode()
    assert "Outside what was agreed" in page
    assert "<textarea" not in page


def test_an_answer_ends_it_without_a_change(people, proposal):
    answered = api(people[Role.CONSULTANT]).post(
        f"/api/v1/change-proposals/{proposal.pk}/answer/", {"answer": "Part of the next delivery"})
    assert (answered.status_code, answered.json()["state"]) == (200, "answered")
    assert not ChangeRequest.objects.exists()
    assert shown(people[Role.REVIEWER], "change_proposal_answered")


def test_over_the_api_from_proposal_to_draft(people, engagement):
    made = api(people[Role.REVIEWER]).post("/api/v1/change-proposals/", {
        **WORDS, "engagement": engagement.pk})
    assert made.status_code == 201, made.json()
    assert made.json()["allowed_moves"] == ["withdraw"]
    converted = api(people[Role.MANAGER]).post(
        f"/api/v1/change-proposals/{made.json()['id']}/convert/", {"before": "FP16 only"})
    assert converted.status_code == 201, converted.json()
    assert converted.json()["title"] == WORDS["title"]


def test_a_draft_stays_within_the_firm(client, people, proposal):
    """The customer sees that it is drafted, and the draft itself once it is submitted."""
    change = services.convert_proposal(actor=people[Role.CONSULTANT], proposal=proposal, before="b")
    client.force_login(people[Role.REVIEWER])
    page = client.get(reverse("planning:proposal", args=[proposal.pk])).content.decode()
    assert reverse("planning:change", args=[change.pk]) not in page
    assert api(people[Role.REVIEWER]).get(
        f"/api/v1/change-requests/{change.pk}/").status_code == 404


def test_what_is_refused(people, engagement, llm, stranger, proposal):
    with pytest.raises(InvalidInput):
        services.raise_proposal(actor=people[Role.REVIEWER], engagement=engagement, **WORDS,
                                wanted_by=timezone.localdate() - timedelta(days=1))
    with pytest.raises(NotAllowed):  # the firm writes change requests itself
        services.raise_proposal(actor=people[Role.CONSULTANT], engagement=engagement, **WORDS)
    assert api(stranger).get(f"/api/v1/change-proposals/{proposal.pk}/").status_code == 404
    assert not api(people[Role.SALES]).get(
        f"/api/v1/change-proposals/{proposal.pk}/").json()["allowed_moves"]


def test_lists_are_paged(client, people, engagement):
    for n in range(12):
        services.raise_proposal(actor=people[Role.REVIEWER], engagement=engagement,
                                **{**WORDS, "title": f"wish {n}"})
    client.force_login(people[Role.MANAGER])
    page = client.get(reverse("planning:changes", args=[engagement.code])).content.decode()
    assert (page.count("wish "), "wish 1 " in page) == (10, False)
    every = reverse("planning:proposals", args=[engagement.code])
    assert every in page
    assert client.get(every).content.decode().count("wish ") == 12


def test_what_is_taken_back_is_told(people, engagement, proposal):
    services.withdraw_proposal(actor=people[Role.REVIEWER], proposal=proposal)
    assert shown(people[Role.CONSULTANT], "change_proposal_withdrawn")
    change = changes.create_change(
        actor=people[Role.CONSULTANT], engagement=engagement, title="x", category="scope",
        requested_by="x", reason="x", before="x", after="x", effect_on_quality="x")
    changes.submit_change(actor=people[Role.CONSULTANT], change=change)
    changes.withdraw_change(actor=people[Role.CONSULTANT], change=change)
    assert shown(people[Role.REVIEWER], "change_withdrawn")


def test_numbers_go_on_per_engagement(people, engagement, proposal):
    services.withdraw_proposal(actor=people[Role.REVIEWER], proposal=proposal)
    second = services.raise_proposal(actor=people[Role.REVIEWER], engagement=engagement, **WORDS)
    assert (proposal.code, second.code) == (
        f"CP-{engagement.code}-001", f"CP-{engagement.code}-002")
