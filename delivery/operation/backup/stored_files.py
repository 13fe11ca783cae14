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
    return Path(settings.LIVE_LOG_DIR or settings.VAR_DIR / "live-logs")


def columns() -> Iterator[tuple[type[models.Model], models.FileField]]:
    """Every column of the database that names stored files."""
    for table in tables(stored_apps()):
        for field in table._meta.concrete_fields:
            if isinstance(field, models.FileField):
                yield table, field


def stored_files() -> Iterator[StoredFile]:
    """Each file once, by the rows of the current transaction; then the growing logs."""
    seen = set()
    for table, field in columns():
        for file in _described(table, field, _rows(table, field).order_by("pk")):
            if file.name not in seen:
                seen.add(file.name)
                yield file
    for path in sorted(logs_folder().glob("*")):
        if path.is_file():
            yield StoredFile(LOG, path.name)


def files_of(table: type[models.Model], field: models.FileField, *, after: str = "",
             name: str = "", limit: int | None = None) -> Iterator[StoredFile]:
    """Files of one column by name, each once: those behind `after`, or the one called `name`."""
    rows = _rows(table, field).order_by(field.attname)
    rows = rows.filter(**{field.attname: name} if name else {f"{field.attname}__gt": after})
    seen = set()
    for file in _described(table, field, rows.distinct()[:limit]):
        if file.name not in seen:
            seen.add(file.name)
            yield file


def _rows(table: type[models.Model], field: models.FileField) -> models.QuerySet:
    return table._base_manager.exclude(**{field.attname: ""})


def _described(table: type[models.Model], field: models.FileField, rows: models.QuerySet,
               ) -> Iterator[StoredFile]:
    known = {column.name for column in table._meta.concrete_fields}
    facts = {"sha256": "sha256", "size": "size"} if field.name == "file" else {
        "sha256": f"{field.name}_sha256"}
    facts = {name: column for name, column in facts.items() if column in known}
    for name, *values in rows.values_list(field.attname, *facts.values()).iterator():
        yield StoredFile(STORED, name, **dict(zip(facts, values, strict=True)))
