"""Every file that a row names, and logs that are still growing."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import models

from delivery.operation.backup.database_dump import stored_apps, tables

STORED, LOG = "stored", "log"


@dataclass(frozen=True)
class StoredFile:
    """`sha256` and `size` as the row says; "" and None where it says nothing."""

    kind: str
    name: str
    sha256: str = ""
    size: int | None = None

    def open(self):
        if self.kind == LOG:
            return logs_folder().joinpath(self.name).open("rb")
        return default_storage.open(self.name, "rb")


def logs_folder() -> Path:
    """Where the logs of jobs grow until they are collected."""
    return Path(settings.VAR_DIR) / "live-logs"


def stored_files() -> Iterator[StoredFile]:
    """Each file once, by the rows of the current transaction; then the growing logs."""
    seen = set()
    for table in tables(stored_apps()):
        for field in table._meta.concrete_fields:
            if isinstance(field, models.FileField):
                for file in _of_column(table, field):
                    if file.name not in seen:
                        seen.add(file.name)
                        yield file
    for path in sorted(logs_folder().glob("*")):
        if path.is_file():
            yield StoredFile(LOG, path.name)


def _of_column(table: type[models.Model], field: models.FileField) -> Iterator[StoredFile]:
    columns = {known.name for known in table._meta.concrete_fields}
    extra = [name for name in ("sha256", "size") if name in columns and field.name == "file"]
    rows = table._base_manager.exclude(**{field.attname: ""}).order_by("pk")
    for name, *facts in rows.values_list(field.attname, *extra).iterator():
        yield StoredFile(STORED, name, **dict(zip(extra, facts, strict=True)))
