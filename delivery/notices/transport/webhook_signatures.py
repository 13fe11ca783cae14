"""Signatures of robots and webhooks (DOMAIN 13, with its test vectors)."""

import base64
import hashlib
import hmac
import secrets
from urllib.parse import quote

SECRET_PREFIX = "whsec_"


def dingtalk_sign(secret: str, milliseconds: str) -> str:
    """For the query: HMAC-SHA256 of `timestamp\\nsecret` under the secret, Base64, URL-encoded."""
    text = f"{milliseconds}\n{secret}"
    return quote(base64.b64encode(_hmac(secret, text.encode())).decode(), safe="")


def feishu_sign(secret: str, seconds: str) -> str:
    """For the body: HMAC-SHA256 of nothing under `timestamp\\nsecret`, Base64."""
    return base64.b64encode(_hmac(f"{seconds}\n{secret}", b"")).decode()


def webhook_sign(secret: str, seconds: str, body: bytes) -> str:
    """For the header X-Desk-Signature: HMAC-SHA256 of `timestamp.body`, in hex."""
    return "sha256=" + _hmac(secret, seconds.encode() + b"." + body).hex()


def standard_sign(secret: str, message_id: str, seconds: str, body: bytes) -> str:
    """For the header webhook-signature (Standard Webhooks, scheme v1): HMAC-SHA256 of
    `id.timestamp.body`, Base64. The key is what follows `whsec_`, decoded; another secret's bytes.
    """
    key = (base64.b64decode(secret.removeprefix(SECRET_PREFIX))
           if secret.startswith(SECRET_PREFIX) else secret.encode())
    message = f"{message_id}.{seconds}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode()


def new_secret() -> str:
    """256 random bits as Standard Webhooks writes them."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def is_standard(secret: str) -> bool:
    """Whether what follows `whsec_` can be decoded to a key."""
    try:
        return bool(base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True))
    except ValueError:
        return False


def _hmac(key: str, message: bytes) -> bytes:
    return hmac.new(key.encode(), message, hashlib.sha256).digest()
