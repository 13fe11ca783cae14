"""Uploads in parts: begun, gone on with after a cut, stored once they are whole."""

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.audit_rows.secret_texts import refuse_secrets
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, MigratedModel, User
from workers.artifacts import arriving_files
from workers.models import Artifact, PendingUpload, UploadPart
from workers.services.artifacts import keep_upload

LARGEST_PART = 64 * 2**20
IN_MEMORY = 2**20


@dataclass(frozen=True)
class Part:
    """A part as it came: its bytes, how many they are, their SHA-256."""

    stream: BinaryIO
    size: int
    sha256: str


@transaction.atomic
def start_upload(*, actor: User, engagement: Engagement, name: str, size: int,
                 model: MigratedModel | None = None, note: str = "", purpose: str = ""
                 ) -> PendingUpload:
    """Announce a file that is to arrive in parts.

    Args:
        size: in bytes, of the whole file.
        purpose: as in `services.upload_artifact`.
    Raises InvalidInput above the setting RESUMABLE_UPLOAD_LIMIT_BYTES, NotAllowed.
    """
    require(actor, Can.WORK, engagement)
    if model and model.engagement_id != engagement.pk:
        raise InvalidInput(_("The model belongs to another engagement."))
    if not 0 < size <= settings.RESUMABLE_UPLOAD_LIMIT_BYTES:
        raise InvalidInput(_("A file of 1 byte to %(limit)d MB can be uploaded.") % {
            "limit": settings.RESUMABLE_UPLOAD_LIMIT_BYTES // 2**20})
    refuse_secrets(PendingUpload, {"note": note})
    upload = PendingUpload.objects.create(
        engagement=engagement, model=model, name=name[:240], note=note[:240], size=size,
        purpose=purpose, created_by=actor)
    audit_log.record(actor=actor, action="artifact.upload_start", target=upload,
                     engagement=engagement, data={"name": upload.name, "size": size})
    return upload


def append_part(*, actor: User, upload: PendingUpload, offset: int, pieces: Iterable[bytes],
                sha256: str = "") -> PendingUpload:
    """Take the next part; the last one makes an artifact of the whole, as `upload_artifact` does.

    Args:
        sha256: of the part, where its sender told it.
    Raises WrongState with `received` where the part does not begin at what has arrived,
    InvalidInput for a part above LARGEST_PART, beyond the announced size, or with another checksum.
    """
    require(actor, Can.WORK, upload.engagement)
    with _collected(pieces) as part:
        if sha256 not in ("", part.sha256):
            raise InvalidInput(_("The part arrived with another checksum than its Content-Digest: "
                                 "send it again."))
        _require_next(upload, offset, part)
        if part.size:
            upload = _stored_part(upload, offset, part)
    if upload.received == upload.size:
        _store(actor, upload)
    return upload


@contextmanager
def _collected(pieces: Iterable[bytes]) -> Iterator[Part]:
    """The part as a whole, before anything is stored: its sender may be slow."""
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as stream:
        digest = hashlib.sha256()
        for piece in pieces:
            if stream.tell() + len(piece) > LARGEST_PART:
                raise InvalidInput(_("A part has at most %(limit)d MB.") % {
                    "limit": LARGEST_PART // 2**20})
            stream.write(piece)
            digest.update(piece)
        yield Part(stream, stream.tell(), digest.hexdigest())


def _require_next(upload: PendingUpload, offset: int, part: Part) -> None:
    if offset + part.size > upload.size:
        raise InvalidInput(_("The file was announced with %(size)d bytes, and the part ends at "
                             "%(end)d.") % {"size": upload.size, "end": offset + part.size})
    if upload.received != offset or upload.artifact_id:
        raise WrongState(_("%(received)d of %(size)d bytes have arrived: go on from there.") % {
            "received": upload.received, "size": upload.size}, received=upload.received)


def _stored_part(upload: PendingUpload, offset: int, part: Part) -> PendingUpload:
    """Store the bytes, then the row. Bytes without a row are removed with the upload's others."""
    name = arriving_files.keep(upload, part.stream)
    with transaction.atomic():
        upload = _locked(upload)
        _require_next(upload, offset, part)
        UploadPart.objects.create(upload=upload, offset=offset, size=part.size,
                                  sha256=part.sha256, name=name)
        upload.received = offset + part.size
        upload.save(update_fields=["received"])
    return upload


def _locked(upload: PendingUpload) -> PendingUpload:
    return PendingUpload.objects.select_for_update(of=("self",), no_key=True).get(pk=upload.pk)


def _store(actor: User, upload: PendingUpload) -> None:
    """Make an artifact of the whole; after a crash the part that is sent again does so."""

    def settle(artifact: Artifact) -> None:
        if not PendingUpload.objects.filter(pk=upload.pk, artifact=None).update(
                artifact=artifact):
            raise WrongState(_("The file is stored already."))

    try:
        with arriving_files.whole(upload) as stream:
            upload.artifact = keep_upload(
                stream, upload.name, actor, settle, engagement=upload.engagement,
                model=upload.model, note=upload.note, purpose=upload.purpose)
    except arriving_files.Incomplete as error:
        _go_back(upload, error.offset)
        raise WrongState(_("The store no longer holds what arrived from byte %(received)d on: go "
                           "on from there.") % {"received": error.offset},
                         received=error.offset) from error
    arriving_files.remove(str(upload.pk))
    upload.parts.all().delete()


@transaction.atomic
def _go_back(upload: PendingUpload, offset: int) -> None:
    upload = _locked(upload)
    if upload.artifact_id:
        raise WrongState(_("The file is stored already."))
    upload.parts.filter(offset__gte=offset).delete()
    upload.received = offset
    upload.save(update_fields=["received"])
