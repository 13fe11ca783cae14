"""What one customer's reviewer can reach, another customer's reviewer cannot even guess."""

import re
from importlib import import_module

import pytest
from rest_framework.test import APIClient

from delivery.acceptance import services
from delivery.api import APPS
from delivery.evidence.services import build_bundle
from engagements.models import Customer, Engagement, Membership, Role, User
from tests.cached_fixtures import cached_fixture
from workers.models import Job

# Pages that belong to nobody's engagement, or show each person his own.
GENERAL = re.compile(r"/((i18n|help|inbox|notices|verify|account|people|tokens|sign-ins)/.*"
                     r"|(activity|verifier)/"
                     r"|definitions/(\d+/)?(preview/)?"
                     r"|(engagements|quotes|documents|timesheets|surveys|chains|search|password)/)?"
                     r"(\?.*)?")
LINK = re.compile(r'(?:href|src|hx-get|sse-connect|data-[a-z-]*(?:url|src|href))="(/[^"#]*)')
MOST = 300
SECRET = "毛利只有三成，别告诉客户"


@pytest.fixture
@cached_fixture
def signed(review, act, people):
    """A signed review with an internal comment, files, a bundle."""
    Job.objects.update(kind="adapt.megatron_train")  # one that has a page
    services.comment(actor=people[Role.CONSULTANT], review=review, text=SECRET, is_internal=True)
    services.comment(actor=act.reviewer, review=review, text="为什么？")
    act.decide(review)
    act.sign_and_seal(review)
    build_bundle(actor=act.manager, engagement=review.document.engagement,
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


def content(answer) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def reachable(client, *starts: str) -> dict[str, bytes]:
    """Every address that pages link to, from page to page, with what it answers."""
    waiting, seen = list(starts), {}
    while waiting:
        path = waiting.pop(0)
        if path in seen or path.startswith(("/static/", "/logout", "/api/")):
            continue
        assert len(seen) < MOST, "the pages never end"
        answer = client.get(path)
        seen[path] = content(answer) if answer.status_code == 200 else b""
        if answer.get("Content-Type", "").startswith("text/html"):
            found = LINK.findall(seen[path].decode())
            waiting += [link.replace("&amp;", "&") for link in found]
    return {path: body for path, body in seen.items() if body}


@pytest.mark.slow
def test_what_a_reviewer_s_pages_lead_to_is_another_customer_s_nowhere_and_tells_no_secret(
        client, signed, people, outsider):
    client.force_login(people[Role.REVIEWER])
    review = f"/documents/{signed.document_id}/review/"
    found = reachable(client, review, f"{review}signing/", f"{review}retest/", "/")
    assert [path for path, body in found.items() if SECRET.encode() in body] == []
    own = [path for path in found if not GENERAL.fullmatch(path)]
    for part in ("/artifacts/", "/jobs/", "/criteria/", "/bundles/", "/files/", "/review/"):
        assert any(part in path for path in own), (part, own)
    client.force_login(outsider)
    assert {path: status for path in own
            if (status := client.get(path).status_code) != 404} == {}
    assert [path for path in found if path not in own and names(client, path, signed)] == []


def names(client, path: str, review) -> bool:
    """Whether a page tells of the engagement, its customer or its document."""
    body, document = content(client.get(path)).decode(errors="replace"), review.document
    engagement = document.engagement
    return any(word in body for word in (engagement.code, engagement.name,
                                         engagement.customer.name, document.number))


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
