"""Fixtures of the acceptance tests: bundles belong to reviewed documents."""

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, pkcs12

from delivery.acceptance.signing.seals import practice_certificate

FIRM = "昇腾迁移交付有限公司"


@pytest.fixture(autouse=True)
def _review_setting(quick_files, addresses, practice_certificate_set):
    """Reviews can be opened, signed and sealed."""


@pytest.fixture(scope="session")
def firm_p12() -> bytes:
    """A firm's key with its self-signed certificate; made once, it takes long."""
    return practice_certificate.make_pkcs12(b"firm", name=FIRM, key_bits=2048)


@pytest.fixture
def firm_key(firm_p12, settings, tmp_path):
    """The firm has set its key; the file of its certificate, as customers get it."""
    return set_key(settings, tmp_path, firm_p12)


def set_key(settings, folder, p12: bytes, name: str = "firm"):
    """Sign with this key from now on; the file of its certificate."""
    (folder / f"{name}.p12").write_bytes(p12)
    settings.SIGNING_KEY, settings.SIGNING_KEY_PASSWORD = str(folder / f"{name}.p12"), "firm"
    certificate = pkcs12.load_key_and_certificates(p12, b"firm")[1]
    (folder / f"{name}.pem").write_bytes(certificate.public_bytes(Encoding.PEM))
    return folder / f"{name}.pem"
