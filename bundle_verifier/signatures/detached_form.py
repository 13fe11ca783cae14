"""The one encoding of a detached CMS signature, its chain and its time stamps."""

from collections.abc import Iterable

from asn1crypto import cms, x509
from asn1crypto.core import Asn1Value
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.x509 import InvalidVersion, load_der_x509_certificate


def normal_form(found: cms.ContentInfo, roots: Iterable[x509.Certificate] = ()) -> bytes:
    """DER of a signature, made anew from what a check of it covers.

    Versions and algorithms are written in one way; of the certificates the chains are kept that
    end at a root, else the signer's own: a signature whose bytes differ from its normal form was
    not made here, or was changed. What is no signature raises errors of many classes.

    Args:
        roots: where chains may end that do not enclose their root.
    """
    [info] = found["content"]["signer_infos"]
    stamps = [_rebuilt(token, "v3", roots) for token in stamp_tokens(info)]
    return _rebuilt(found, "v1", roots, {"unsigned_attrs": [
        {"type": "signature_time_stamp_token", "values": stamps}]} if stamps else None).dump()


def _rebuilt(found: cms.ContentInfo, version: str, roots: Iterable[x509.Certificate],
             more: dict | None = None) -> cms.ContentInfo:
    """A signature with one signer. `version`: by RFC 5652 5.1; v3 for other content than data."""
    data = found["content"]
    [info] = data["signer_infos"]
    digest = {"algorithm": info["digest_algorithm"]["algorithm"].native}
    chain = _chain(data, info, roots)
    return cms.ContentInfo({"content_type": "signed_data", "content": {
        "version": version, "digest_algorithms": [digest],
        "encap_content_info": _copied(data["encap_content_info"]),
        "certificates": [_certificate(one) for one in chain], "signer_infos": [{
            "version": "v1", "sid": cms.SignerIdentifier("issuer_and_serial_number", {
                "issuer": chain[0].issuer, "serial_number": chain[0].serial_number}),
            "digest_algorithm": digest,
            "signed_attrs": _copied(info["signed_attrs"]),
            "signature_algorithm": _algorithm(info["signature_algorithm"], digest["algorithm"]),
            "signature": info["signature"].native, **(more or {})}]}})


def signer_chain(found: cms.ContentInfo, roots: Iterable[x509.Certificate] = ()
                 ) -> list[x509.Certificate]:
    """The signer's certificate first, then its issuers as far as they are enclosed or known."""
    [info] = found["content"]["signer_infos"]
    return _chain(found["content"], info, roots)


def _certificate(certificate: x509.Certificate) -> x509.Certificate:
    """The certificate, the bits of its signature counted anew: its issuer did not sign them."""
    return x509.Certificate({
        "tbs_certificate": certificate["tbs_certificate"],
        "signature_algorithm": certificate["signature_algorithm"],
        "signature_value": certificate["signature_value"].native})


def _copied(value: Asn1Value) -> Asn1Value:
    """The same value, its encoding made anew."""
    return type(value).load(value.untag().dump(force=True), strict=True)


def stamp_tokens(info: cms.SignerInfo) -> list[cms.ContentInfo]:
    """Time stamps over a signature (RFC 3161, unsigned attribute)."""
    return [token for attribute in info["unsigned_attrs"] or ()
            if attribute["type"].native == "signature_time_stamp_token"
            for token in attribute["values"]]


def _algorithm(found: cms.SignedDigestAlgorithm, digest: str) -> cms.SignedDigestAlgorithm:
    """In one spelling, and without what nobody reads: only RSASSA-PSS has parameters that count."""
    name = found["algorithm"].native
    if name == "rsassa_pss":
        return found
    return cms.SignedDigestAlgorithm(
        {"algorithm": f"{digest}_rsa" if name == "rsassa_pkcs1v15" else name})


def _chain(data: cms.SignedData, info: cms.SignerInfo, roots: Iterable[x509.Certificate]
           ) -> list[x509.Certificate]:
    """From the signer's certificate to the root; the signer's alone where no root is known."""
    pool = [choice.chosen for choice in data["certificates"]]
    chain = [next(certificate for certificate in pool if _is_of(info["sid"], certificate))]
    # Whose key signed the last one: itself if it is a root.
    while issuer := next((one for one in [*pool, *roots] if _has_issued(one, chain[-1])), None):
        if issuer in chain:
            return chain
        chain.append(issuer)
    return chain[:1]


def _is_of(sid: cms.SignerIdentifier, certificate: x509.Certificate) -> bool:
    if sid.name != "issuer_and_serial_number":
        return certificate.key_identifier == sid.native
    return (certificate.issuer == sid.chosen["issuer"]
            and certificate.serial_number == sid.chosen["serial_number"].native)


def _has_issued(issuer: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        load_der_x509_certificate(certificate.dump()).verify_directly_issued_by(
            load_der_x509_certificate(issuer.dump()))
    except (ValueError, TypeError, InvalidSignature, InvalidVersion, UnsupportedAlgorithm):
        return False
    return True
