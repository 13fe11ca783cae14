"""Detached signatures: what they cover, whose they are, when they were made."""

import random
import re
import shutil
import subprocess
from datetime import UTC, datetime

import pytest

from bundle_verifier.signatures.seal_validation import check_detached
from delivery.acceptance.signing.seals.certificate import (
    SealUnavailableError,
    load_signer,
    trust_roots,
)
from delivery.acceptance.signing.seals.detached_signature import sign_detached
from tests.delivery.acceptance.signing.local_authorities import Certifier, answering

CONTENT = b"the list of checksums\n"


@pytest.fixture
def certifier(settings, tmp_path):
    """The firm's certificate and a time stamp authority under one root."""
    settings.SIGNING_KEY, settings.SIGNING_KEY_PASSWORD = str(tmp_path / "firm.p12"), "test"
    return Certifier(tmp_path)


@pytest.fixture
def plain(certifier) -> bytes:
    return sign_detached(CONTENT, load_signer())


@pytest.fixture
def stamped(settings, certifier) -> bytes:
    with answering(certifier.stamper()) as settings.SIGNING_TIMESTAMP_URL:
        return sign_detached(CONTENT, load_signer())


def roots_of(certifier):
    return trust_roots([str(certifier.root_file)])


def test_it_says_who_signed_and_when(certifier):
    before = datetime.now(UTC).replace(microsecond=0)
    made = sign_detached(CONTENT, load_signer())
    found = check_detached(CONTENT, made, roots=roots_of(certifier))
    assert (found.is_good, found.is_trusted, found.level) == (True, True, "B-B")
    assert found.certificate.subject == "昇腾迁移交付有限公司"
    assert before <= found.signed_at <= datetime.now(UTC)


def test_an_authority_confirms_the_time(certifier, stamped):
    found = check_detached(CONTENT, stamped, roots=roots_of(certifier))
    assert (found.is_good, found.level, found.authority) == (True, "B-T", "Test Time Stamps")


def test_other_content_does_not_pass(certifier, stamped):
    assert not check_detached(CONTENT + b"x", stamped).is_good


def test_another_root_is_not_trusted(certifier, stamped, tmp_path):
    (tmp_path / "other").mkdir()
    other = Certifier(tmp_path / "other", key="other")
    found = check_detached(CONTENT, stamped, roots=roots_of(other))
    assert (found.is_intact, found.is_trusted, found.is_good) == (True, False, False)


@pytest.mark.parametrize("text", [b"", b"no signature", b"\x30\x03\x02\x01\x01"])
def test_what_is_no_signature_is_none(text):
    assert check_detached(CONTENT, text) is None


def test_no_authority_no_signature(certifier, settings):
    settings.SIGNING_TIMESTAMP_URL = "http://127.0.0.1:9/"
    with pytest.raises(SealUnavailableError):
        sign_detached(CONTENT, load_signer())


@pytest.mark.skipif(not shutil.which("openssl"), reason="OpenSSL is not installed")
def test_openssl_verifies_it(certifier, stamped, tmp_path):
    (tmp_path / "list").write_bytes(CONTENT)
    (tmp_path / "list.p7s").write_bytes(stamped)
    done = subprocess.run(
        ["openssl", "cms", "-verify", "-binary", "-inform", "DER", "-in", "list.p7s", "-content",
         "list", "-CAfile", "root.pem", "-purpose", "any", "-out", "copy"],
        cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("unused_bits", [
    1, 7, *(pytest.param(n, marks=pytest.mark.everything) for n in range(2, 7))])
def test_another_count_of_bits_in_a_certificate_is_found(stamped, unused_bits):
    """Readers take the signature of a certificate for the same where its last bits are zero."""
    counts = [match.end() - 1 for match in re.finditer(b"\x03\x82\x01\x01\x00", stamped)]
    assert len(counts) == 4  # two chains of two
    for place in counts:
        changed = bytearray(stamped)
        changed[place] = unused_bits
        found = check_detached(CONTENT, bytes(changed))
        assert not (found and found.is_good), place


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "stamped"])
def test_a_flipped_bit_in_any_byte_is_found(certifier, request, kind):
    """Every run tries another third of the bytes."""
    made = request.getfixturevalue(kind)
    unnoticed = []
    for place in range(random.randrange(3), len(made), 3):
        changed = bytearray(made)
        changed[place] ^= 1 << place % 8
        found = check_detached(CONTENT, bytes(changed))
        if found and found.is_good:
            unnoticed.append(place)
    assert unnoticed == []
