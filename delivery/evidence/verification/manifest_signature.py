"""The signature over a bundle's list of checksums: whether it holds, whose it is, since when."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from asn1crypto.x509 import Certificate
from django.utils.translation import gettext as _

from delivery.acceptance.signing.seals import revocation
from delivery.acceptance.signing.seals.revocation import NO_SOURCES, RevocationSources
from delivery.evidence.archives.archive import CHECKSUMS, SIGNATURE
from delivery.evidence.verification.check_steps import CheckStep

if TYPE_CHECKING:
    from delivery.acceptance.signing.seals.seal_validation import SealFacts


@dataclass(frozen=True)
class ExpectedSigner:
    """Who should have signed.

    `fingerprints`: SHA-256 of the certificates of which any will do; None if nobody named one.
    `source`: who names them, in words.
    `stored_at`: when this very file was stored here; None if that is not known.
    """

    fingerprints: frozenset[str] | None = None
    source: str = ""
    stored_at: datetime | None = None


NOBODY_NAMED = ExpectedSigner()


def named_signer(certificates: list[Certificate]) -> ExpectedSigner:
    """One of these certificates, if there are any."""
    return ExpectedSigner(frozenset(one.sha256.hex() for one in certificates),
                          "--certificate") if certificates else NOBODY_NAMED


def manifest_steps(files: dict[str, Path], stated: dict, roots: list[Certificate],
                   expected: ExpectedSigner, sources: RevocationSources = NO_SOURCES
                   ) -> Iterator[CheckStep]:
    """Check the signature over SHA256SUMS.

    Args:
        stated: bundle.json; up to format 2 it says nothing of a signature, as there was none.
        roots: certificates that the signer's chain may end at.
        sources: what tells of revoked certificates.
    """
    from delivery.acceptance.signing.seals.seal_validation import (
        check_detached,  # imports pyHanko: slow
    )

    if expected.stored_at:
        yield CheckStep(True, _("This installation stored this very file on %(at)s.") % {
            "at": _time(expected.stored_at)})
    if SIGNATURE not in files:
        yield _unsigned(stated, expected)
        return
    found = check_detached(files[CHECKSUMS].read_bytes(), files[SIGNATURE].read_bytes(),
                           roots=roots)
    if wrong := _fault(found, stated, is_practice="PRACTICE" in files):
        yield CheckStep(False, wrong)
        return
    yield CheckStep(True, _sentence(found))
    yield _identity(found, expected)
    yield _revocation(found, roots, sources)


def _unsigned(stated: dict, expected: ExpectedSigner) -> CheckStep:
    if stated.get("signature"):
        return CheckStep(False, _("The signature %(name)s named in bundle.json is missing.")
                         % {"name": SIGNATURE})
    if expected.stored_at:
        return CheckStep(True, _("SHA256SUMS is not signed."))
    if expected.fingerprints is not None:
        return CheckStep(False, _("SHA256SUMS is not signed, and it is not the expected file "
                                  "(%(source)s).") % {"source": expected.source})
    sentence = _("checksums hold, but the manifest is not signed: whoever could write the files "
                 "could also change them")
    return CheckStep(True, sentence, is_open=True, conclusion=sentence)


def _fault(found: "SealFacts | None", stated: dict, *, is_practice: bool) -> str:
    """What is wrong with a signature; empty if it holds for this bundle."""
    if found is None:
        return _("%(name)s is not a readable signature.") % {"name": SIGNATURE}
    said = (stated.get("signature") or {}).get("certificate")
    requirements = [
        (found.is_intact, _("SHA256SUMS is not what %(who)s signed: %(name)s is not valid.")),
        (found.is_whole, _("%(name)s of %(who)s was changed after it was made.")),
        (found.is_stamp_good, _("The time stamp in %(name)s is not valid.")),
        (found.is_trusted is not False,
         _("The signature of %(who)s does not chain to a certificate that you trust.")),
        (said == found.certificate.fingerprint,
         _("SHA256SUMS is signed by %(who)s, not by the signer named in bundle.json.")),
        (is_practice or not found.certificate.is_practice,
         _("A practice certificate was used to sign real data."))]
    return next((sentence for is_met, sentence in requirements if not is_met), "") % {
        "who": found.certificate.subject, "name": SIGNATURE}


def _sentence(found: "SealFacts") -> str:
    """Who signed when, by which certificate."""
    facts = found.certificate
    return "; ".join(filter(None, [
        _("SHA256SUMS, and so every file, is signed by %(who)s") % {"who": facts.subject},
        _("time stamp %(at)s by %(who)s") % {
            "at": _time(found.stamped_at), "who": found.authority}
        if found.stamped_at else _("at %(at)s by the signer's own clock, no time stamp") % {
            "at": _time(found.signed_at) if found.signed_at else "–"},
        _("practice certificate, of no legal effect") if facts.is_practice else "",
        _("self-signed") if facts.issuer == facts.subject else
        _("certificate issued by %(who)s") % {"who": facts.issuer},
        _("certificate SHA-256 %(print)s") % {"print": facts.fingerprint}]))


def _identity(found: "SealFacts", expected: ExpectedSigner) -> CheckStep:
    """Whether the certificate is the one that was to be expected."""
    if expected.fingerprints is not None:
        if found.certificate.fingerprint in expected.fingerprints:
            return CheckStep(True, _("It is the expected certificate (%(source)s).") % {
                "source": expected.source})
        return CheckStep(False, _("Signed by somebody else: the expected certificate (%(source)s) "
                                  "has SHA-256 %(prints)s.") % {
            "source": expected.source, "prints": ", ".join(sorted(expected.fingerprints)) or "–"})
    if found.is_trusted:
        return CheckStep(True, _("Its certificate chains to one that you trust."))
    return CheckStep(
        True, _("The owner of the certificate was not checked: anybody can make one with this "
                "name. Compare its SHA-256 with what the firm tells you by another channel, or "
                "name its file with --certificate."), is_open=True,
        conclusion=_("good if the certificate SHA-256 %(print)s is the firm's, which was not "
                     "checked") % {"print": found.certificate.fingerprint})


def _revocation(found: "SealFacts", roots: list[Certificate], sources: RevocationSources
                ) -> CheckStep:
    """Whether the signer's certificate, or one above it, was revoked when it signed."""
    told = revocation.chain_finding(list(found.chain), roots, sources, found.stamped_at)
    if told.state == revocation.UNNEEDED:
        return CheckStep(True, _("Revocation: a self-signed certificate cannot be revoked; ask "
                                 "the firm whether it is still valid."))
    if told.state == revocation.REVOKED:
        return CheckStep(False, _("The certificate %(who)s was revoked on %(at)s%(before)s.") % {
            "who": told.subject, "at": _time(told.at),
            "before": "" if found.stamped_at else _(", and no time stamp proves that it signed "
                                                    "before")})
    if told.state == revocation.GOOD:
        return CheckStep(True, _("Not revoked according to what was given, as of %(at)s.") % {
            "at": _time(told.at)})
    sentence = _("whether the certificate was revoked was not checked: name revocation lists with "
                 "--crl or OCSP responses with --ocsp") if not sources else _(
        "the revocation data given does not cover %(who)s at the time of the signature") % {
            "who": told.subject}
    return CheckStep(True, sentence, is_open=True, conclusion=sentence)


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"
