"""Signatures of robots and webhooks (DOMAIN 13, with its test vectors)."""

import base64
import hashlib
import hmac
from urllib.parse import quote


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


def _hmac(key: str, message: bytes) -> bytes:
    return hmac.new(key.encode(), message, hashlib.sha256).digest()
