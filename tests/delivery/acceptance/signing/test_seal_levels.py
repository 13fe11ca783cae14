"""PAdES B-T and B-LT: time stamps, revocation information, checks by others than ourselves."""

import io
import shutil
import subprocess
from datetime import UTC, datetime
from io import StringIO

import pytest
from asn1crypto import pem, x509
from cryptography.hazmat.primitives.serialization import Encoding
from django.core.management import call_command
from django.core.management.base import CommandError
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import validate_pdf_signature
from pyhanko.sign.validation.dss import DocumentSecurityStore
from pyhanko_certvalidator import ValidationContext

from bundle_verifier.signatures.seal_validation import check_seals
from delivery.acceptance.services import complete_signed_copies
from delivery.acceptance.signing.seals.certificate import trust_roots
from delivery.acceptance.signing.seals.pdf_seal import seal
from delivery.acceptance.signing.seals.unavailable import SealUnavailableError
from tests.delivery.acceptance.signing.local_authorities import Certifier, answering
from tests.delivery.review_steps import SHORT


@pytest.fixture
def certifier(settings, tmp_path, monkeypatch):
    """The firm's certificate and a time stamp authority under one root; lists are on a server."""
    monkeypatch.setenv("SSL_CERT_FILE", "/dev/null")  # reading the system's roots takes longest
    made = None

    def revocations() -> bytes:  # the certificate names the server that the certifier answers on
        return made.revocations()

    with answering(crl=revocations) as url:
        made = Certifier(tmp_path, list_url=url)
        settings.SIGNING_KEY = str(tmp_path / "firm.p12")
        settings.SIGNING_KEY_PASSWORD = "test"
        yield made


@pytest.fixture
def authority(settings, certifier):
    with answering(certifier.stamper()) as url:
        settings.SIGNING_TIMESTAMP_URL = url
        yield certifier


@pytest.fixture
def long_term(settings, authority):
    settings.SIGNING_ROOTS = [str(authority.root_file)]
    return authority


def roots_of(certifier) -> list[x509.Certificate]:
    return trust_roots([str(certifier.root_file)])


def test_without_authority_it_is_b_b(certifier):
    [found] = check_seals(seal(SHORT, reason="x"), roots=roots_of(certifier))
    assert (found.level, found.is_trusted, found.is_good) == ("B-B", True, True)


def test_a_time_stamp_makes_it_b_t(authority):
    before = datetime.now(UTC).replace(microsecond=0)
    [found] = check_seals(seal(SHORT, reason="x"), roots=roots_of(authority))
    assert (found.level, found.is_good, found.authority) == ("B-T", True, "Test Time Stamps")
    assert before <= found.stamped_at <= datetime.now(UTC)


@pytest.mark.slow
def test_with_roots_it_holds_what_a_check_in_years_needs(long_term):
    content = seal(SHORT, reason="x")
    [found] = check_seals(content, roots=roots_of(long_term))
    assert (found.level, found.is_whole, found.is_good) == ("B-LT", True, True)
    store = DocumentSecurityStore.read_dss(PdfFileReader(io.BytesIO(content)))
    held = {c.subject.native["common_name"] for c in store.load_certs()}
    assert {"昇腾迁移交付有限公司", "Test Time Stamps", "Test Root"} <= held
    assert store.crls


@pytest.mark.slow
def test_pyhanko_itself_accepts_it_off_line_with_revocation_required(long_term):
    reader = PdfFileReader(io.BytesIO(seal(SHORT, reason="x")))
    known = {"trust_roots": roots_of(long_term), "allow_fetching": False,
             "revocation_mode": "require", "crls": [], "ocsps": []}
    store = DocumentSecurityStore.read_dss(reader)
    status = validate_pdf_signature(
        reader.embedded_signatures[0], store.as_validation_context(known),
        ts_validation_context=store.as_validation_context(known))
    assert (status.bottom_line, status.timestamp_validity.trusted) == (True, True)
    without = validate_pdf_signature(reader.embedded_signatures[0], ValidationContext(**known))
    assert not without.bottom_line  # it is the embedded information that makes it hold


@pytest.mark.skipif(not shutil.which("pdfsig"), reason="poppler-utils is not installed")
def test_pdfsig_calls_it_valid_and_names_the_signer(long_term, tmp_path):
    path = tmp_path / "long-term.pdf"
    path.write_bytes(seal(SHORT, reason="x"))
    report = subprocess.run(["pdfsig", path], capture_output=True, text=True, check=False).stdout
    for words in ("Signature is Valid", "Total document signed", "昇腾迁移交付有限公司",
                  "ETSI.CAdES.detached"):
        assert words in report, report


@pytest.mark.parametrize("who", ["firm", "tsa"])
def test_a_revoked_certificate_seals_nothing(long_term, who):
    long_term.revoked.append(getattr(long_term, who))
    with pytest.raises(SealUnavailableError, match="revo"):
        seal(SHORT, reason="x")


@pytest.mark.slow
def test_no_answer_about_revocation_is_no_seal_but_a_kept_list_will_do(
        settings, tmp_path):
    made = Certifier(tmp_path, list_url="http://127.0.0.1:9/")
    settings.SIGNING_KEY, settings.SIGNING_KEY_PASSWORD = str(tmp_path / "firm.p12"), "test"
    settings.SIGNING_ROOTS = [str(made.root_file)]
    with answering(made.stamper()) as settings.SIGNING_TIMESTAMP_URL:
        with pytest.raises(SealUnavailableError):
            seal(SHORT, reason="x")
        (tmp_path / "list.crl").write_bytes(made.revocations())
        settings.SIGNING_CRLS = [str(tmp_path / "list.crl")]
        [found] = check_seals(seal(SHORT, reason="x"), roots=roots_of(made))
    assert (found.level, found.is_good) == ("B-LT", True)
    settings.SIGNING_CRLS = [str(tmp_path / "nowhere.crl")]
    with pytest.raises(SealUnavailableError, match="nowhere"):
        seal(SHORT, reason="x")


@pytest.mark.slow
def test_another_root_is_trusted_for_neither_seal_nor_stamp(authority, tmp_path):
    content = seal(SHORT, reason="x")
    (tmp_path / "other").mkdir()
    [found] = check_seals(content, roots=roots_of(Certifier(tmp_path / "other", key="other")))
    assert (found.is_intact, found.is_trusted, found.is_stamp_good, found.is_good) == (
        True, False, False, False)


def test_practice_data_is_never_stamped_as_the_firms(long_term):
    [found] = check_seals(seal(SHORT, reason="x", is_practice=True))
    assert (found.certificate.is_practice, found.level) == (True, "B-T")


@pytest.mark.slow
def test_without_the_authority_the_signature_stands_and_the_copies_follow(
        review, act, settings, long_term, caplog):
    type(review.document).objects.filter(pk=review.document_id).update(is_practice=False)
    works, settings.SIGNING_TIMESTAMP_URL = (
        settings.SIGNING_TIMESTAMP_URL, "http://127.0.0.1:9/")
    act.decide(review)
    signature = act.sign_and_seal(review)
    assert signature.pk
    assert not review.document.files.filter(format="signed").exists()
    assert "not sealed" in caplog.text
    settings.SIGNING_TIMESTAMP_URL = works
    assert complete_signed_copies() == 2
    assert complete_signed_copies() == 0
    stored = [f.seal for f in review.document.files.filter(format="signed")]
    assert {(s.level, s.authority, bool(s.stamped_at)) for s in stored} == {
        ("B-LT", "Test Time Stamps", True)}


@pytest.mark.slow
def test_the_command_tries_what_is_set_up(long_term, settings):
    out = StringIO()
    call_command("certificate", "--try", stdout=out)
    assert "PAdES B-LT" in out.getvalue()
    settings.SIGNING_TIMESTAMP_URL = "http://127.0.0.1:9/"
    with pytest.raises(CommandError, match=r"does not answer|时间戳"):
        call_command("certificate", "--try", stdout=out)


def test_the_command_writes_the_certificate_for_customers(certifier, tmp_path):
    call_command("certificate", "--out", str(tmp_path / "firm.pem"), stdout=StringIO())
    [found] = trust_roots([str(tmp_path / "firm.pem")])
    assert found.dump() == certifier.firm.public_bytes(Encoding.DER)


def test_roots_are_pem_or_der(certifier, tmp_path):
    _kind, _headers, der = pem.unarmor(certifier.root_file.read_bytes())
    (tmp_path / "root.der").write_bytes(der)
    [found] = trust_roots([str(tmp_path / "root.der")])
    assert found.dump() == roots_of(certifier)[0].dump()
