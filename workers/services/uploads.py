"""Uploads in parts: begun, gone on with after a cut, stored once they are whole."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, MigratedModel, User
from workers.artifacts import arriving_files
from workers.models import Artifact, PendingUpload
from workers.services.artifacts import keep_upload

LARGEST_PART, PIECE = 64 * 2**20, 2**20


@transaction.atomic
def start_upload(*, actor: User, engagement: Engagement, name: str, size: int,
                 model: MigratedModel | None = None, note: str = "") -> PendingUpload:
    """Announce a file that is to arrive in parts.

    Args:
        size: in bytes, of the whole file.
    Raises InvalidInput above the setting RESUMABLE_UPLOAD_LIMIT_BYTES, NotAllowed.
    """
    require(actor, Can.WORK, engagement)
    if model and model.engagement_id != engagement.pk:
        raise InvalidInput(_("The model belongs to another engagement."))
    if not 0 < size <= settings.RESUMABLE_UPLOAD_LIMIT_BYTES:
        raise InvalidInput(_("A file of 1 byte to %(limit)d MB can be uploaded.") % {
            "limit": settings.RESUMABLE_UPLOAD_LIMIT_BYTES // 2**20})
    upload = PendingUpload.objects.create(
        engagement=engagement, model=model, name=name[:240], note=note[:240], size=size,
        created_by=actor)
    audit_log.record(actor=actor, action="artifact.upload_start", target=upload,
                     engagement=engagement, data={"name": upload.name, "size": size})
    return upload


def append_part(*, actor: User, upload: PendingUpload, offset: int, pieces: Iterable[bytes]
                ) -> PendingUpload:
    """Take the next part; the last one makes an artifact of the whole, as `upload_artifact` does.

    Raises WrongState with `received` where the part does not begin at what has arrived,
    InvalidInput for a part above LARGEST_PART.
    """
    require(actor, Can.WORK, upload.engagement)
    with _collected(pieces) as part, transaction.atomic():
        upload = PendingUpload.objects.select_for_update(of=("self",), no_key=True).get(
            pk=upload.pk)
        if upload.received != offset or upload.artifact_id:
            raise WrongState(_("%(received)d of %(size)d bytes have arrived: go on from there.") % {
                "received": upload.received, "size": upload.size}, received=upload.received)
        upload.received = arriving_files.write_at(
            upload, offset, iter(lambda: part.read(PIECE), b""))
        upload.save(update_fields=["received"])
    if upload.received == upload.size:
        _store(actor, upload)
    return upload


@contextmanager
def _collected(pieces: Iterable[bytes]) -> Iterator[BinaryIO]:
    """The part as a whole, before anything is locked: its sender may be slow."""
    with tempfile.SpooledTemporaryFile(PIECE) as part:
        for piece in pieces:
            if part.tell() + len(piece) > LARGEST_PART:
                raise InvalidInput(_("A part has at most %(limit)d MB.") % {
                    "limit": LARGEST_PART // 2**20})
            part.write(piece)
        part.seek(0)
        yield part


def _store(actor: User, upload: PendingUpload) -> None:
    """Make an artifact of the whole; after a crash the part that is sent again does so."""

    def settle(artifact: Artifact) -> None:
        if not PendingUpload.objects.filter(pk=upload.pk, artifact=None).update(
                artifact=artifact):
            raise WrongState(_("The file is stored already."))

    with arriving_files.path_of(upload).open("rb") as stream:
        upload.artifact = keep_upload(
            stream, upload.name, actor, settle, engagement=upload.engagement, model=upload.model,
            note=upload.note)
    arriving_files.path_of(upload).unlink(missing_ok=True)
