"""The document of the state machines is what their tables say."""

from django.conf import settings

from delivery.operation import state_machines
from tests.delivery.next_steps.test_next_steps import TABLES


def test_document_is_current():
    path = settings.BASE_DIR / "docs" / "state-machines.md"
    assert path.read_text("utf-8") == state_machines.as_markdown(), (
        "run: python manage.py regenerate")


def test_every_machine_is_drawn():
    assert {module for _title, module, _states in state_machines.MACHINES} == set(TABLES.values())
