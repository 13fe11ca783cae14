"""What one customer's reviewer can reach, another customer's reviewer cannot even guess."""

from importlib import import_module

import pytest
from rest_framework.test import APIClient

from delivery.acceptance import services
from delivery.api import APPS
from engagements.models import Customer, Engagement, Membership, Role, User


@pytest.fixture
def signed(review, act, people):
    """A signed review with a comment, files, a bundle."""
    services.comment(actor=act.reviewer, review=review, text="为什么？")
    act.decide(review)
    act.sign(review)
    services.build_bundle(actor=act.manager, engagement=review.document.engagement,
                          document=review.document)
    return review


@pytest.fixture
def outsider(db) -> User:
    """The reviewer of another customer, with an engagement of his own."""
    user = User.objects.create_user("outsider", role=Role.REVIEWER)
    other = Engagement.objects.create(code="OTHER", name="另一项目",
                                      customer=Customer.objects.create(name="另一客户"))
    Membership.objects.create(engagement=other, user=user, role=Role.REVIEWER)
    return user


def test_the_api_lists_and_opens_nothing_of_another_customer(signed, people, outsider):
    inside, outside = APIClient(), APIClient()
    inside.force_authenticate(people[Role.REVIEWER])
    outside.force_authenticate(outsider)
    opened, seen = [], 0
    for prefix in [prefix for app in APPS for prefix, *_rest in import_module(f"{app}.api").routes]:
        own = rows(inside, prefix)
        for row in own - rows(outside, prefix):
            seen += 1
            if outside.get(f"/api/v1/{prefix}/{row}/").status_code != 404:
                opened.append((prefix, row))
    assert opened == []
    assert seen > 10


def rows(api: APIClient, prefix: str) -> set:
    answer = api.get(f"/api/v1/{prefix}/")
    if answer.status_code != 200:
        return set()
    found = answer.json()
    found = found["results"] if isinstance(found, dict) else found
    return {row.get("id", row.get("code")) for row in found}
