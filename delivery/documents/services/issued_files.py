"""Storing the files of what was issued: rendered once, kept with their checksum."""

import logging
from collections.abc import Callable, Mapping
from hashlib import sha256
from itertools import product

from django.core.files.base import ContentFile
from django.db import IntegrityError, models, transaction

from delivery.documents.bilingual import LANGUAGES
from delivery.documents.models import IssuedFile
from delivery.documents.services.failed_files import forget_failure, note_failure
from engagements.audit import audit_log

Renderers = Mapping[str, Callable[[models.Model, str], bytes]]  # by format: row, language → bytes
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

    A file that cannot be made is noted (see `failed_files`) and does not keep the others from
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
