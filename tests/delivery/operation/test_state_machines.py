"""The documents of state machines and consequences are what their tables say."""

from pathlib import Path

import pytest
from django.conf import settings

from delivery.operation import consequences, state_machines
from delivery.portal.audit.action_labels import ACTION_LABELS
from tests.delivery.next_steps.test_next_steps import TABLES


@pytest.mark.parametrize(("name", "table"), [
    ("state-machines", state_machines), ("consequences", consequences)])
def test_document_is_current(name, table):
    path = settings.BASE_DIR / "docs" / f"{name}.md"
    assert path.read_text("utf-8") == table.as_markdown(), "run: python manage.py regenerate"


def test_every_machine_is_drawn():
    assert {module for _title, module, _states in state_machines.MACHINES} == set(TABLES.values())


def test_each_consequence_is_of_an_event_and_proved_by_a_test():
    assert set(consequences.CONSEQUENCES) <= set(ACTION_LABELS)
    proofs = {row.test for rows in consequences.CONSEQUENCES.values() for row in rows}
    tests = Path(settings.BASE_DIR) / "tests"
    assert [proof for proof in sorted(proofs) if f"\ndef {proof.partition('::')[2]}(" not in (
        tests / proof.partition("::")[0]).read_text("utf-8")] == []
