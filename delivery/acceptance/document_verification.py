"""Public check that a document is one that was issued, by its number and a SHA-256."""

from dataclasses import dataclass
from urllib.parse import urlencode

import segno
from django.conf import settings
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext_lazy as _

from delivery.reports.models import Document
from engagements.web.address_limit import count_request

MAX_REQUESTS_PER_MINUTE = 12
SHA256 = "^[0-9A-Fa-f]{64}$"
NOT_SHA256 = _("Enter a SHA-256: 64 hexadecimal digits.")
NOBODY = "0" * 64


@dataclass(frozen=True)
class VerifiedDocument:
    """What a visitor sees: number, version, whether replaced or signed and what was decided,
    whether practice data."""

    number: str
    version: int
    is_replaced: bool
    is_signed: bool
    is_practice: bool
    decision: str = ""
    decision_label: str = ""


def verify_document(number: str, digest: str) -> VerifiedDocument | None:
    """The issued version whose content or one of whose files has this SHA-256; else None.

    An unknown number and a wrong checksum differ neither in the answer nor in the time it takes.
    """
    documents = list(Document.objects.exclude(number="").filter(number=number.strip())
                     .select_related("review").prefetch_related("files"))
    digest, found = digest.strip().lower(), None
    for document in documents or [None]:
        known = [document.content_hash, *(file.sha256 for file in document.files.all())
                 ] if document else []
        hits = [constant_time_compare(digest, one or NOBODY) for one in known or [NOBODY]]
        if digest != NOBODY and any(hits):
            found = document
    review = found and found.is_concluded and found.decided_review
    return found and VerifiedDocument(
        decision=review.decision if review else "",
        decision_label=review.get_decision_display() if review else "",
        number=found.number, version=found.version,
        is_replaced=found.state not in (Document.State.ISSUED, Document.State.SIGNED),
        is_signed=found.state == Document.State.SIGNED, is_practice=found.is_practice)


def is_within_rate_limit(address: str) -> bool:
    """Count a request of this address; False above the limit. True while the cache is down."""
    return count_request("verification", address, 60) <= MAX_REQUESTS_PER_MINUTE


def verification_url(number: str, content_hash: str, portal_url: str = "") -> str:
    """The address behind the code on the cover.

    Args:
        portal_url: where the portal was when the document was issued; now, if empty.
    """
    query = urlencode({"number": number, "hash": content_hash})
    base = (portal_url or settings.PUBLIC_URL).rstrip("/")
    return f"{base}{reverse('acceptance:verify')}?{query}"


def verification_code(number: str, content_hash: str, portal_url: str = "") -> str:
    """The QR code of that address as a data: URI of an SVG (segno 1.6, error level M)."""
    code = segno.make(verification_url(number, content_hash, portal_url), error="m", micro=False)
    return code.svg_data_uri(scale=3, border=2, dark="#1b2330")
