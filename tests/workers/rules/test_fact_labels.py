"""What rules need and where they hold, in words on the rules' page."""

import pytest
from django.utils.translation import override

from engagements.models import Role
from workers.rules import RULES
from workers.rules.citations import CITED, marks
from workers.rules.fact_labels import ALONE, LABELS, fact_words

NEEDS = {name for rule in RULES.values() for name in rule.needs}
CALLED_SO = {"torch_npu"}  # packages that are written like a fact


def test_every_fact_that_a_rule_needs_has_words():
    codes = {name for name in NEEDS if not name.isupper()} - CALLED_SO
    assert codes - LABELS.keys() - ALONE.keys() == set()


def test_every_source_is_cited():
    assert {mark for rule in RULES.values() for mark in marks(rule.source)} == set(CITED)


@pytest.mark.django_db
def test_the_page_shows_words(client, people):
    client.force_login(people[Role.CONSULTANT])
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    page = client.get("/rules/").content.decode()
    with override("en"):
        assert fact_words("gradient_accumulation_dtype") in page
    assert "gradient_accumulation_dtype" not in page
