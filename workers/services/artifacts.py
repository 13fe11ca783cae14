"""Storing uploaded files, and having stored ones read with newer readers."""

from collections.abc import Callable
from typing import BinaryIO

from django.core.files import File
from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import Engagement, MigratedModel, User
from workers.artifacts import artifact_store, provenance
from workers.artifacts.artifact_store import Incoming
from workers.models import Artifact, Job, Purpose, ReadingRequest
from workers.services.reading_requests import request_reading
from workers.signals import purpose_corrected


def upload_artifact(
    *, actor: User, engagement: Engagement, upload: File, model: MigratedModel | None = None,
    note: str = "", is_practice: bool = False, purpose: str = "",
) -> Artifact:
    """Store an uploaded file; a worker reads it by its content.

    Args:
        purpose: one of `Purpose`, of a run's output that no job made.

    Bytes are stored before the transaction begins. Raises InvalidInput for a file larger than the
    setting UPLOAD_LIMIT_BYTES.
    """
    require(actor, Can.WORK, engagement)
    artifact_store.require_uploadable(upload, engagement, model)
    return keep_upload(upload.file, upload.name, actor, engagement=engagement, model=model,
                       note=note, is_practice=is_practice, purpose=purpose)


def keep_upload(stream: BinaryIO, name: str, uploaded_by: User,
                then: Callable[[Artifact], None] = lambda artifact: None, **columns) -> Artifact:
    """Store a file and ask a worker to read it; rows and audit entry in one transaction.

    Args:
        then: called in that transaction, before the entry.
        columns: further ones of Artifact, with its engagement.
    """
    [artifact] = artifact_store.keep_bytes([Incoming(name, stream)], uploaded_by=uploaded_by,
                                           **columns)
    with transaction.atomic():
        artifact_store.store_rows([artifact])
        then(artifact)
        audit_log.record(
            actor=uploaded_by, action="artifact.upload", target=artifact,
            engagement=artifact.engagement,
            data={"sha256": artifact.sha256, "size": artifact.size})
        request_reading(artifact)
    return artifact


@transaction.atomic
def correct_purpose(*, actor: User, artifact: Artifact, purpose: str, reason: str) -> Artifact:
    """Say what a stored file was really made for: of its job, else of every upload of its bytes in
    the engagement. Verdicts that rest on it are computed anew.

    Raises InvalidInput without a reason, where nothing would change, and where a baseline rests on
    a file that is to be of the target platform.
    """
    require(actor, Can.MANAGE, artifact.engagement)
    known = provenance.of(artifact)
    if not reason.strip():
        raise InvalidInput(_("Enter the reason."))
    if not purpose or purpose == known.purpose:
        raise InvalidInput(_("The file has this purpose already."))
    before, own = known.purpose, [
        row for row in known.copies if row.engagement_id == artifact.engagement_id]
    Job.objects.filter(pk__in={row.job_id for row in own if row.job_id}).update(purpose=purpose)
    Artifact.objects.filter(pk__in=[row.pk for row in own if not row.job_id]).update(
        purpose=purpose)
    if purpose == Purpose.SOURCE:
        provenance.mark_source(artifact)
    audit_log.record(actor=actor, action="artifact.purpose", target=artifact,
                     engagement=artifact.engagement,
                     data={"before": before, "after": purpose, "reason": reason.strip()})
    artifact.refresh_from_db()
    purpose_corrected.send(sender=Artifact, artifact=artifact, actor=actor)
    return artifact


@transaction.atomic
def read_again(*, actor: User, artifact: Artifact) -> ReadingRequest:
    """Have a worker read a stored file with today's readers; what older ones found stays.

    The worker writes the audit entry; bytes that are not those that were stored are refused.
    Raises WrongState for a file that is being read.
    """
    require(actor, Can.WORK if artifact.engagement_id else Can.OPERATE, artifact.engagement)
    return request_reading(artifact, again_by=actor)
