"""The engagement that the fleet is made of: `manage.py demo`, survey to signed acceptance.

Every table is filled by the services themselves; what the fleet multiplies is therefore what the
product writes, and new tables take part without a word here.
"""

import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from django.apps import apps
from django.db import connections, models

MODELS_KEPT = 5  # of the demo's ten
BATCH = 500


def demo_database(folder: Path) -> Path:
    """The SQLite file in which the demo has run; made once per folder."""
    folder = folder.resolve()
    database, done = folder / "desk.sqlite3", folder / "finished"
    environment = {
        **os.environ, "DESK_DEMO_INSIDE": "1", "DESK_VAR_DIR": str(folder), "REDIS_URL": "",
        "DESK_ARTIFACT_DIR": str(folder / "artifacts"), "DESK_LOG_LEVEL": "WARNING",
        "DATABASE_URL": f"sqlite:///{database}", "DESK_DISPATCH_TICK_SECONDS": "0.5"}
    folder.mkdir(parents=True, exist_ok=True)
    steps = [["migrate", "--noinput"]] if done.exists() else [
        ["demo", "--out", str(folder / "out")]]
    for step in steps:
        subprocess.run([sys.executable, "manage.py", *step], check=True, env=environment,
                       stdout=subprocess.DEVNULL)
    done.touch()
    return database


def copied_tables() -> list[type[models.Model]]:
    """Every table of the product, without Django's own and the words of the search box."""
    own = [model for model in apps.get_models() if model._meta.app_label not in (
        "admin", "auth", "contenttypes", "sessions", "authtoken", "axes", "portal")]
    return [model for model in own if model._meta.managed and not model._meta.proxy]


def load(source: str, target: str) -> None:
    """Copy all rows of the demo from one database to an empty one, keys and all.

    What migrations have put there goes; references must not be checked meanwhile.
    """
    for model in copied_tables():
        with connections[target].cursor() as cursor:
            cursor.execute(f'DELETE FROM "{model._meta.db_table}"')
        rows = models.QuerySet(model, using=source).order_by("pk")
        made = [_copy(row) for row in rows.iterator(chunk_size=BATCH)]
        models.QuerySet(model, using=target).bulk_create(made, batch_size=BATCH)


def _copy(row: models.Model) -> models.Model:
    row._state.adding, row._state.db = True, None
    return row


def rows_of_engagement(using: str) -> dict[type[models.Model], list[int]]:
    """Keys, by table, of the one engagement and of all that hangs on it.

    Without the models after the first MODELS_KEPT, and without what refers to them.
    """
    from engagements.models import Engagement, MigratedModel

    keys: dict[type[models.Model], set[int]] = defaultdict(set)
    keys[Engagement] = set(_keys(Engagement, using))
    left_out = set(_keys(MigratedModel, using)[MODELS_KEPT:])
    gone: dict[type[models.Model], set[int]] = defaultdict(set, {MigratedModel: left_out})
    tables = [model for model in copied_tables() if model is not Engagement]
    for found in (gone, keys):  # what goes, then what stays
        grew = True
        while grew:
            grew = sum(_spread(model, found, gone if found is keys else {}, using)
                           for model in tables) > 0
    return {model: sorted(rows) for model, rows in keys.items() if rows}


def _keys(model: type[models.Model], using: str) -> list[int]:
    return list(models.QuerySet(model, using=using).order_by("pk").values_list("pk", flat=True))


def references(model: type[models.Model]) -> list[models.ForeignKey]:
    """The columns of a table that refer to rows of others."""
    return [field for field in model._meta.concrete_fields if field.is_relation]


def _spread(model: type[models.Model], found: dict, gone: dict, using: str) -> bool:
    """Add the rows that refer to a found row; whether there were new ones."""
    before = len(found[model])
    for field in references(model):
        if targets := found.get(field.related_model):
            rows = models.QuerySet(model, using=using).filter(**{f"{field.name}__in": targets})
            found[model] |= set(rows.values_list("pk", flat=True))
    if gone:
        found[model] -= gone.get(model, set())
    return len(found[model]) > before
