"""Signs the list of checksums of a bundle with the firm's key."""

from django.utils.translation import gettext as _

from bundle_verifier.archive import SIGNATURE
from bundle_verifier.signatures.certificates import facts_of
from delivery.acceptance.signing.seals.certificate import load_own_signer
from delivery.acceptance.signing.seals.detached_signature import sign_detached


class ManifestSigner:
    """The signer of one bundle; `facts` of the certificate are None where nobody signs.

    Practice data is signed with the practice certificate; other data with the firm's key, and by
    nobody where the firm has set none.
    """

    def __init__(self, *, is_practice: bool) -> None:
        """Raises SealUnavailableError if the firm's key cannot be opened."""
        self._signer = load_own_signer(is_practice=is_practice)
        self.facts = facts_of(self._signer.signing_cert) if self._signer else None
        self._stamped_at = None

    def sign(self, checksums: bytes) -> bytes:
        """The detached signature of the list. Raises SealUnavailableError."""
        from bundle_verifier.signatures.seal_validation import (
            check_detached,  # imports pyHanko: slow
        )

        made = sign_detached(checksums, self._signer)
        self._stamped_at = check_detached(checksums, made).stamped_at
        return made

    def described(self) -> dict | None:
        """What bundle.json says of the signature."""
        return {"file": SIGNATURE, "signer": self.facts.subject,
                "certificate": self.facts.fingerprint} if self.facts else None

    def record(self) -> dict:
        """Columns of the stored bundle, once it is written."""
        return {"signer": self.facts.subject[:240], "fingerprint": self.facts.fingerprint,
                "stamped_at": self._stamped_at} if self.facts else {}

    def explanation(self) -> str:
        """For the README of the bundle, in the active language."""
        if not self.facts:
            return _("SHA256SUMS is not signed: whoever could write these files could also change "
                     "their checksums.")
        return _("%(name)s is the signature of %(who)s over SHA256SUMS, and so over every file.\n"
                 "Certificate SHA-256: %(print)s (compare it with what the firm tells you by "
                 "another channel)\n"
                 "Check the signature: openssl cms -verify -binary -inform DER -in %(name)s "
                 "-content SHA256SUMS -noverify -out /dev/null") % {
            "name": SIGNATURE, "who": self.facts.subject, "print": self.facts.fingerprint} + (
            "\n" + _("It is a practice certificate, of no legal effect.")
            if self.facts.is_practice else "")
