"""ETag and If-Match of objects: nobody overwrites what somebody else changed meanwhile."""

import threading

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from delivery.quotes.models import Quote
from engagements.models import Role


@pytest.fixture
def api(people):
    client = APIClient()
    client.force_authenticate(people[Role.MANAGER])
    return client


@pytest.fixture
def path(engagement):
    return f"/api/v1/engagements/{engagement.code}/"


def test_a_stale_version_is_refused_and_nothing_is_saved(api, path, engagement):
    read = api.get(path)["ETag"]
    first = api.patch(path, {"name": "first"}, "json", headers={"If-Match": read})
    second = api.patch(path, {"name": "second"}, "json", headers={"If-Match": read})
    assert (first.status_code, second.status_code) == (200, 412)
    assert second.json()["type"] == "urn:delivery-desk:precondition_failed"
    engagement.refresh_from_db()
    assert engagement.name == "first"
    again = api.get(path)["ETag"]
    assert api.patch(path, {"name": "third"}, "json",
                     headers={"If-Match": again}).status_code == 200


def test_an_object_that_did_not_change_is_not_sent_again(api, path):
    etag = api.get(path)["ETag"]
    answer = api.get(path, headers={"If-None-Match": etag})
    assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", etag)
    api.patch(path, {"name": "other"}, "json")
    assert api.get(path, headers={"If-None-Match": etag}).status_code == 200


def test_actions_and_deletions_know_it_too(api, people, engagement):
    from engagements.services import add_member
    member = add_member(actor=people[Role.MANAGER], engagement=engagement,
                        user=people[Role.SALES], role="viewer")
    place = f"/api/v1/memberships/{member.pk}/"
    assert api.delete(place, headers={"If-Match": '"other"'}).status_code == 412
    assert api.delete(place, headers={"If-Match": api.get(place)["ETag"]}).status_code == 204


def test_what_was_issued_wants_the_version_named(api, people, engagement):
    today = timezone.localdate()
    quote = Quote.objects.create(engagement=engagement, number="Q-1", quote_date=today,
                                 valid_until=today, created_by=people[Role.MANAGER])
    place = f"/api/v1/quotes/{quote.pk}/"
    assert api.patch(place, {"subject": "x"}, "json").status_code == 200
    Quote.objects.filter(pk=quote.pk).update(state=Quote.State.ISSUED, issued_at=timezone.now())
    unnamed = api.patch(place, {"subject": "y"}, "json")
    assert (unnamed.status_code, unnamed.json()["title"]) == (428, "precondition_required")
    named = api.patch(place, {"subject": "y"}, "json", headers={"If-Match": api.get(place)["ETag"]})
    assert named.json()["title"] == "wrong_state"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_of_two_writers_one_is_told(api, people, path, engagement):
    etag, found, start = api.get(path)["ETag"], [], threading.Barrier(6)

    def write(name: str):
        client = APIClient()
        client.force_authenticate(people[Role.MANAGER])
        start.wait()
        try:
            found.append(client.patch(path, {"name": name}, "json",
                                      headers={"If-Match": etag}).status_code)
        finally:
            connection.close()

    threads = [threading.Thread(target=write, args=(f"name {n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [200, 412, 412, 412, 412, 412]
