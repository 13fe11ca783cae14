"""The migrations make the tables that the suite works on, which come of the models."""

import os
import sqlite3
import subprocess
import sys

import pytest
from django.conf import settings
from django.db import connection


@pytest.mark.slow
@pytest.mark.django_db
def test_migrations_make_the_tables_of_the_models(migrated_file, tmp_path):
    if connection.vendor != "sqlite":
        pytest.skip("compares SQLite files")
    one_by_one = tmp_path / "one-by-one.sqlite3"
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--one-by-one", "--verbosity", "0"],
        cwd=settings.BASE_DIR, check=True, timeout=600, env={
            **os.environ, "DESK_VAR_DIR": str(tmp_path),
            "DATABASE_URL": f"sqlite:///{one_by_one}"})
    with (sqlite3.connect(one_by_one) as migrated, sqlite3.connect(migrated_file) as new,
          connection.cursor() as cursor):
        made = _tables(migrated.execute)
        assert made == _tables(new.execute)
        assert _rows(migrated) == _rows(new)
        del made["django_migrations"]
        assert made == _tables(cursor.execute)


def _rows(database: sqlite3.Connection) -> dict[str, int]:
    """{table: number of rows}: a migration that fills a new database would be missing in one."""
    return {name: database.execute(f"select count(*) from {name}").fetchone()[0]
            for name in _tables(database.execute)}


def _tables(execute) -> dict[str, tuple]:
    """{table: (columns, foreign keys, indexes, constraints)}, each without an order."""
    rows = execute("select name, sql from sqlite_master where type = 'table' "
                   "and name not like 'sqlite_%'").fetchall()
    return {name: (
        {row[1:] for row in execute(f"pragma table_info({name})").fetchall()},
        {row[2:] for row in execute(f"pragma foreign_key_list({name})").fetchall()},
        _indexes(execute, name), sql.count(" CHECK "), sql.count(" UNIQUE"))
        for name, sql in rows}


def _indexes(execute, table: str) -> set:
    found = execute("select name, sql from sqlite_master where type = 'index' "
                    f"and tbl_name = '{table}' and sql is not null").fetchall()
    return set(found)
