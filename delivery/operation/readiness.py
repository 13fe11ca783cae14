"""Whether the portal can serve: the parts that every page needs, each tried."""

import time
import uuid
from collections.abc import Callable

from django.core.cache import cache
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from delivery.celery import app
from engagements.errors import DeskError, WrongState

BROKER_SECONDS = 3


def database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def missing_migrations() -> list[str]:
    """Names of the migrations that this code has and the database has not."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _is_backwards in plan]


def migrations() -> None:
    """Raises where code and tables are of different versions."""
    missing = missing_migrations()
    if missing:
        raise WrongState(ngettext("%(n)d migration to apply, first %(name)s",
                                  "%(n)d migrations to apply, first %(name)s", len(missing)) % {
            "n": len(missing), "name": missing[0]})


def broker() -> None:
    """A broker that takes the connection and then says nothing does not work either."""
    link = app.connection_for_write(transport_options={
        "socket_timeout": BROKER_SECONDS, "socket_connect_timeout": BROKER_SECONDS})
    with link:
        link.ensure_connection(max_retries=1, timeout=BROKER_SECONDS)


def shared_cache() -> None:
    key, value = "readiness", str(time.time())
    cache.set(key, value, 60)
    if cache.get(key) is None:
        raise WrongState(_(
            "the cache does not answer or forgets at once; the log of the portal says why"))


def storage() -> None:
    """Writes a small file, reads and removes it."""
    name = default_storage.save(f"readiness/{uuid.uuid4().hex}", ContentFile(b"desk"))
    try:
        with default_storage.open(name) as file:
            if file.read() != b"desk":
                raise WrongState(_("the artifact store gives back other bytes"))
    finally:
        default_storage.delete(name)


PARTS: dict[str, Callable[[], None]] = {
    "database": database, "migrations": migrations, "broker": broker, "cache": shared_cache,
    "storage": storage}
NOT_NEEDED = {"broker", "cache"}  # rows are the truth: pages are served, jobs go on a little later
LABELS = {
    "database": gettext_lazy("Database"), "migrations": gettext_lazy("Migrations"),
    "broker": gettext_lazy("Broker"), "cache": gettext_lazy("Cache"),
    "storage": gettext_lazy("Artifact store"),
}


def failures() -> dict[str, str]:
    """{part: what went wrong} of the parts that do not work; they are tried one after another."""
    found = {}
    for name, attempt in PARTS.items():
        try:
            attempt()
        except Exception as error:  # whatever a database, broker or store raises
            found[name] = cause(error)
    return found


def cause(error: Exception) -> str:
    """What went wrong, in the product's words or in those of who raised it."""
    return error.message if isinstance(error, DeskError) else f"{type(error).__name__}: {error}"
