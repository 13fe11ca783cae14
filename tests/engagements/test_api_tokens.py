"""API tokens: scope, one engagement, expiry, revocation, and their end with their owner."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from engagements import services
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import ApiToken, AuditEntry, Engagement, Role
from engagements.models.api_token import key_hash


@pytest.fixture
def manager(people):
    return people[Role.MANAGER]


@pytest.fixture
def other(manager, engagement) -> Engagement:
    return services.create_engagement(actor=manager, code="OTHER", name="另一项目",
                                      customer=engagement.customer)


def made(owner, **facts) -> tuple[ApiToken, APIClient]:
    token, key = services.create_token(actor=owner, owner=owner, name="script", **facts)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {key}")
    return token, client


def test_the_key_is_shown_once_and_not_stored(client, manager):
    client.force_login(manager)
    page = client.post(reverse("people:own_tokens"), {"name": "夜间脚本", "scope": "read",
                                                      "days": "30"})
    key = page.context["key"]
    token = ApiToken.objects.get()
    assert key in page.content.decode()
    assert key not in client.get(reverse("people:own_tokens")).content.decode()
    assert token.key_hash == key_hash(key)
    assert key not in str(list(ApiToken.objects.values())) + str(list(AuditEntry.objects.values()))
    assert token.expires_at - token.created_at == timedelta(days=30)
    with pytest.raises(InvalidInput):
        services.create_token(actor=manager, owner=manager, name="x", days=366)


def test_scopes(manager, engagement):
    model = {"engagement": engagement.pk, "code": "M1", "name": "m", "scope": "inference"}
    for scope, status in (("read", 403), ("jobs", 403), ("write", 201)):
        _token, api = made(manager, scope=scope)
        assert api.get("/api/v1/engagements/").status_code == 200
        assert api.post("/api/v1/models/", model).status_code == status
        started = api.post("/api/v1/jobs/", {})  # 400: the scope is enough, the input is not
        assert started.status_code == (403 if scope == "read" else 400)


def test_a_token_may_end_itself_and_no_other(manager):
    token, api = made(manager, scope="read")
    other, _api = made(manager)
    assert api.delete(f"/api/v1/tokens/{other.pk}/").status_code == 403
    assert api.delete(f"/api/v1/tokens/{token.pk}/").status_code == 204
    assert api.get("/api/v1/engagements/").status_code == 401
    other.refresh_from_db()
    assert other.is_in_force


def test_a_token_of_one_engagement_reaches_no_other(people, manager, engagement, other):
    for person in (manager, people[Role.ADMINISTRATOR]):
        _token, api = made(person, scope="write", engagement=engagement)
        assert [row["code"] for row in api.get("/api/v1/engagements/").json()["results"]] == [
            engagement.code]
        assert api.get(f"/api/v1/engagements/{other.code}/").status_code == 404
        assert len(api.get("/api/v1/customers/").json()["results"]) == 1
        model = {"code": f"M{person.pk}", "name": "m", "scope": "inference"}
        assert api.post("/api/v1/models/", {**model, "engagement": engagement.pk}
                        ).status_code == 201
        assert api.post("/api/v1/models/", {**model, "engagement": other.pk}
                        ).status_code in (400, 403, 404)
        for path, row in {
                "people": {"username": "x", "password": "Trial-2026!"}, "customers": {"name": "x"},
                "engagements": {"name": "x", "code": "N1", "scope": "full",
                                "customer": engagement.customer_id}}.items():
            assert api.post(f"/api/v1/{path}/", row).status_code == 403, path


@pytest.mark.parametrize("end", ["revoke", "expiry", "lock", "password", "administrator's"])
def test_ends(people, end):
    owner, admin = people[Role.CONSULTANT], people[Role.ADMINISTRATOR]
    token, api = made(owner)
    assert api.get("/api/v1/engagements/").status_code == 200
    if end == "revoke":
        services.revoke_token(actor=owner, token=token)
    elif end == "expiry":
        ApiToken.objects.update(created_at=timezone.now() - timedelta(days=9),
                                expires_at=timezone.now() - timedelta(seconds=1))
    elif end == "lock":
        services.update_person(actor=admin, person=owner, is_active=False)
        services.update_person(actor=admin, person=owner, is_active=True)
    elif end == "password":
        services.change_password(actor=owner, password="Another-2026!")
    else:
        services.update_person(actor=admin, person=owner, password="Another-2026!")
    answer = api.get("/api/v1/engagements/")
    assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")


def test_wrong_tokens_are_throttled_and_good_ones_are_not(manager):
    wrong = APIClient(HTTP_AUTHORIZATION="Token desk_wrong")
    answers = [wrong.get("/api/v1/engagements/", REMOTE_ADDR="10.1.2.3") for _ in range(22)]
    assert [answer.status_code for answer in answers] == [401] * 20 + [429] * 2
    assert answers[-1]["Retry-After"] == "60"
    _token, api = made(manager)
    assert api.get("/api/v1/engagements/", REMOTE_ADDR="10.1.2.3").status_code == 200
    assert wrong.get("/api/v1/engagements/", REMOTE_ADDR="10.1.2.4").status_code == 401


def test_use_is_noted_at_most_once_a_minute(manager, django_assert_num_queries):
    token, api = made(manager)
    api.get("/api/v1/engagements/", REMOTE_ADDR="10.1.2.3")
    api.get("/api/v1/engagements/", REMOTE_ADDR="10.9.9.9")
    token.refresh_from_db()
    assert token.last_used_from == "10.1.2.3"
    assert timezone.now() - token.last_used_at < timedelta(minutes=1)


def test_only_the_owner_makes_tokens_and_never_with_a_token(people, manager):
    _token, api = made(manager, scope="write")
    assert api.post("/api/v1/tokens/", {"name": "more"}).status_code == 403
    with pytest.raises(NotAllowed):
        services.create_token(actor=people[Role.ADMINISTRATOR], owner=manager, name="x")
    others, _api = made(people[Role.SALES])
    assert api.delete(f"/api/v1/tokens/{others.pk}/").status_code == 404
    assert api.get("/api/v1/tokens/").json()["count"] == 1


def test_a_service_account_works_by_token_alone(client, people):
    admin = people[Role.ADMINISTRATOR]
    client.force_login(admin)
    client.post(reverse("people:new"), {"username": "ci", "role": Role.MANAGER, "is_active": "on",
                                        "is_service": "on", "password": "Trial-2026!"})
    service = admin.__class__.objects.get(username="ci")
    page = client.post(reverse("people:tokens", args=[service.pk]),
                       {"name": "build", "scope": "read", "days": "7"})
    api = APIClient(HTTP_AUTHORIZATION=f"Bearer {page.context['key']}")
    assert not client.login(username="ci", password="Trial-2026!")
    assert api.get("/api/v1/engagements/").status_code == 200
    with pytest.raises(InvalidInput):
        services.update_person(actor=admin, person=service, password="Trial-2026!")
    with pytest.raises(InvalidInput):
        services.update_person(actor=admin, person=service, role=Role.REVIEWER)


def test_a_token_for_name_and_password_over_the_api(people):
    api = APIClient()
    wrong = api.post("/api/v1/token/", {"username": "manager", "password": "wrong"})
    answer = api.post("/api/v1/token/", {"username": "manager", "password": "Trial-2026!",
                                         "name": "notebook", "scope": "read", "days": 1})
    assert wrong.status_code == 400
    assert answer.json()["made"]["name"] == "notebook"
    assert ApiToken.objects.get().scope == "read"
