"""Writes the database dump from which the upgrade test of a release starts; run it by its path.

    DESK_AUDIT_KEY=upgrade-test ./desk test -n 0 \
        tests/delivery/evidence/verification/write_release_dump.py

The file is tests/upgrade/VERSION.jsonl.gz. A released one is never written again.
"""

from pathlib import Path

import pytest

from delivery.operation.backup.database_dump import dump
from tests.delivery.evidence.rows_of_all_tables import write_everything


@pytest.mark.django_db
def test_write_release_dump(delivered, act, people, settings):
    settings.MIGRATION_MODULES = {}  # the suite itself works without them
    write_everything(delivered, act, people)
    path = Path(settings.BASE_DIR) / "tests" / "upgrade" / f"{settings.VERSION}.jsonl.gz"
    assert not path.exists(), "a released dump is never written again"
    empty = [name for name, count in dump(path).items() if not count]
    print("tables without rows:", *empty)
