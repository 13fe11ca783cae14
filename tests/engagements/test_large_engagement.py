"""An engagement of hundreds of models: its page comes in parts of bounded size."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from engagements.models import MigratedModel, Role
from engagements.queries import MODELS_PER_PAGE
from engagements.services import add_model

BYTES = 220_000


def add_models(people, engagement, first, last):
    for n in range(first, last):
        add_model(actor=people[Role.MANAGER], engagement=engagement, code=f"M{n:03}",
                  name=f"模型 {n}")


@pytest.mark.slow
def test_the_page_stays_small_and_shows_every_model_once(client, people, engagement):
    client.force_login(people[Role.MANAGER])
    url = reverse("engagements:engagement", args=[engagement.code])

    def answered(page):
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(url, {"page": page})
        return answer, len(queries)

    add_models(people, engagement, 0, 3)
    answered(1)
    _few, before = answered(1)
    add_models(people, engagement, 3, MODELS_PER_PAGE + 3)
    answered(1)  # its next steps are found anew after a write
    pages = [answered(n) for n in (1, 2)]
    assert pages[0][1] == before
    assert max(len(answer.content) for answer, _count in pages) < BYTES
    shown = [row["model"].code for answer, _count in pages for row in answer.context["matrix"]]
    assert shown == list(MigratedModel.objects.order_by("position", "pk").values_list(
        "code", flat=True))
