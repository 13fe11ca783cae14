"""The terms that a signer accepts first, and what kind of signature it is (DOMAIN 9.13)."""

import hashlib

from django.utils.translation import gettext as _

from delivery.documents.bilingual import both

VERSION = "2026-12"


def paragraphs() -> list[str]:
    """The terms in the active language, paragraph by paragraph."""
    return [
        _("I sign for the party that I name, and I am authorised to do so."),
        _("I sign the document and the decision shown on this page, with its conditions, open "
          "comments and what is missing, under the one hash (SHA-256) that is shown beside the "
          "button. Every later change needs a new version and a new signature."),
        _("I am identified by my personal account and by a one-time code sent to the e-mail "
          "address of that account. Name, capacity, time, IP address, browser and the checksums "
          "are recorded in a log in which later changes can be found, and printed in the signed "
          "copy."),
        _("This is a simple electronic signature. It is not by itself a reliable electronic "
          "signature in the sense of articles 13 and 14 of the Electronic Signature Law of the "
          "PRC, since no licensed certification provider took part. Where the contract asks for "
          "more, the printed originals are signed and sealed as well, or the method agreed in the "
          "contract is used."),
    ]


def digest() -> str:
    """SHA-256 over version and text in both languages: what exactly was accepted."""
    texts = both(lambda: "\n".join(paragraphs()))
    joined = "\n".join([VERSION, *(texts[code] for code in sorted(texts))])
    return hashlib.sha256(joined.encode()).hexdigest()
