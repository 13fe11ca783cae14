"""Reading the stored files of what was issued."""

from hashlib import sha256

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from engagements.errors import DeskError


class FileNotReady(DeskError):
    """The file is being made; trying again soon is right."""

    code = "file_not_ready"
    status = 409
    retry_after_seconds = 10


class FileDamaged(DeskError):
    """The stored bytes are missing, or are not those that were stored."""

    code = "file_damaged"
    status = 500


def stored_content(files: QuerySet, language: str, form: str) -> bytes:
    """The bytes of one of the files, checked against their checksum.

    Raises FileNotReady until they are stored, FileDamaged if they are no longer what was stored.
    """
    entry = files.filter(language=language, format=form).first()
    if entry is None:
        raise FileNotReady(_("The file is being made. Try again in a few seconds."))
    try:
        with entry.file.open("rb") as stream:
            content = stream.read()
    except OSError:
        content = b""
    if sha256(content).hexdigest() != entry.sha256:
        raise FileDamaged(_("The file %(name)s is missing or its checksum differs.")
                          % {"name": entry.download_name})
    return content
