"""The firm's key in a security module: SoftHSM, the key made known to it and nowhere else."""

import os
import shutil
import subprocess
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from bundle_verifier.signatures.seal_validation import check_seals
from delivery.acceptance.signing.seals.certificate import load_signer
from delivery.acceptance.signing.seals.detached_signature import sign_detached
from delivery.acceptance.signing.seals.pdf_seal import seal
from delivery.acceptance.signing.seals.unavailable import SealUnavailableError
from tests.delivery.acceptance.signing.local_authorities import key_for, named
from tests.delivery.review_steps import SHORT

pkcs11 = pytest.importorskip("pkcs11")
MODULE = Path("/usr/lib/softhsm/libsofthsm2.so")
PIN = "4321"
pytestmark = pytest.mark.skipif(
    not (MODULE.exists() and shutil.which("softhsm2-util")), reason="needs softhsm2")
NUMBERS = {"rsa": b"\x0a\x01", "ec": b"\x0a\x02"}


@pytest.fixture(scope="session")
def token(tmp_path_factory):
    """A token with two keys and their certificates. The module reads its settings once."""
    folder = tmp_path_factory.mktemp("softhsm")
    (folder / "tokens").mkdir()
    settings = folder / "softhsm2.conf"
    settings.write_text(f"directories.tokendir = {folder}/tokens\nobjectstore.backend = file\n")
    os.environ["SOFTHSM2_CONF"] = str(settings)
    subprocess.run(["softhsm2-util", "--init-token", "--free", "--label", "Firm", "--so-pin",
                    "1234", "--pin", PIN], check=True, capture_output=True)
    for name, key in (("rsa", key_for("module")), ("ec", ec.generate_private_key(ec.SECP256R1()))):
        file = folder / f"{name}.pem"
        file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        subprocess.run(["softhsm2-util", "--import", file, "--token", "Firm", "--label", name,
                        "--id", NUMBERS[name].hex(), "--pin", PIN], check=True, capture_output=True)
        file.unlink()
        _keep_certificate(name, key)


def _keep_certificate(name: str, key) -> None:
    from pkcs11.util.x509 import decode_x509_certificate

    now = datetime.now(UTC)
    made = (x509.CertificateBuilder().subject_name(named(f"Firm {name}"))
            .issuer_name(named(f"Firm {name}")).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=30))
            .add_extension(x509.KeyUsage(True, True, *[False] * 7), critical=True)
            .sign(key, hashes.SHA256()))
    [slot] = [slot for slot in pkcs11.lib(str(MODULE)).get_slots(token_present=True)
              if slot.get_token().label == "Firm"]
    with slot.get_token().open(rw=True, user_pin=PIN) as session:
        session.create_object({
            **decode_x509_certificate(made.public_bytes(Encoding.DER)),
            pkcs11.Attribute.TOKEN: True, pkcs11.Attribute.LABEL: name,
            pkcs11.Attribute.ID: NUMBERS[name]})


@pytest.fixture
def firm_key(settings, token):
    """Sets the firm's key: `firm_key("object=rsa")`."""
    def use(words: str, pin: str = PIN, name: str = "Firm", module: Path = MODULE) -> None:
        settings.SIGNING_KEY = f"pkcs11:token={name};{words}?module-path={module}"
        settings.SIGNING_KEY_PASSWORD = pin

    return use


@pytest.mark.parametrize(("words", "subject"), [
    ("object=rsa", "Firm rsa"), ("object=ec", "Firm ec"), ("id=%0A%02", "Firm ec")])
def test_a_document_is_sealed_by_the_key_in_the_module(firm_key, words, subject):
    firm_key(words)
    [found] = check_seals(seal(SHORT, reason="FA-EP2501-001"))
    assert (found.is_intact, found.is_whole) == (True, True)
    assert found.certificate.subject == subject
    assert not found.certificate.is_practice


@pytest.mark.parametrize("words", ["object=rsa", "object=ec"])
def test_openssl_accepts_the_detached_signature(firm_key, tmp_path, words):
    firm_key(words)
    signer = load_signer()
    (tmp_path / "list").write_bytes(b"aa  file\n")
    (tmp_path / "signature").write_bytes(sign_detached(b"aa  file\n", signer))
    (tmp_path / "root.der").write_bytes(signer.signing_cert.dump())
    subprocess.run(["openssl", "x509", "-inform", "DER", "-in", "root.der", "-out", "root.pem"],
                   cwd=tmp_path, check=True)
    done = subprocess.run(
        ["openssl", "cms", "-verify", "-binary", "-inform", "DER", "-in", "signature", "-content",
         "list", "-CAfile", "root.pem", "-purpose", "any", "-out", "out"], cwd=tmp_path,
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out").read_bytes() == b"aa  file\n"


def test_several_threads_sign_at_once(firm_key):
    firm_key("object=ec")
    made: list[bytes] = []
    threads = [threading.Thread(target=lambda: made.append(sign_detached(b"x", load_signer())))
               for _n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 6


@pytest.mark.parametrize(("change", "words"), [
    ({"pin": "0000"}, "PinIncorrect"), ({"name": "Other"}, "No token"),
    ({"words": "object=nothing"}, "Could not find"), ({"module": "/nowhere.so"}, "/nowhere.so"),
    ({"words": "type=private"}, "pkcs11:token="), ({"pin": ""}, "DESK_SIGNING_KEY_PASSWORD")])
def test_what_is_wrong_is_said(firm_key, change, words):
    firm_key(**{"words": "object=rsa", **change})
    with pytest.raises(SealUnavailableError) as raised:
        seal(SHORT, reason="x")
    assert words in raised.value.message


def test_the_module_s_certificate_can_lie_in_a_file(firm_key, settings, tmp_path):
    firm_key("object=rsa")
    file = tmp_path / "own.der"
    file.write_bytes(load_signer().signing_cert.dump())
    settings.SIGNING_CERTIFICATE = str(file)
    [found] = check_seals(seal(SHORT, reason="x"))
    assert found.is_intact


def test_the_key_does_not_leave_the_module(firm_key):
    """What the module was asked to keep, it does not hand out."""
    [slot] = [slot for slot in pkcs11.lib(str(MODULE)).get_slots(token_present=True)
              if slot.get_token().label == "Firm"]
    with slot.get_token().open(user_pin=PIN) as session:
        key = session.get_key(object_class=pkcs11.ObjectClass.PRIVATE_KEY, label="rsa")
        with pytest.raises(pkcs11.PKCS11Error):
            key[pkcs11.Attribute.PRIVATE_EXPONENT]
