"""The keys of an installation in one encrypted file, apart from its data."""

import base64
import json
import os
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from django.conf import settings
from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from engagements.text.text_joining import listed
from workers.encrypted_field import EncryptedTextField

SCRYPT = {"length": 32, "n": 2**15, "r": 8, "p": 1}
FORMAT = "delivery-desk-keys 1"
PROBE = "delivery desk"
LEAST_LENGTH = 12


def write_keys(path: Path, passphrase: str) -> None:
    """Write all keys, encrypted under a passphrase (scrypt, Fernet), readable by the owner only.

    Raises InvalidInput for a passphrase of fewer than 12 characters.
    """
    if len(passphrase) < LEAST_LENGTH:
        raise InvalidInput(_("DESK_BACKUP_PASSPHRASE needs %(n)d characters or more.") % {
            "n": LEAST_LENGTH})
    salt = os.urandom(16)
    token = _cipher(passphrase, salt).encrypt(json.dumps(_keys()).encode())
    text = json.dumps({"format": FORMAT, "salt": salt.hex(), "keys": token.decode()}, indent=1)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text + "\n")


def read_keys(path: Path, passphrase: str) -> dict:
    """What `write_keys` wrote; InvalidInput for another file or passphrase."""
    try:
        found = json.loads(path.read_text())
        salt = bytes.fromhex(found["salt"])
        return json.loads(_cipher(passphrase, salt).decrypt(found["keys"].encode()))
    except (OSError, ValueError, KeyError, TypeError, InvalidToken) as error:
        raise InvalidInput(_("%(path)s is no file of keys, or the passphrase is another.") % {
            "path": path}) from error


def put_keys(keys: dict, folder: Path) -> list[str]:
    """Write keys to the data folder of a new installation; what is left to set, as sentences.

    Raises InvalidInput where other keys are there already: data may depend on them.
    """
    names = {"secret-key": keys["secret"], "audit-key": keys["audit"]}
    if keys["credentials"]:
        names["credential-keys"] = ",".join(keys["credentials"])
    blocked = [name for name, text in names.items()
               if (folder / name).exists() and (folder / name).read_text().strip() != text]
    if blocked:
        raise InvalidInput(_("%(folder)s holds other keys (%(names)s). Remove them if nothing was "
                             "encrypted with them, then try again.") % {
            "folder": folder, "names": listed(blocked)})
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name, text in names.items():
        _write_private(folder / name, text.encode())
    for name, data in keys["files"].items():
        place = folder / "signing" / Path(name).name
        place.parent.mkdir(exist_ok=True, mode=0o700)
        _write_private(place, base64.b64decode(data))
    return _left_to_set(keys, folder)


def key_probe() -> dict[str, str]:
    """Lets a restore see whether it has the keys; says nothing about them."""
    return {"credentials": EncryptedTextField().get_prep_value(PROBE)}


def has_the_keys(probe: dict[str, str]) -> bool:
    """Whether credentials of the backup can be decrypted here."""
    try:
        return EncryptedTextField().from_db_value(probe["credentials"], None, None) == PROBE
    except InvalidToken:
        return False


def _keys() -> dict:
    files = [Path(settings.VAR_DIR) / "signing" / "practice.p12",
             *map(Path, filter(None, [settings.SIGNING_KEY, settings.SIGNING_CERTIFICATE]))]
    return {"secret": settings.SECRET_KEY, "audit": settings.AUDIT_KEY,
            "credentials": list(settings.CREDENTIAL_KEYS),
            "signing_password": settings.SIGNING_KEY_PASSWORD,
            "files": {path.name: base64.b64encode(path.read_bytes()).decode()
                      for path in files if path.is_file()}}


def _left_to_set(keys: dict, folder: Path) -> list[str]:
    found = []
    if keys["credentials"]:
        found.append(_("Set DESK_CREDENTIAL_KEYS_FILE=%(path)s") % {
            "path": folder / "credential-keys"})
    if keys["signing_password"]:
        found.append(_("Set DESK_SIGNING_KEY and DESK_SIGNING_CERTIFICATE to the files in "
                       "%(folder)s, and DESK_SIGNING_KEY_PASSWORD as it was.") % {
            "folder": folder / "signing"})
    return found


def _write_private(path: Path, data: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(data)


def _cipher(passphrase: str, salt: bytes) -> Fernet:
    key = Scrypt(salt=salt, **SCRYPT).derive(passphrase.encode())
    return Fernet(base64.urlsafe_b64encode(key))
