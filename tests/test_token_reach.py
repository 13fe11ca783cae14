"""Every route of the API with a token that is limited to one engagement: what is not that
engagement's is refused, or not there."""

import pytest
from django.urls import get_resolver
from rest_framework.test import APIClient

from delivery.openapi.token_reach import CATALOGUES, OF_ENGAGEMENTS, WithinReach
from engagements import services
from engagements.models import ApiToken, Role

PUBLIC = {"token", "verification"}  # without a log-in


def views() -> dict[str, type]:
    """The class that answers at each address below /api/v1/, by the route's pattern."""
    return {pattern: view for pattern, view in _views(get_resolver(), "")
            if pattern.startswith("api/v1/")}


def _views(resolver, above: str):
    for entry in resolver.url_patterns:
        pattern = above + str(entry.pattern).lstrip("^")
        if hasattr(entry, "url_patterns"):
            yield from _views(entry, pattern)
        elif hasattr(entry.callback, "cls"):
            yield pattern, entry.callback.cls


def parts() -> set[str]:
    return {part_of(pattern) for pattern in views()} - {"$"}


@pytest.fixture
def other(people, engagement):
    return services.create_engagement(actor=people[Role.MANAGER], code="OTHER", name="另一项目",
                                      customer=engagement.customer)


@pytest.fixture
def limited(people, other):
    def of(role) -> APIClient:
        _token, key = services.create_token(actor=people[role], owner=people[role], name="x",
                                            scope="write", engagement=other)
        return APIClient(HTTP_AUTHORIZATION=f"Token {key}")

    return of


def part_of(pattern: str) -> str:
    return pattern.split("/")[2]


def test_every_route_asks_the_table():
    known = OF_ENGAGEMENTS | CATALOGUES
    assert len(views()) > 250
    assert {part_of(pattern) for pattern, view in views().items()
            if WithinReach not in view.permission_classes} == PUBLIC
    assert (known - parts(), OF_ENGAGEMENTS & CATALOGUES) == (set(), set())


def test_what_stands_in_no_set_is_refused(limited):
    api = limited(Role.ADMINISTRATOR)
    wanted = {part: ["get", "post"] if part not in CATALOGUES else ["post"]
              for part in parts() - OF_ENGAGEMENTS - PUBLIC}
    answered = {(part, method): getattr(api, method)(f"/api/v1/{part}/").status_code
                for part, methods in wanted.items() for method in methods}
    assert {key for key, status in answered.items() if status not in (403, 404, 405)} == set()
    assert list(answered.values()).count(403) > 60


@pytest.mark.usefixtures("world")
def test_rows_of_others_are_not_there(people, limited, engagement):
    """Whatever the engagement with one of everything holds."""
    whole, api = APIClient(), limited(Role.ADMINISTRATOR)
    whole.force_authenticate(people[Role.ADMINISTRATOR])
    seen, tried = [], 0
    for part in sorted(parts() & OF_ENGAGEMENTS):
        address = f"/api/v1/{part}/"
        if engagement.code in api.get(address).content.decode():
            seen.append(address)
        rows = whole.get(address, {"page_size": 1}).json()
        rows = rows.get("results", []) if isinstance(rows, dict) else rows
        for key in {str(row[name]) for row in rows if isinstance(row, dict)
                    for name in ("code", "id", "key") if name in row} - {"OTHER"}:
            if (answer := api.get(f"{address}{key}/")).status_code != 404 and (
                    whole.get(f"{address}{key}/").status_code == 200):
                seen.append((address, key, answer.status_code))
            tried += 1
    assert seen == []
    assert tried > 30


def test_tokens_of_all_people_stay_hidden(people, limited):
    others, _key = services.create_token(actor=people[Role.SALES], owner=people[Role.SALES],
                                         name="x")
    api = limited(Role.ADMINISTRATOR)
    assert api.get("/api/v1/tokens/").status_code == 403
    assert api.delete(f"/api/v1/tokens/{others.pk}/").status_code == 403
    own = ApiToken.objects.get(owner=people[Role.ADMINISTRATOR])
    assert api.delete(f"/api/v1/tokens/{own.pk}/").status_code == 204
    assert list(ApiToken.objects.in_force()) == [others]
