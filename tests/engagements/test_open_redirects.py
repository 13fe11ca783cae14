"""No address that a request names leads out of the desk."""

import pytest
from django.urls import reverse

from engagements.models import Role

ELSEWHERE = ("https://evil.test/", "//evil.test", "/\\evil.test", "https:evil.test",
             "javascript:alert(1)", "http://testserver@evil.test/", "\thttps://evil.test")


@pytest.mark.django_db
@pytest.mark.parametrize("place", ELSEWHERE)
def test_every_next_stays_here(client, people, place):
    """Log-in, “Undo”, and the page that a request says it came from."""
    person = people[Role.MANAGER]
    person.set_password("S3cret-of-mine")
    person.save()
    answers = [client.post(reverse("login"), {"username": person.username, "next": place,
                                              "password": "S3cret-of-mine"})]
    client.force_login(person)
    answers += [client.post("/undo/", {"note": "x", "next": place}),
                client.get(reverse("login"), {"next": place})]
    client.logout()
    answers += [client.post("/undo/", {}, headers={"hx-request": "true", "hx-current-url": place}),
                client.get("/nodes/", headers={"referer": place})]
    for answer in answers:
        led = answer.headers.get("Location") or answer.headers.get("HX-Redirect", "")
        assert led.startswith("/") or not led
        assert not led.startswith(("//", "/\\"))
        assert "evil" not in led.partition("?")[0]
