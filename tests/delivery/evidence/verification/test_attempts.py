"""Attempts to make a figure look better: each kind is noticed, and stands in docs/security.md."""

import random
from pathlib import Path

import pytest
from django.conf import settings

from benchmarks import attempts


@pytest.mark.slow
@pytest.mark.django_db
def test_each_kind_is_noticed(people, engagement):
    here, chance = attempts.world(people, engagement), random.Random(1)
    found = {kind: {attempts.attempt(here, kind, chance) for _time in range(3)}
             for kind in attempts.KINDS}
    assert {kind for kind in found if attempts.UNNOTICED in found[kind]} == set(), found


def test_each_kind_stands_in_the_threat_model():
    text = (Path(settings.BASE_DIR) / "docs" / "security.md").read_text("utf-8")
    rows = {line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")}
    assert [kind for kind in attempts.KINDS if kind not in rows] == []
