"""One table of states: every state has a row, print follows it, no template colours by hand."""

import re
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.utils.translation import override

from assessments.models import Outcome
from engagements import status
from engagements.templatetags.display import tag

OWN = ("engagements", "workers", "assessments", "delivery")
BY_HAND = re.compile(r'class="[^"]*\b(?:bg|text)-(?:green|red|orange|yellow|lime|teal|success|'
                     r'danger|warning)\b')
TEMPLATES = Path(settings.BASE_DIR) / "templates"
CSS = TEMPLATES / "documents"


def _states() -> set[tuple[str, str]]:
    found = set()
    for model in apps.get_models():
        if not model.__module__.startswith(OWN):
            continue
        for field in model._meta.concrete_fields:
            if field.name in ("state", "outcome", "decision") and field.choices:
                found |= {(f"{model._meta.label}.{field.name}", code)
                          for code, _label in field.flatchoices if code}
    return found


def test_every_state_of_every_model_has_a_row():
    assert sorted((where, code) for where, code in _states() if code not in status.LOOKS) == []


def test_only_what_passed_or_was_accepted_is_green():
    assert status.codes_of(status.GREEN) == [
        "passed", "confirmed", "approved", "accepted", "agreed", "deemed", "signed", "met", "ok",
        "OK", "green"]
    looks = {code: status.look(code).colour for code in (
        "succeeded", "active", "late", "failed", "missing", "not_measured", "never heard of")}
    assert looks == {"succeeded": "secondary", "active": "secondary", "late": "orange",
                     "failed": "red", "missing": "orange", "not_measured": "orange",
                     "never heard of": "secondary"}


def test_a_tag_without_a_label_says_the_tables_word_in_each_language():
    for language, word in (("en", "Failed"), ("zh-hans", "不通过")):
        with override(language):
            assert f"<span>{word}</span>" in tag("failed")


def test_no_template_colours_by_hand():
    found = {f"{path.relative_to(TEMPLATES)}: {hit}" for path in TEMPLATES.rglob("*.html")
             for hit in BY_HAND.findall(path.read_text())}
    assert sorted(found) == []


@pytest.mark.parametrize("name", ["document.css", "tables.css"])
def test_documents_colour_verdicts_as_the_table_does(name):
    """Outcomes of one colour of the table share their rules, outcomes of two do not."""
    rules = {}
    for selectors, body in re.findall(r"([^{}]+){([^}]*)}", (CSS / name).read_text()):
        for outcome in re.findall(r"(?:\.o-|\.fill-)([a-z_]+)", selectors):
            if outcome in Outcome.values:
                rules.setdefault(outcome, []).append(body.strip())
    assert set(rules) == set(Outcome.values)
    by_colour = {}
    for outcome, bodies in rules.items():
        by_colour.setdefault(status.look(outcome).colour, set()).add(tuple(sorted(bodies)))
    assert all(len(each) == 1 for each in by_colour.values())
    assert len({next(iter(each)) for each in by_colour.values()}) == len(by_colour)
