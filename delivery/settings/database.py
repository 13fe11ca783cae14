"""Django's settings of the database that DATABASE_URL names."""

import os
from pathlib import Path

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

ENGINES = ("django.db.backends.sqlite3", "django.db.backends.postgresql")
# A peer that vanished (a host without power, a line that swallows packets) is given up by both
# sides within half a minute: what a lost worker had locked must not stay locked for hours, which is
# what the systems' own defaults come to.
SILENT_SECONDS, PROBE_SECONDS, PROBES = 15, 5, 3
UNANSWERED_MILLISECONDS = 1000 * (SILENT_SECONDS + PROBE_SECONDS * PROBES)
OF_CLIENT = {"connect_timeout": 10, "keepalives_idle": SILENT_SECONDS,
             "keepalives_interval": PROBE_SECONDS, "keepalives_count": PROBES,
             "tcp_user_timeout": UNANSWERED_MILLISECONDS}
# Short statements on solid disks: compiling them costs more than they do, and reading fifty rows by
# an index less than walking a table.
OF_SERVER = {"jit": "off", "random_page_cost": "1.1", "tcp_keepalives_idle": SILENT_SECONDS,
             "tcp_keepalives_interval": PROBE_SECONDS, "tcp_keepalives_count": PROBES,
             "tcp_user_timeout": UNANSWERED_MILLISECONDS}
DATABASE_FORMS = "sqlite:////folder/file.sqlite3 or postgresql://user:password@host:port/name"


def database(url: str, var_dir: Path) -> dict:
    """Settings of the database at `url`; `var_dir` holds the file of a test database.

    Raises:
        ImproperlyConfigured: for one that is neither SQLite nor PostgreSQL; never with the URL
            itself, since it holds a password.
    """
    try:
        found = dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True)
        if found.get("ENGINE") == ENGINES[1]:
            found["OPTIONS"] = {
                **OF_CLIENT,
                "options": " ".join(f"-c {name}={value}" for name, value in OF_SERVER.items()),
                **found.get("OPTIONS", {})}
    except (dj_database_url.ParseError, ValueError):
        found = {}
    if found.get("ENGINE") not in ENGINES or found.get("NAME") in ("", ":memory:", None):
        state = "names no SQLite file and no PostgreSQL database" if url else "is empty"
        raise ImproperlyConfigured(
            f"DATABASE_URL {state}. It looks like {DATABASE_FORMS}; unset it to use a SQLite file "
            "in the data folder.")
    if found["ENGINE"] == ENGINES[0]:
        found.update(_sqlite(var_dir))
    return found


def _sqlite(var_dir: Path) -> dict:
    var_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    return {
        "CONN_MAX_AGE": None,
        # A real file in tests too: threads of an in-memory database share one table lock.
        "TEST": {"NAME": str(var_dir / f"test-{os.getpid()}.sqlite3")},
        "OPTIONS": {
            "timeout": 20,
            # A writer that begins IMMEDIATE waits for the lock; a reader that upgrades fails at
            # once.
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
            "PRAGMA busy_timeout=20000; PRAGMA foreign_keys=ON;",
        },
    }
