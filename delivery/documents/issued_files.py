"""Reading the stored files of what was issued."""

from hashlib import sha256

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _

from delivery.documents.bilingual import instant
from delivery.documents.models import FailedFile
from engagements.errors import DeskError


class FileNotReady(DeskError):
    """The file is being made; trying again soon is right."""

    code = "file_not_ready"
    status = 409
    retry_after_seconds = 10


class FileFailed(DeskError):
    """The file could not be made; it is tried again, but waiting alone may not help."""

    code = "file_failed"
    status = 409


class FileDamaged(DeskError):
    """The stored bytes are missing, or are not those that were stored."""

    code = "file_damaged"
    status = 500


def stored_content(row: Model, files: QuerySet, language: str, form: str) -> bytes:
    """The bytes of one of the files of an issued row, checked against their checksum.

    Raises FileNotReady until they are stored, FileFailed with the cause where they could not be
    made so far, FileDamaged if they are no longer what was stored.
    """
    entry = files.filter(language=language, format=form).first()
    if entry is None:
        raise _missing(row, language, form)
    try:
        with entry.file.open("rb") as stream:
            content = stream.read()
    except OSError:
        content = b""
    if sha256(content).hexdigest() != entry.sha256:
        raise FileDamaged(_("The file %(name)s is missing or its checksum differs.")
                          % {"name": entry.download_name})
    return content


def _missing(row: Model, language: str, form: str) -> DeskError:
    failed = FailedFile.objects.of(row).filter(language=language, format=form).first()
    if failed is None:
        return FileNotReady(_("The file is being generated. Try again in a few seconds."))
    return FileFailed(_("The file cannot be generated: %(why)s Attempts since %(since)s: %(n)d; "
                        "it will be retried.") % {
        "why": failed.error, "n": failed.attempts, "since": instant(failed.since)})
