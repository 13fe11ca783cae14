"""The keys of an installation in one encrypted file, apart from its data."""

import base64
import json
import os
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from django.conf import settings
from django.utils.translation import gettext as _

from delivery.acceptance.signing.seals import practice_certificate
from delivery.acceptance.signing.seals.certificate import OUTSIDE
from delivery.operation.secret_files import secret_files
from engagements.errors import InvalidInput
from engagements.text.text_joining import listed
from workers.encrypted_field import EncryptedTextField

SCRYPT = {"length": 32, "n": 2**15, "r": 8, "p": 1}
FORMAT = "delivery-desk-keys 1"
PROBE = "delivery desk"
LEAST_LENGTH = 12
PASSWORD = "signing/key-password"  # DESK_SIGNING_KEY_PASSWORD, in the data folder of a restore


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


def put_keys(keys: dict, folder: Path, *, replaces: bool = False) -> list[str]:
    """Write keys to the data folder of a new installation; what is left to set, as sentences.

    Raises InvalidInput where other keys are there already, unless they are to be replaced: data may
    depend on them.
    """
    contents = {name: base64.b64decode(data) for name, data in keys.get("folder", {}).items()}
    for name, data in keys.get("files", {}).items():  # as older versions wrote them
        if name != practice_certificate.FILE:  # without its password; a new one is made
            contents[f"signing/{Path(name).name}"] = base64.b64decode(data)
    contents |= {"secret-key": keys["secret"].encode(), "audit-key": keys["audit"].encode()}
    if keys["credentials"]:
        contents["credential-keys"] = ",".join(keys["credentials"]).encode()
    blocked = [name for name, data in contents.items() if (folder / name).exists()
               and (folder / name).read_bytes().strip() != data.strip()]
    if blocked and not replaces:
        raise InvalidInput(_("%(folder)s holds other keys (%(names)s). Remove them if nothing was "
                             "encrypted with them, then try again.") % {
            "folder": folder, "names": listed(blocked)})
    for name, data in contents.items():
        _write_private(folder / name, data)
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
    """The keys in force, every secret file of the data folder, and the files of the firm's seal
    wherever they lie."""
    root = Path(settings.VAR_DIR)
    folder = {path.relative_to(root).as_posix(): path.read_bytes() for path in secret_files(root)}
    signing = {variable: [_taken_in(Path(path), root, folder) for path in paths]
               for variable, paths in _signing_files().items() if paths}
    if settings.SIGNING_KEY_PASSWORD:
        folder[PASSWORD] = settings.SIGNING_KEY_PASSWORD.encode()
    is_in_module = settings.SIGNING_KEY.startswith(OUTSIDE)
    return {"secret": settings.SECRET_KEY, "audit": settings.AUDIT_KEY,
            "credentials": list(settings.CREDENTIAL_KEYS),
            "module_key": settings.SIGNING_KEY if is_in_module else "", "signing": signing,
            "folder": {name: base64.b64encode(data).decode() for name, data in folder.items()}}


def _signing_files() -> dict[str, list[str]]:
    """The files that settings of the firm's seal name; a key in a security module is none."""
    return {
        "DESK_SIGNING_KEY": [name for name in [settings.SIGNING_KEY]
                             if name and not name.startswith(OUTSIDE)],
        "DESK_SIGNING_CERTIFICATE": list(filter(None, [settings.SIGNING_CERTIFICATE])),
        "DESK_SIGNING_CHAIN": settings.SIGNING_CHAIN,
        "DESK_SIGNING_ROOTS": settings.SIGNING_ROOTS,
        "DESK_SIGNING_CRLS": settings.SIGNING_CRLS}


def _taken_in(path: Path, root: Path, folder: dict[str, bytes]) -> str:
    """Add a file to those of the data folder, if it is another one; its name there."""
    data, name = path.read_bytes(), f"signing/{path.name}"
    if path.resolve().is_relative_to(root.resolve()):
        name = path.resolve().relative_to(root.resolve()).as_posix()
    number = 1
    while folder.get(name, data) != data:
        number += 1
        name = f"signing/{number}-{path.name}"
    folder[name] = data
    return name


def _left_to_set(keys: dict, folder: Path) -> list[str]:
    values = {name: ",".join(str(folder / path) for path in paths)
              for name, paths in keys.get("signing", {}).items()}
    if keys["credentials"]:
        values["DESK_CREDENTIAL_KEYS_FILE"] = str(folder / "credential-keys")
    if PASSWORD in keys.get("folder", {}):
        values["DESK_SIGNING_KEY_PASSWORD_FILE"] = str(folder / PASSWORD)
    if keys.get("module_key"):
        values["DESK_SIGNING_KEY"] = keys["module_key"]
    found = [_("Set %(setting)s") % {"setting": f"{name}={values[name]}"}
             for name in sorted(values)]
    if keys.get("module_key"):
        found.append(_("The signing key itself is in its security module, not in this file: attach "
                       "the module to this machine."))
    if keys.get("signing_password"):  # of an older file, which holds no password
        found.append(_("Set DESK_SIGNING_KEY and DESK_SIGNING_CERTIFICATE to the files in "
                       "%(folder)s, and DESK_SIGNING_KEY_PASSWORD as it was.") % {
            "folder": folder / "signing"})
    return found


def _write_private(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(data)


def _cipher(passphrase: str, salt: bytes) -> Fernet:
    key = Scrypt(salt=salt, **SCRYPT).derive(passphrase.encode())
    return Fernet(base64.urlsafe_b64encode(key))
