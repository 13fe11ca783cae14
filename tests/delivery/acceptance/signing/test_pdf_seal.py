"""The firm's seal: PAdES by pyHanko, checked by its validator and by poppler's pdfsig."""

import asyncio
import io
import shutil
import subprocess
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko_certvalidator import ValidationContext

from bundle_verifier.signatures.seal_validation import check_seals
from delivery.acceptance.signing.seals import practice_certificate
from delivery.acceptance.signing.seals.certificate import load_signer
from delivery.acceptance.signing.seals.pdf_seal import seal
from delivery.acceptance.signing.seals.unavailable import SealUnavailableError
from tests.delivery.review_steps import SHORT


@pytest.fixture(scope="session")
def firm_p12() -> bytes:
    return practice_certificate.make_pkcs12(
        b"firm", name="昇腾迁移交付有限公司", key_bits=2048)


@pytest.fixture
def firm(settings, tmp_path, firm_p12):
    """The firm's own key, as a PKCS#12 file."""
    path = tmp_path / "firm.p12"
    path.write_bytes(firm_p12)
    settings.SIGNING_KEY, settings.SIGNING_KEY_PASSWORD = str(path), "firm"
    return path


@pytest.fixture
def sealed() -> bytes:
    return seal(SHORT, reason="FA-EP2501-001")


def test_a_seal_covers_the_whole_file_and_says_that_it_is_practice(sealed):
    [found] = check_seals(sealed)
    assert (found.is_intact, found.is_whole, found.is_trusted) == (True, True, None)
    assert found.certificate.is_practice
    assert found.certificate.subject.startswith("PRACTICE 演练证书")
    assert "PRACTICE" in PdfFileReader(io.BytesIO(sealed)).embedded_signatures[0].sig_object[
        "/Reason"]


def test_pyhanko_calls_it_valid_down_to_the_bottom_line(sealed):
    roots = ValidationContext(trust_roots=[load_signer().signing_cert], allow_fetching=False)
    [signature] = PdfFileReader(io.BytesIO(sealed)).embedded_signatures
    status = validate_pdf_signature(signature, signer_validation_context=roots)
    assert status.bottom_line
    assert status.docmdp_ok
    assert str(signature.sig_object["/SubFilter"]) == "/ETSI.CAdES.detached"


@pytest.mark.skipif(not shutil.which("pdfsig"), reason="poppler-utils is not installed")
def test_pdfsig_calls_it_valid(sealed, tmp_path):
    path = tmp_path / "sealed.pdf"
    for content, words in ((sealed, ["Signature is Valid", "Total document signed"]),
                           (flipped(sealed), ["Digest Mismatch"])):
        path.write_bytes(content)
        report = subprocess.run(["pdfsig", path], capture_output=True, text=True, check=False)
        assert all(word in report.stdout for word in words), report.stdout


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
def test_openssl_verifies_the_signed_message_over_the_covered_bytes(sealed, tmp_path):
    """CMS (RFC 5652) by another implementation; the issuer is not its business here."""
    [signature] = PdfFileReader(io.BytesIO(sealed)).embedded_signatures
    start, length, rest, tail = signature.byte_range
    (tmp_path / "cms.der").write_bytes(signature.pkcs7_content)
    for content, status in ((sealed, 0), (flipped(sealed), 4)):
        (tmp_path / "covered").write_bytes(
            content[start:start + length] + content[rest:rest + tail])
        done = subprocess.run(
            ["openssl", "cms", "-verify", "-noverify", "-binary", "-inform", "DER", "-in",
             tmp_path / "cms.der", "-content", tmp_path / "covered", "-out", tmp_path / "out"],
            capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr


def flipped(content: bytes) -> bytes:
    place = content.index(b"595")
    return content[:place] + b"594" + content[place + 3:]


def test_a_changed_byte_breaks_it(sealed):
    [found] = check_seals(flipped(sealed))
    assert (found.is_intact, found.is_good) == (False, False)


def test_something_added_after_it_breaks_it(sealed):
    writer = IncrementalPdfFileWriter(io.BytesIO(sealed))
    writer.root["/Lang"] = generic.pdf_string("xx")
    writer.update_root()
    out = io.BytesIO()
    writer.write(out)
    [found] = check_seals(out.getvalue())
    assert (found.is_intact, found.is_whole, found.is_good) == (True, False, False)


def test_a_running_event_loop_is_no_obstacle():
    async def both() -> bool:
        return check_seals(seal(SHORT, reason="x"))[0].is_good

    assert asyncio.run(both())


def test_another_root_is_not_trusted(sealed, firm):
    [found] = check_seals(sealed, roots=[load_signer().signing_cert])
    assert (found.is_intact, found.is_trusted, found.is_good) == (True, False, False)


@pytest.mark.parametrize("content", [b"", b"no pdf", b"%PDF-1.7 cut", SHORT])
def test_no_seal_no_facts(content):
    assert check_seals(content) == []


def test_the_firms_key_seals_but_never_practice_data(firm):
    [real] = check_seals(seal(SHORT, reason="x"))
    assert not real.certificate.is_practice
    [practised] = check_seals(seal(SHORT, reason="x", is_practice=True))
    assert practised.certificate.is_practice


def test_a_pem_key_must_be_encrypted(settings, tmp_path, firm_p12):
    key, certificate, _more = pkcs12.load_key_and_certificates(firm_p12, b"firm")
    (tmp_path / "cert.pem").write_bytes(certificate.public_bytes(Encoding.PEM))
    settings.SIGNING_CERTIFICATE = str(tmp_path / "cert.pem")
    settings.SIGNING_KEY, settings.SIGNING_KEY_PASSWORD = str(tmp_path / "key.pem"), "secret"
    for password, opens in ((None, False), (b"other", False), (b"secret", True)):
        guard = BestAvailableEncryption(password) if password else NoEncryption()
        (tmp_path / "key.pem").write_bytes(
            key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, guard))
        if opens:
            assert check_seals(seal(SHORT, reason="x"))[0].is_good
        else:
            with pytest.raises(SealUnavailableError):
                seal(SHORT, reason="x")


def test_a_missing_key_is_named(settings):
    settings.SIGNING_KEY, settings.SIGNING_KEY_PASSWORD = "/nowhere/key.p12", "x"
    with pytest.raises(SealUnavailableError, match="/nowhere/key"):
        load_signer()


@pytest.mark.slow
def test_an_expired_certificate_seals_nothing(settings, tmp_path):
    old = datetime(2010, 1, 1, tzinfo=UTC)
    (tmp_path / "old.p12").write_bytes(practice_certificate.make_pkcs12(b"x", now=old, name="Old"))
    settings.SIGNING_KEY, settings.SIGNING_KEY_PASSWORD = str(tmp_path / "old.p12"), "x"
    with pytest.raises(SealUnavailableError, match="2019-12-30"):
        load_signer()


def test_the_practice_certificate_is_made_once_and_guarded(settings, tmp_path):
    settings.VAR_DIR = tmp_path / "fresh"
    path, password = practice_certificate.practice_certificate()
    first = path.read_bytes()
    assert practice_certificate.practice_certificate() == (path, password)
    assert path.read_bytes() == first
    assert {p.stat().st_mode & 0o777 for p in path.parent.iterdir()} == {0o600}
