"""A TLS server that notes what clients say to it."""

import contextlib
import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

CLIENT_HELLO = b"\x16"


class Listener:
    """A TLS server on this machine that notes what it hears; `opening` is said in clear before, one
    text per message of the client."""

    def __init__(self, certificate: Path, opening: tuple[bytes, ...] = (), greeting: bytes = b""):
        self.certificate, self.opening, self.greeting = certificate, opening, greeting
        self.heard, self.hellos = b"", 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate)
        with contextlib.suppress(OSError):  # until it is closed
            while True:
                link, _address = self.socket.accept()
                with link, contextlib.suppress(OSError):
                    link.settimeout(5)
                    self._answer(link, context)

    def _answer(self, link: socket.socket, context: ssl.SSLContext) -> None:
        link.sendall(self.greeting)
        for text in self.opening:
            self.heard += link.recv(4096)
            link.sendall(text)
        if link.recv(1, socket.MSG_PEEK) != CLIENT_HELLO:
            self.heard += link.recv(4096)
            return
        self.hellos += 1
        with context.wrap_socket(link, server_side=True) as secured:
            self.heard += secured.recv(4096)


def certificate_for(host: str, folder: Path) -> Path:
    """A file with a self-signed certificate and its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    made = (x509.CertificateBuilder().subject_name(name).issuer_name(name)
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
            .sign(key, hashes.SHA256()))
    file = folder / f"{host}.pem"
    file.write_bytes(made.public_bytes(Encoding.PEM) + key.private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return file
