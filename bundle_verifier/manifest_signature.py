"""The signature over a bundle's list of checksums: whether it holds, whose it is, since when."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from bundle_verifier.archive import CHECKSUMS, SIGNATURE
from bundle_verifier.check_steps import CheckStep
from bundle_verifier.named_files import fingerprints, missing_packages
from bundle_verifier.translation import gettext as _

if TYPE_CHECKING:
    from asn1crypto.x509 import Certificate

    from bundle_verifier.signatures.revocation import RevocationSources
    from bundle_verifier.signatures.seal_validation import SealFacts


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


def named_signer(files: list[str]) -> ExpectedSigner:
    """One of the certificates in these files, if there are any. Raises UnreadableFile."""
    return ExpectedSigner(fingerprints(files), "--certificate") if files else NOBODY_NAMED


def load_trust(roots: list[str], lists: list[str], answers: list[str]
               ) -> "tuple[list[Certificate], RevocationSources | None]":
    """Certificates that chains may end at, and what tells of revoked ones.

    Nothing of both where the packages that read them are missing: no signature is checked then.
    Raises UnreadableFile.
    """
    if missing_packages():
        return [], None
    from bundle_verifier.signatures.certificates import read_certificates
    from bundle_verifier.signatures.revocation import load_sources

    return read_certificates(roots), load_sources(lists, answers)


def manifest_steps(files: dict[str, Path], manifest: dict, roots: "list[Certificate]",
                   expected: ExpectedSigner, sources: "RevocationSources | None" = None
                   ) -> Iterator[CheckStep]:
    """Check the signature over SHA256SUMS.

    Args:
        stated: bundle.json; up to format 2 it says nothing of a signature, as there was none.
        roots: certificates that the signer's chain may end at.
        sources: what tells of revoked certificates.
    """
    if expected.stored_at:
        yield CheckStep(True, _("This installation stored this very file on %(at)s.") % {
            "at": _time(expected.stored_at)})
    if SIGNATURE not in files:
        yield _unsigned(manifest, expected)
        return
    if missing := missing_packages():
        yield _unverified(files, manifest, expected, missing)
        return
    from bundle_verifier.signatures.seal_validation import check_detached

    found = check_detached(files[CHECKSUMS].read_bytes(), files[SIGNATURE].read_bytes(),
                           roots=roots)
    if wrong := _fault(found, manifest, is_practice="PRACTICE" in files):
        yield CheckStep(False, wrong)
        return
    yield CheckStep(True, _sentence(found))
    yield _identity(found, expected)
    yield _revocation(found, roots, sources)


def _unsigned(manifest: dict, expected: ExpectedSigner) -> CheckStep:
    if manifest.get("signature"):
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


def _unverified(files: dict[str, Path], manifest: dict, expected: ExpectedSigner, missing: str
                ) -> CheckStep:
    """What can be said of a signature without verifying it: its digest, and whose it claims to be.

    The signature encloses the SHA-256 of what it signs as plain bytes (RFC 5652 11.2).
    """
    if sha256(files[CHECKSUMS].read_bytes()).digest() not in files[SIGNATURE].read_bytes():
        return CheckStep(False, _("%(name)s does not sign this SHA256SUMS.") % {"name": SIGNATURE})
    claimed = (manifest.get("signature") or {}).get("certificate")
    if expected.fingerprints is not None and claimed not in expected.fingerprints:
        return _another_signer(expected)
    sentence = _("whether the signature %(name)s is valid was not checked: the Python packages "
                 "%(packages)s are not installed") % {"name": SIGNATURE, "packages": missing}
    return CheckStep(True, sentence, is_open=True, conclusion=sentence)


def _fault(found: "SealFacts | None", manifest: dict, *, is_practice: bool) -> str:
    """What is wrong with a signature; empty if it holds for this bundle."""
    if found is None:
        return _("%(name)s is not a readable signature.") % {"name": SIGNATURE}
    named = (manifest.get("signature") or {}).get("certificate")
    requirements = [
        (found.is_intact, _("SHA256SUMS is not what %(who)s signed: %(name)s is not valid.")),
        (found.is_whole, _("%(name)s of %(who)s was changed after it was made.")),
        (found.is_stamp_good, _("The time stamp in %(name)s is not valid.")),
        (found.is_trusted is not False,
         _("The signature of %(who)s does not chain to a certificate that you trust.")),
        (named == found.certificate.fingerprint,
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
        return _another_signer(expected)
    if found.is_trusted:
        return CheckStep(True, _("Its certificate chains to one that you trust."))
    return CheckStep(
        True, _("The owner of the certificate was not checked: anybody can make one with this "
                "name. Compare its SHA-256 with what the firm tells you by another channel, or "
                "name its file with --certificate."), is_open=True,
        conclusion=_("good if the certificate SHA-256 %(print)s is the firm's, which was not "
                     "checked") % {"print": found.certificate.fingerprint})


def _another_signer(expected: ExpectedSigner) -> CheckStep:
    return CheckStep(False, _("Signed by somebody else: the expected certificate (%(source)s) "
                              "has SHA-256 %(prints)s.") % {
        "source": expected.source, "prints": ", ".join(sorted(expected.fingerprints)) or "–"})


def _revocation(found: "SealFacts", roots: "list[Certificate]",
                sources: "RevocationSources | None") -> CheckStep:
    """Whether the signer's certificate, or one above it, was revoked when it signed."""
    from bundle_verifier.signatures import revocation

    finding = revocation.chain_finding(list(found.chain), roots,
                                       sources or revocation.RevocationSources(), found.stamped_at)
    if finding.state == revocation.UNNEEDED:
        return CheckStep(True, _("Revocation: a self-signed certificate cannot be revoked; ask "
                                 "the firm whether it is still valid."))
    if finding.state == revocation.REVOKED:
        return CheckStep(False, _("The certificate %(who)s was revoked on %(at)s%(before)s.") % {
            "who": finding.subject, "at": _time(finding.at),
            "before": "" if found.stamped_at else _(", and no time stamp proves that it signed "
                                                    "before")})
    if finding.state == revocation.GOOD:
        return CheckStep(True, _("Not revoked according to what was given, as of %(at)s.") % {
            "at": _time(finding.at)})
    sentence = _("whether the certificate was revoked was not checked: name revocation lists with "
                 "--crl or OCSP responses with --ocsp") if not sources else _(
        "the revocation data given does not cover %(who)s at the time of the signature") % {
            "who": finding.subject}
    return CheckStep(True, sentence, is_open=True, conclusion=sentence)


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"
