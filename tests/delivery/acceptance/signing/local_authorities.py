"""A certification authority and a time stamp authority that live on this machine only."""

import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from asn1crypto import tsp
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    pkcs12,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from pyhanko.sign import SimpleSigner
from pyhanko.sign.timestamps import DummyTimeStamper

USAGES = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
          "key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only")
DAY = timedelta(days=1)


@contextmanager
def answering(stamper=None, crl=lambda: b""):
    """The address of a server: POST is answered with a time stamp, GET with a revocation list."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = tsp.TimeStampReq.load(self.rfile.read(int(self.headers["Content-Length"])))
            self._send("application/timestamp-reply", stamper.request_tsa_response(asked).dump())

        def do_GET(self):
            self._send("application/pkix-crl", crl())

        def _send(self, kind: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@cache
def key_for(name: str) -> rsa.RSAPrivateKey:
    """Made once: it takes longer than most tests. pyHanko's practice authority wants RSA."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


class Certifier:
    """A root with two certificates under it: the firm's and a time stamp authority's.

    Files in `folder`: root.pem, firm.p12, tsa.p12 (password `test`), list.crl.
    """

    def __init__(self, folder: Path, list_url: str = "", key: str = "root"):
        self.folder, self.list_url, self.now = folder, list_url, datetime.now(UTC)
        self.key, self.revoked = key_for(key), []
        self.root = self._certificate("Test Root", self.key, usages=("key_cert_sign", "crl_sign"))
        self.root_file = folder / "root.pem"
        self.root_file.write_bytes(self.root.public_bytes(Encoding.PEM))
        self.firm = self._issue("firm.p12", "昇腾迁移交付有限公司",
                                ("digital_signature", "content_commitment"))
        self.tsa = self._issue("tsa.p12", "Test Time Stamps", ("digital_signature",),
                               is_tsa=True)

    def _certificate(self, name: str, key, *, usages, is_tsa=False) -> x509.Certificate:
        is_root = name == "Test Root"
        built = (x509.CertificateBuilder().subject_name(named(name))
                 .issuer_name(named("Test Root")).public_key(key.public_key())
                 .serial_number(x509.random_serial_number())
                 .not_valid_before(self.now - 400 * DAY).not_valid_after(self.now + 400 * DAY)
                 .add_extension(x509.BasicConstraints(is_root, None), critical=True)
                 .add_extension(x509.KeyUsage(**{u: u in usages for u in USAGES}), critical=True)
                 .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()),
                                critical=False)
                 .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(
                     self.key.public_key()), critical=False))
        if is_tsa:
            built = built.add_extension(
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING]), critical=True)
        if self.list_url and not is_root:
            place = x509.DistributionPoint([x509.UniformResourceIdentifier(self.list_url)],
                                           None, None, None)
            built = built.add_extension(x509.CRLDistributionPoints([place]), critical=False)
        return built.sign(self.key, hashes.SHA256())

    def _issue(self, file: str, name: str, usages, *, is_tsa=False) -> x509.Certificate:
        key = key_for(file)
        made = self._certificate(name, key, usages=usages, is_tsa=is_tsa)
        (self.folder / file).write_bytes(pkcs12.serialize_key_and_certificates(
            name.encode(), key, made, [self.root], BestAvailableEncryption(b"test")))
        return made

    def revocations(self) -> bytes:
        """The list of what was revoked, in DER."""
        built = (x509.CertificateRevocationListBuilder().issuer_name(self.root.subject)
                 .last_update(self.now - DAY).next_update(self.now + 30 * DAY))
        for certificate in self.revoked:
            built = built.add_revoked_certificate(
                x509.RevokedCertificateBuilder().serial_number(certificate.serial_number)
                .revocation_date(self.now - DAY).build())
        return built.sign(self.key, hashes.SHA256()).public_bytes(Encoding.DER)

    def stamper(self, at: datetime | None = None) -> DummyTimeStamper:
        own = SimpleSigner.load_pkcs12(str(self.folder / "tsa.p12"), passphrase=b"test")
        return DummyTimeStamper(own.signing_cert, own.signing_key, fixed_dt=at,
                                certs_to_embed=own.cert_registry)
