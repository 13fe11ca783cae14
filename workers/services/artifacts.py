"""Uploading files, and reading stored ones with newer readers."""

from collections.abc import Callable
from typing import BinaryIO

from django.core.files import File
from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import WrongState
from engagements.models import Engagement, MigratedModel, User
from workers import rule_checks
from workers.artifacts import artifact_store
from workers.artifacts.artifact_store import Incoming
from workers.models import Artifact


def upload_artifact(
    *, actor: User, engagement: Engagement, upload: File, model: MigratedModel | None = None,
    note: str = "", is_practice: bool = False,
) -> Artifact:
    """Store an uploaded file and read it by its content.

    Bytes are stored and read before the transaction begins. Raises InvalidInput for a file larger
    than the setting UPLOAD_LIMIT_BYTES.
    """
    require(actor, Can.WORK, engagement)
    artifact_store.require_uploadable(upload, engagement, model)
    return keep_upload(upload.file, upload.name, actor, engagement=engagement, model=model,
                       note=note, is_practice=is_practice)


def keep_upload(stream: BinaryIO, name: str, uploaded_by: User,
                then: Callable[[Artifact], None] = lambda artifact: None, **columns) -> Artifact:
    """Store a file and read it by its content; rows and audit entry in one transaction.

    Args:
        then: called in that transaction, before the entry.
        columns: further ones of Artifact, with its engagement.
    """
    [artifact] = artifact_store.keep_bytes([Incoming(name, stream)], uploaded_by=uploaded_by,
                                           **columns)
    found = artifact_store.found_in(artifact)
    with transaction.atomic():
        artifact_store.store_rows([artifact])
        artifact_store.keep_found(artifact, found)
        artifact.rules = rule_checks.of_upload(artifact)
        artifact.save(update_fields=["rules"])
        then(artifact)
        audit_log.record(
            actor=uploaded_by, action="artifact.upload", target=artifact,
            engagement=artifact.engagement,
            data={"sha256": artifact.sha256, "size": artifact.size})
    return artifact


def read_again(*, actor: User, artifact: Artifact) -> bool:
    """Read a stored file with today's readers; what older versions found stays beside it.

    True where the reader is newer than those that read the file before. Raises WrongState where
    the stored bytes are not those that were stored.
    """
    require(actor, Can.WORK if artifact.engagement_id else Can.OPERATE, artifact.engagement)
    if not artifact_store.is_intact(artifact):
        raise WrongState(_("The stored file no longer has its recorded checksum."))
    outcome = artifact_store.found_in(artifact)
    with transaction.atomic():
        before = artifact.readings.count()
        artifact_store.keep_found(artifact, outcome)
        found = artifact.readings.count() - before
        audit_log.record(actor=actor, action="artifact.read_again", target=artifact,
                         engagement=artifact.engagement, data={"new_readings": found})
    return bool(found)
