"""Writes and reads of source scans: an uploaded archive, its report and its patch."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.files import File
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from engagements.access import Can, allowed, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import Engagement, MigratedModel, User
from engagements.models.visibility import in_engagements_of
from toolreaders.base import ReadError, Reading
from toolreaders.scan import CHECKS, SCAN_VERSION, Report, patch_of, scan_path
from workers import rule_checks
from workers.artifacts import artifact_store
from workers.artifacts.reading_process import run_bounded
from workers.models import Artifact, StoredReading
from workers.reading_pages import register_reading_page

KIND = "source_scan"


@register_reading_page(KIND)
def scan_page(reading: StoredReading) -> tuple[str, str]:
    """The page of the scan."""
    return _("Source scan"), reverse("workers:scan", args=[reading.pk])


def scan_upload(
    *, actor: User, engagement: Engagement, upload: File, model: MigratedModel | None = None,
    note: str = "",
) -> StoredReading:
    """Scan an uploaded source archive; keep the archive and what was found.

    Raises InvalidInput for a file that is too large or cannot be opened. Nothing is executed.
    """
    require(actor, Can.WORK, engagement)
    artifact_store.require_uploadable(upload, engagement, model)
    report = _scanned(upload)
    with transaction.atomic():
        artifact = artifact_store.store_file(stream=upload.file, name=upload.name, model=model,
                                             engagement=engagement, note=note, uploaded_by=actor)
        stored = artifact_store.keep_reading(artifact, reading_of(report))
        artifact.rules = rule_checks.of_upload(artifact)
        artifact.save(update_fields=["rules"])
        audit_log.record(actor=actor, action="source.scan", target=artifact, engagement=engagement,
                         data={"sha256": artifact.sha256, "size": artifact.size,
                               "findings": len(report.findings)})
    return stored


def _scanned(upload: File) -> Report:
    try:
        with _path_of(upload) as path:
            return run_bounded(scan_path, path)
    except ReadError as error:
        raise InvalidInput(
            _("%(name)s cannot be scanned (%(code)s). Upload the source as .zip, .tar or .tar.gz "
              "of at most 32 MB of source text.")
            % {"name": upload.name, "code": error.code}) from error


@contextmanager
def _path_of(upload: File) -> Iterator[Path]:
    with tempfile.NamedTemporaryFile() as copy:
        for chunk in upload.chunks():
            copy.write(chunk)
        copy.flush()
        yield Path(copy.name)


def reading_of(report: Report) -> Reading:
    """The scan's report as a reading."""
    return Reading(kind=KIND, tool="Delivery Desk", tool_version=SCAN_VERSION,
                   values=report.as_json(), reader=KIND, reader_version=SCAN_VERSION)


def migration_patch(artifact: Artifact) -> str:
    """The automatic-migration patch of a stored archive, for `patch -p1`; may be empty."""
    with artifact_store.local_path(artifact) as path:
        return patch_of(path)


def scans_visible_to(user: User) -> QuerySet:
    """Scans of files that the user may see, newest first."""
    return StoredReading.objects.filter(
        in_engagements_of(user, "artifact__engagement",
                          or_none=allowed(user, Can.VIEW_INTERNAL)), kind=KIND).select_related(
        "artifact__engagement", "artifact__model", "artifact__uploaded_by").order_by("-pk")


def filtered_findings(scan: StoredReading, params) -> list[dict]:
    """Findings by severity, check and part of the file name, with title and action to show."""
    wanted = {name: params.get(name, "") for name in ("severity", "check")}
    part = params.get("file", "").strip().lower()
    return [described(finding) for finding in scan.values.get("findings", [])
            if all(not value or finding[name] == value for name, value in wanted.items())
            and part in finding["file"].lower()]


def described(entry: dict) -> dict:
    """A finding or an effort row with title and action of its check, in the reader's language."""
    check = CHECKS.get(entry["check"])
    return {**entry, "title": _(check.title) if check else entry["check"],
            "action": _(check.action) if check else ""}
