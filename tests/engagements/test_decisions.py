"""What a person decides: every write is classified, tokens and old sign-ins are refused."""

import re
from datetime import timedelta

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from delivery.portal.audit.action_labels import ACTION_LABELS
from engagements import services
from engagements.audit import audit_log
from engagements.decisions import BINDING, DECISIONS, WORK, PersonDecides
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import AuditEntry, Role
from engagements.moves import allowed_moves
from engagements.stages import TRANSITIONS
from tests.test_token_reach import views

DECIDING = DECISIONS | BINDING


def of_token(owner, scope="write"):
    """The owner as signed in with a token of theirs, and a client that sends it."""
    token, key = services.create_token(actor=owner, owner=owner, name="script", scope=scope)
    client = APIClient(HTTP_AUTHORIZATION=f"Token {key}")
    signed_in = type(owner).objects.get(pk=owner.pk)
    signed_in.token = token
    return signed_in, client


def test_every_write_is_classified_once():
    classes = [WORK, DECISIONS, BINDING]
    assert set(ACTION_LABELS) == set().union(*classes)
    assert sum(map(len, classes)) == len(set().union(*classes))


@pytest.mark.slow
@pytest.mark.parametrize("action", sorted(DECIDING))
def test_no_token_makes_a_deciding_entry(people, engagement, action):
    signed_in, _client = of_token(people[Role.ADMINISTRATOR])
    with pytest.raises(PersonDecides):
        audit_log.record(actor=signed_in, action=action, target=engagement)
    with pytest.raises(PersonDecides):
        audit_log.record(actor=signed_in, action="action.nobody_classified", target=engagement)
    audit_log.record(actor=people[Role.ADMINISTRATOR], action=action, target=engagement)


@pytest.mark.slow
@pytest.mark.usefixtures("world")
def test_no_route_of_the_api_lets_a_token_decide(people):
    """Each POST and PATCH to a row of every table, for the firm and for the customer."""
    whole, refused = APIClient(), set()
    whole.force_authenticate(people[Role.ADMINISTRATOR])
    clients = [of_token(people[role])[1] for role in (Role.ADMINISTRATOR, Role.REVIEWER)]
    before = AuditEntry.objects.order_by("-pk").first().pk
    for pattern in sorted(views()):
        if found := re.fullmatch(r"(api/v1/([^/]+)/)\(\?P<(pk|code)>[^)]*\)(/[^(]*)\$", pattern):
            base, _part, name, rest = found.groups()
            rows = whole.get(f"/{base}", {"page_size": 1}).json()
            rows = rows.get("results", []) if isinstance(rows, dict) else rows
            for key in [row.get("code" if name == "code" else "id") for row in rows][:1]:
                for api in clients:
                    answers = [api.post(f"/{base}{key}{rest}", {"reason": "x"}, format="json"),
                               api.patch(f"/{base}{key}{rest}", {"name": "x"}, format="json")]
                    refused |= {pattern for answer in answers
                                if answer.get("Content-Type") == "application/problem+json"
                                and answer.json()["title"] == "person_decides"}
    written = AuditEntry.objects.filter(pk__gt=before).values_list("action", flat=True)
    assert set(written) & DECIDING == set()
    assert len(refused) > 10


def test_the_moves_offered_to_a_token_are_none_that_decide(people, submitted):
    signed_in, _client = of_token(people[Role.MANAGER])
    by_person = allowed_moves(people[Role.MANAGER], TRANSITIONS, submitted)
    assert {"send_back", "withdraw"} <= set(by_person)
    assert "send_back" not in allowed_moves(signed_in, TRANSITIONS, submitted)
    assert "withdraw" in allowed_moves(signed_in, TRANSITIONS, submitted)


def test_a_token_that_decides_is_off_named_and_short(people, engagement, settings):
    manager = people[Role.MANAGER]
    with pytest.raises(NotAllowed):
        of_token(manager, "decide")
    settings.DECIDING_TOKENS = True
    with pytest.raises(InvalidInput):
        services.create_token(actor=manager, owner=manager, name="x", scope="decide", days=31)
    signed_in, api = of_token(manager, "decide")
    assert signed_in.token.expires_at - signed_in.token.created_at == timedelta(days=30)
    audit_log.record(actor=signed_in, action="document.issue", target=engagement)
    assert AuditEntry.objects.first().data["by"] == {
        "token": str(signed_in.token), "request": ""}
    settings.DECIDING_TOKENS = False
    with pytest.raises(PersonDecides):
        audit_log.record(actor=signed_in, action="document.issue", target=engagement)
    assert api.get("/api/v1/engagements/").status_code == 200


def test_an_old_sign_in_binds_nobody(client, people, submitted, settings):
    """The page leads to a new sign-in and back, and the API says so; what binds nobody goes on."""
    waiver = services.draft_stage_waiver(actor=people[Role.MANAGER], record=submitted, reason="x")
    client.force_login(people[Role.REVIEWER])
    session = client.session
    session["signed_in_at"] -= 60 * settings.DECISION_SIGN_IN_MINUTES + 1
    session.save()
    address = f"/api/v1/stage-waivers/{waiver.pk}/sign/"
    answer = client.post(address)
    assert (answer.status_code, answer.json()["title"]) == (403, "sign_in_again")
    assert client.post("/api/v1/tokens/", {"name": "x"}).status_code == 201
    page = reverse("engagements:stage", args=["EP2501", "M", "survey"])
    sign = reverse("engagements:waiver_end", args=["EP2501", "M", "survey", waiver.pk, "sign"])
    led = client.post(sign, headers={"Referer": f"http://testserver{page}"})
    assert led["Location"] == f"/login/?next={page}"
    assert "15" in client.get(led["Location"]).content.decode()
    signed_in = client.post(led["Location"], {"username": "reviewer", "password": "Trial-2026!"})
    waiver.refresh_from_db()
    assert (signed_in["Location"], waiver.signed_at) == (page, None)
    client.post(sign)
    waiver.refresh_from_db()
    assert waiver.signed_at
