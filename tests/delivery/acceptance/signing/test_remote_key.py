"""The firm's key at a signature provider: a double speaks the CSC API and keeps the key."""

import base64
import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.serialization import Encoding

from bundle_verifier.signatures.seal_validation import check_seals
from delivery.acceptance.signing.seals.certificate import trust_roots
from delivery.acceptance.signing.seals.pdf_seal import seal
from delivery.acceptance.signing.seals.unavailable import SealUnavailableError
from tests.delivery.acceptance.signing.local_authorities import Certifier, key_for
from tests.delivery.review_steps import SHORT

CREDENTIAL, TOKEN, PIN = "firm-1", "token", "2468"


class Provider:
    """Gives leave for the hashes that it is shown with the PIN, and signs these alone."""

    def __init__(self, certifier: Certifier) -> None:
        self.certifier, self.asked, self.allowed = certifier, [], {}

    def answer(self, path: str, headers, body: dict) -> tuple[int, dict]:
        self.asked.append(path)
        if headers["Authorization"] != f"Bearer {TOKEN}":
            return 401, {"error": "invalid_token"}
        if body["credentialID"] != CREDENTIAL:
            return 400, {"error": "invalid_request"}
        return getattr(self, path.rpartition("/")[2])(body)

    def info(self, _body: dict) -> tuple[int, dict]:
        chain = (self.certifier.firm, self.certifier.root)
        return 200, {"key": {"algo": ["1.2.840.113549.1.1.11"]}, "multisign": 1, "SCAL": "2",
                     "cert": {"certificates": [base64.b64encode(
                         made.public_bytes(Encoding.DER)).decode() for made in chain]}}

    def authorize(self, body: dict) -> tuple[int, dict]:
        if body.get("PIN") != PIN:
            return 400, {"error": "invalid_pin"}
        sad = hashlib.sha256(json.dumps(body["hash"]).encode()).hexdigest()
        self.allowed[sad] = body["hash"]
        return 200, {"SAD": sad, "expiresIn": 60}

    def signHash(self, body: dict) -> tuple[int, dict]:  # noqa: N802, the API's own word
        if self.allowed.pop(body["SAD"], None) != body["hash"]:
            return 400, {"error": "invalid_request"}
        return 200, {"signatures": [base64.b64encode(key_for("firm.p12").sign(
            base64.b64decode(text), padding.PKCS1v15(), Prehashed(hashes.SHA256()))).decode()
            for text in body["hash"]]}


@contextmanager
def served(provider: Provider):
    class Answer(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            code, found = provider.answer(self.path, self.headers, body)
            data = json.dumps(found).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def provider(settings, tmp_path):
    made = Provider(Certifier(tmp_path))
    with served(made) as address:
        settings.SIGNING_KEY = f"csc:{address}?credential={CREDENTIAL}"
        settings.SIGNING_KEY_PASSWORD = f"{TOKEN} {PIN}"
        yield made


def test_a_key_at_a_provider_seals_and_never_comes_here(provider):
    [found] = check_seals(seal(SHORT, reason="x"),
                          roots=trust_roots([str(provider.certifier.root_file)]))
    assert (found.level, found.is_trusted, found.is_good) == ("B-B", True, True)
    assert provider.asked == ["/csc/v1/credentials/info", "/csc/v1/credentials/authorize",
                              "/csc/v1/signatures/signHash"]
    assert provider.allowed == {}  # the leave was for one signature


@pytest.mark.parametrize(("key", "secret"), [
    (f"?credential={CREDENTIAL}", f"wrong {PIN}"), (f"?credential={CREDENTIAL}", f"{TOKEN} 0000"),
    ("?credential=other", f"{TOKEN} {PIN}"), ("", f"{TOKEN} {PIN}"),
    (f"?credential={CREDENTIAL}", "")])
def test_what_the_provider_refuses_or_the_settings_lack_is_said(provider, settings, key, secret):
    settings.SIGNING_KEY = settings.SIGNING_KEY.partition("?")[0] + key
    settings.SIGNING_KEY_PASSWORD = secret
    with pytest.raises(SealUnavailableError, match=r"csc:|provider|签名服务"):
        seal(SHORT, reason="x")


def test_a_provider_elsewhere_is_asked_over_tls_alone(settings):
    settings.SIGNING_KEY = f"csc:http://sign.example?credential={CREDENTIAL}"
    settings.SIGNING_KEY_PASSWORD = TOKEN
    with pytest.raises(SealUnavailableError, match="https"):
        seal(SHORT, reason="x")
