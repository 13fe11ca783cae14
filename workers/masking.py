"""Secrets in logs, files and what tools record: a configuration pack holds a whole environment.

Masked are values whose name looks secret, user information in URLs, private keys and well-known
token shapes. What is masked once is not changed by masking it again.
"""

from __future__ import annotations

import re
from typing import Any

MASK = "******"
SECRET_WORDS = {
    "key", "keys", "token", "secret", "password", "passwd", "pwd", "pass", "passphrase",
    "credential", "credentials", "ak", "sk", "cookie", "auth", "authorization", "bearer",
}  # fmt: skip
SECRET_PARTS = (
    "secret", "password", "passwd", "credential", "cookie", "apikey", "accesskey", "privatekey",
    "authtoken", "accesstoken",
)  # fmt: skip
# Names that only look alike: the shell's working directory, attention heads, tokenizers.
HARMLESS = re.compile(
    r"^(old)?pwd$|tokenizers?|max_?tokens|key_value|num_.*heads|qk_|_?keys?_(?:norm|bias|length)",
    re.IGNORECASE,
)
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
USER_INFORMATION = re.compile(r"(?P<scheme>(?<!\w)[a-zA-Z][\w+.\-]{0,20}://)[^/\s@]+@")
ASSIGNMENT = re.compile(
    r"(?<![\w.\-])(?P<name>[\w.\-]{0,80}?"
    r"(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|credential)[\w.\-]{0,40})"
    r"(?P<sign>[\"']?[ \t]*[=:][ \t]*|[ \t]+)(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s,;&'\"]+)",
    re.IGNORECASE,
)
PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
)
TOKEN_SHAPES = re.compile(
    r"\b(?:hf_\w{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w\-]{16,}|sk-[\w\-]{16,}"
    r"|AKIA[0-9A-Z]{12,}|xox[abprs]-[\w\-]{10,}|eyJ[\w\-]{8,}\.[\w\-]{8,}\.[\w\-]*)"
    r"|(?<=Bearer )\S+|(?<=Basic )\S{8,}"
)


def is_secret_name(name: str) -> bool:
    """True for names such as HF_TOKEN, accessKey, db-password, AK."""
    name = HARMLESS.sub(" ", name)
    words = {word.lower() for word in WORDS.findall(name)}
    joined = re.sub(r"[^a-z]", "", name.lower())
    return bool(
        words & SECRET_WORDS
        or any(part in joined for part in SECRET_PARTS)
        or joined.endswith(("token", "apikey"))
    )


def mask_text(value: str) -> str:
    """A text without private keys, passwords in URLs, ``token=…`` and well-known token shapes."""
    value = PRIVATE_KEY.sub(MASK, value)
    value = USER_INFORMATION.sub(rf"\g<scheme>{MASK}@", value)
    value = TOKEN_SHAPES.sub(MASK, value)
    return ASSIGNMENT.sub(_masked_assignment, value)


def _masked_assignment(found: re.Match[str]) -> str:
    # "--password xyz" is an assignment, "the token is" is prose
    assigned = found["sign"].strip() or found["name"].startswith("--")
    if not assigned or not is_secret_name(found["name"]):
        return found[0]
    quote = found["value"][0] if found["value"][0] in "\"'" else ""
    return f"{found['name']}{found['sign']}{quote}{MASK}{quote}"


def mask_value(name: str, value: Any) -> Any:
    """``value`` of the setting ``name``, masked where name or content is secret."""
    if value is None or value == "":
        return value
    if is_secret_name(name):
        return MASK
    return mask_text(value) if isinstance(value, str) else value


def mask_tree(value: Any, name: str = "") -> Any:
    """A JSON value with every secret in it masked."""
    if isinstance(value, dict):
        return {key: mask_tree(item, str(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [mask_tree(item, name) for item in value]
    return mask_value(name, value)
