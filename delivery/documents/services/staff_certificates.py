"""Writes about the certificates of the firm's people."""

import hashlib
from datetime import date
from pathlib import PurePosixPath

from django.conf import settings
from django.core.files import File
from django.core.files.base import ContentFile
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from delivery.documents.models import StaffCertificate
from engagements.access import require_administrator
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import User

MOST_BYTES = 10 * 2**20
STARTS = {b"%PDF-": ".pdf", b"\x89PNG\r\n\x1a\n": ".png", b"\xff\xd8\xff": ".jpg"}


@transaction.atomic
def add_certificate(
    *, actor: User, person: User, kind: str, number: str, title: str = "",
    issued_on: date | None = None, valid_until: date | None = None, file: File | None = None,
) -> StaffCertificate:
    """Record a certificate with its scan: one's own, or as an administrator anybody's.

    Raises NotAllowed for somebody else's, InvalidInput for a customer's person or a service
    account, a certificate that is recorded already, dates in the wrong order, another certificate
    without a name, or a file that is no PDF, PNG or JPEG of at most 10 MB.
    """
    _require_right(actor, person)
    _check(person, kind, title, number, issued_on, valid_until)
    row = StaffCertificate(person=person, kind=kind, title=title.strip(), number=number.strip(),
                           issued_on=issued_on, valid_until=valid_until, recorded_by=actor)
    if file:
        content, ending = _scan(file)
        row.sha256 = hashlib.sha256(content).hexdigest()
        row.file_name = f"{PurePosixPath(str(file.name)).stem[:100]}{ending}"
        row.file.save(f"{row.sha256}{ending}", ContentFile(content), save=False)
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as error:
        raise InvalidInput(_("This certificate is recorded already.")) from error
    audit_log.record(actor=actor, action="certificate.add", target=row, data={
        "person": person.username, "certificate": str(row), "number": row.number,
        "sha256": row.sha256})
    return row


@transaction.atomic
def remove_certificate(*, actor: User, certificate: StaffCertificate) -> None:
    """Take a certificate out: documents that were issued with it keep naming it."""
    _require_right(actor, certificate.person)
    StaffCertificate.objects.filter(pk=certificate.pk).delete()
    audit_log.record(actor=actor, action="certificate.remove", target=certificate, data={
        "person": certificate.person.username, "certificate": str(certificate),
        "number": certificate.number})
    if stored := certificate.file:
        transaction.on_commit(lambda: stored.storage.delete(stored.name))


def _require_right(actor: User, person: User) -> None:
    if actor != person or actor.is_reviewer:
        require_administrator(actor)


def _check(person: User, kind: str, title: str, number: str, issued_on: date | None,
           valid_until: date | None) -> None:
    if person.is_reviewer or person.is_service:
        raise InvalidInput(_("Certificates can be recorded only for the firm's own people."))
    if kind not in StaffCertificate.Kind.values:
        raise InvalidInput(_("There is no such kind of certificate."))
    if kind == StaffCertificate.Kind.OTHER and not title.strip():
        raise InvalidInput(_("Name the certificate."))
    if not number.strip():
        raise InvalidInput(_("Enter the certificate's number."))
    if issued_on and valid_until and valid_until < issued_on:
        raise InvalidInput(_("The certificate ends before it was issued; check the dates."))


def _scan(file: File) -> tuple[bytes, str]:
    """Content, and the ending that it means."""
    if file.size > min(MOST_BYTES, settings.UPLOAD_LIMIT_BYTES):
        raise InvalidInput(_("The file is larger than 10 MB."))
    content = file.read()
    ending = next((known for start, known in STARTS.items() if content.startswith(start)), "")
    if not ending:
        raise InvalidInput(_("The file is neither PDF nor PNG nor JPEG."))
    return content, ending
