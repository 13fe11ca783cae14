"""Files of what was issued that cannot be made: kept until they are, and told to people."""

from django.db import IntegrityError, models, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.documents.models import FailedFile
from engagements.audit import audit_log
from engagements.errors import DeskError

MOST_ATTEMPTS = 3  # after which people are told; the sweep tries on


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
