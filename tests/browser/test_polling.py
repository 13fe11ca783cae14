"""Requests that an open page makes by itself say so, and those of people do not."""

import pytest
from django.utils import timezone

from engagements.models import User
from workers.models import Job, Node

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_only_what_a_page_asks_by_itself_is_marked(visit, sample):
    node = Node.objects.create(name="big-1", host="127.0.0.1", username="x", state="maintenance",
                               cards_total=8)
    job = Job.objects.create(kind="env.npu_info", node=node, state="running",
                             started_at=timezone.now(), log_stored=0,
                             created_by=User.objects.get(username="operator"))
    window = visit("operator")
    page = window.open(f"/jobs/{job.pk}/")
    unmarked = []
    page.on("request", lambda request: unmarked.append(request.url)
            if "x-desk-polling" not in request.headers
            and "/static/" not in request.url else None)  # the icon comes when the browser likes
    for part in ("/log/", f"/jobs/{job.pk}/"):
        with page.expect_request(lambda request, end=part: end in request.url, timeout=30_000):
            pass
    page.wait_for_timeout(2500)
    assert unmarked == []
    page.keyboard.press("/")
    with page.expect_request(lambda request: "search" in request.url) as asked:
        page.keyboard.type("PSR")
    assert "x-desk-polling" not in asked.value.headers
    assert window.errors == []
