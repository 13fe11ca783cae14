"""A database of another version is reported in a sentence, and nothing of it is touched."""

import pytest
from django.core.management import CommandError
from django.db import connection

from delivery.demo import schema_check
from delivery.demo.management.commands import up

pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_migrated_database_is_that_of_this_version():
    assert list(schema_check.differences()) == []


@pytest.mark.slow
@pytest.mark.parametrize("change", [
    "ALTER TABLE workers_job DROP COLUMN last_loss",
    "ALTER TABLE workers_job ADD COLUMN last_loss_old integer",
])
def test_other_column_is_named(change):
    with connection.cursor() as cursor:
        cursor.execute(change)
    with pytest.raises(CommandError, match=r"column last_loss.* of table workers_job") as refused:
        up._migrate()
    assert "left as it is" in str(refused.value)


@pytest.mark.slow
def test_missing_table_is_named():
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE workers_chainstep")
    assert list(schema_check.differences()) == [("workers_chainstep", "")]
