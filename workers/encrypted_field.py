"""Credentials at rest; their removal from text is in `toolreaders.masking`."""

import base64
import hashlib

from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.db import models


def _cipher() -> MultiFernet:
    """Encrypts with the first key; decrypts what any of them encrypted, the secret keys' last."""
    derived = [base64.urlsafe_b64encode(hashlib.sha256(key.encode()).digest())
               for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    return MultiFernet([Fernet(key) for key in (*settings.CREDENTIAL_KEYS, *derived)])


class EncryptedTextField(models.TextField):
    """Text that is stored encrypted (Fernet, keys from DESK_CREDENTIAL_KEYS)."""

    def get_prep_value(self, value):
        value = super().get_prep_value(value)
        return _cipher().encrypt(value.encode()).decode() if value else value

    def from_db_value(self, value, expression, connection):
        return _cipher().decrypt(value.encode()).decode() if value else value
