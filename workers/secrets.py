"""Credentials at rest, and their removal from text."""

import base64
import hashlib
import re

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.db import models

_SECRET_NAME = (r"[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|"
                r"credential)[\w.-]*")
_ASSIGNMENT = re.compile(rf"(?i)\b({_SECRET_NAME})(\s*[=:]\s*)(\"[^\"\n]*\"|'[^'\n]*'|[^\s,;&]+)")
_URL_PASSWORD = re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s:/@]+:)([^\s@/]+)(@)")
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
)
MASK = "******"


def mask_secrets(text: str) -> str:
    """Replace what looks like a password, token or private key by asterisks."""
    text = _PRIVATE_KEY.sub(MASK, text)
    text = _URL_PASSWORD.sub(rf"\g<1>{MASK}\g<3>", text)
    return _ASSIGNMENT.sub(rf"\g<1>\g<2>{MASK}", text)


def _cipher() -> MultiFernet:
    keys = settings.CREDENTIAL_KEYS or [
        base64.urlsafe_b64encode(hashlib.sha256(settings.SECRET_KEY.encode()).digest())
    ]
    return MultiFernet([Fernet(key) for key in keys])


class EncryptedTextField(models.TextField):
    """Text that is stored encrypted (Fernet, keys from DESK_CREDENTIAL_KEYS)."""

    def get_prep_value(self, value):
        value = super().get_prep_value(value)
        return _cipher().encrypt(value.encode()).decode() if value else value

    def from_db_value(self, value, expression, connection):
        return _cipher().decrypt(value.encode()).decode() if value else value
