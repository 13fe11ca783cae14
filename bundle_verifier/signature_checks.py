"""The signatures of a review and the firm's seals, checked from a bundle's files alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bundle_verifier.archive import sha256_of
from bundle_verifier.bundle_format import scan_name
from bundle_verifier.check_steps import CheckStep
from bundle_verifier.named_files import missing_packages
from bundle_verifier.translation import gettext as _

if TYPE_CHECKING:
    from asn1crypto.x509 import Certificate

    from bundle_verifier.signatures.seal_validation import SealFacts

SEALED = ("signed", "deemed")  # forms of copies that bear the firm's seal
SIGNED_RANGE = b"/ByteRange"  # stands in every signed PDF (ISO 32000-1 12.8.1)


def signature_steps(files: dict[str, Path], review: dict, manifest: dict) -> Iterator[CheckStep]:
    """Check that every signature names this content hash, these files and an included scan."""
    start = f"documents/{manifest['document']}-V{manifest['version']}.0-"
    for row in review["signatures"]:
        issued = [(f"{start}{file['language']}.pdf", file["sha256"]) for file in row["files"]]
        scan = [(scan_name(row["scan"], row["scan_sha256"]), row["scan_sha256"])] if (
            row["scan_sha256"]) else []
        if row.get("power"):
            digest = row["power"]["sha256"]
            scan.append((scan_name(row["power"]["file"], digest), digest))
        wrong = [name for name, digest in issued + scan
                 if name not in files or sha256_of(files[name]) != digest]
        is_good = row["hash"] == manifest["content_hash"] and not wrong
        yield CheckStep(is_good, (
            _("Signature of %(name)s, %(at)s: matches "
              "this content and these files") if is_good else
            _("Signature of %(name)s, %(at)s: made for other content or other files %(wrong)s")
        ) % {"name": row["name"], "at": row["at"], "wrong": ", ".join(wrong)})


def seal_steps(files: dict[str, Path], manifest: dict, roots: "list[Certificate]"
               ) -> Iterator[CheckStep]:
    """Check that every signed copy bears a seal and every seal in the bundle is valid."""
    start = f"documents/{manifest['document']}-V{manifest['version']}.0-"
    must_bear = tuple(start + form for form in SEALED)
    missing = missing_packages()
    for name in sorted(name for name in files if name.endswith(".pdf")
                       and name.startswith("documents/")):
        content = files[name].read_bytes()
        steps = _unverified(name, content, missing) if missing else _verified(name, content, roots)
        if not steps and name.startswith(must_bear):
            yield CheckStep(False, _("%(name)s carries no readable seal.") % {"name": name})
        yield from steps


def _verified(name: str, content: bytes, roots: "list[Certificate]") -> list[CheckStep]:
    from bundle_verifier.signatures.seal_validation import check_seals

    return [CheckStep(seal.is_good, f"{name}: {_sentence(seal)}")
            for seal in check_seals(content, roots=roots)]


def _unverified(name: str, content: bytes, missing: str) -> list[CheckStep]:
    """Without the packages that verify it, a seal is only seen."""
    return [CheckStep(True, _("%(name)s: its seal was not checked: the Python packages "
                              "%(packages)s are not installed") % {
        "name": name, "packages": missing}, is_open=True)] if SIGNED_RANGE in content else []


def _sentence(seal: "SealFacts") -> str:
    """Sentence with the seal's kind and whether it is valid."""
    if not (seal.is_intact and seal.is_whole):
        return _("the seal is broken, the file was changed after it was sealed")
    if not seal.is_stamp_good:
        return _("the time stamp of the seal is not valid")
    if seal.is_trusted is False:
        return _("the seal of %(who)s does not chain to a certificate that you trust") % {
            "who": seal.certificate.subject}
    return "; ".join(filter(None, [
        _("seal of %(who)s is valid for the whole file") % {"who": seal.certificate.subject},
        _("time stamp %(at)s by %(who)s") % {
            "at": f"{seal.stamped_at:%Y-%m-%dT%H:%M:%SZ}", "who": seal.authority}
        if seal.stamped_at else _("no time stamp"),
        f"PAdES {seal.level}",
        _("practice certificate, of no legal effect") if seal.certificate.is_practice else "",
        "" if seal.is_trusted else _("issuer not checked (--trust names a certificate)"),
        _("certificate SHA-256 %(print)s") % {"print": seal.certificate.fingerprint}]))
