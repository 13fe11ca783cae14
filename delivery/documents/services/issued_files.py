"""Storing the files of what was issued: rendered once, kept with their checksum. What cannot be
made is kept as a failure until it is, and told to people."""

import logging
from collections.abc import Callable, Mapping
from hashlib import sha256
from itertools import product

from django.core.files.base import ContentFile
from django.db import IntegrityError, models, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.documents.bilingual import LANGUAGES
from delivery.documents.models import FailedFile, IssuedFile
from engagements.audit import audit_log
from engagements.errors import DeskError

Renderers = Mapping[str, Callable[[models.Model, str], bytes]]  # by format: row, language → bytes
MOST_ATTEMPTS = 3  # after which people are told; the sweep tries on
logger = logging.getLogger(__name__)


def store_content(entry: IssuedFile, content: bytes, *, action: str, target: models.Model) -> None:
    """Keep rendered bytes with size and checksum: file, row and audit entry.

    Args:
        entry: not saved yet; says what it belongs to, its language and its format.
        target: the row of an engagement that the audit entry is about.

    Raises IntegrityError if they are stored already; no file is left behind then.
    """
    entry.size, entry.sha256 = len(content), sha256(content).hexdigest()
    entry.file.save(entry.download_name, ContentFile(content), save=False)
    try:
        with transaction.atomic():
            entry.save()
            audit_log.record(actor=None, action=action, target=target,
                             engagement=target.engagement,
                             data={"language": entry.language, "format": entry.format,
                                   "sha256": entry.sha256})
    except Exception:
        entry.file.storage.delete(entry.file.name)
        raise


def store_missing(row: models.Model, renderers: Renderers, *, action: str, **edition) -> int:
    """Render and store each language and format that the `files` of an issued row lack.

    A file that cannot be made is noted (see `note_failure`) and does not keep the others from
    being made.

    Args:
        edition: values of the files' own columns that tell editions of one row apart.
    Returns:
        the number of files that this call stored.
    """
    stored = set(row.files.filter(**edition).values_list("language", "format"))
    wanted = [key for key in product(LANGUAGES, renderers) if key not in stored]
    return sum(_is_stored(row, language, form, renderers[form], action, edition)
               for language, form in wanted)


def _is_stored(row: models.Model, language: str, form: str, render: Callable, action: str,
               edition: dict) -> bool:
    """Whether this call stored the file; False as well if another worker was quicker."""
    try:
        content = render(row, language)
        entry = row.files.model(**{row.files.field.name: row}, language=language, format=form,
                                **edition)
        store_content(entry, content, action=action, target=row)
    except IntegrityError:
        return False
    except Exception as error:
        logger.exception("%s: the file %s %s could not be made", row, language, form)
        note_failure(row, language, form, error)
        return False
    forget_failure(row, language, form)
    return True


@transaction.atomic
def note_failure(row: models.Model, language: str, form: str, error: Exception) -> None:
    """Keep that a file could not be made, and why; the third time in a row is a notice."""
    now, sentence = timezone.now(), _sentence(error)
    place = {"language": language, "format": form}
    if not FailedFile.objects.of(row).filter(**place).update(
            attempts=F("attempts") + 1, error=sentence, tried_at=now):
        try:
            with transaction.atomic():
                FailedFile.objects.create(
                    target_type=row._meta.label_lower, target_id=row.pk, attempts=1,
                    error=sentence, since=now, tried_at=now, **place)
        except IntegrityError:  # another worker failed at the same moment
            return
    if FailedFile.objects.of(row).filter(attempts=MOST_ATTEMPTS, **place).exists():
        note_final_failure(row, language, form, sentence)


def note_final_failure(row: models.Model, language: str, form: str, sentence: str) -> None:
    """The audit entry, of which a notice is made."""
    audit_log.record(actor=None, action="issued_file.fail", target=row, engagement=row.engagement,
                     data={"language": language, "format": form, "error": sentence[:400]})


def forget_failure(row: models.Model, language: str, form: str) -> None:
    """The file is there."""
    FailedFile.objects.of(row).filter(language=language, format=form).delete()


def _sentence(error: Exception) -> str:
    if isinstance(error, DeskError):
        return error.message[:400]
    return _("The file could not be generated (%(type)s); see the worker's log.") % {
        "type": type(error).__name__}
