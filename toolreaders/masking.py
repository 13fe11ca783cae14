"""Secrets in logs, files and what tools record: a configuration pack holds a whole environment.

Masked are values whose name looks secret, user information in URLs, private keys and well-known
token shapes. What is masked once is not changed by masking it again.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Any, BinaryIO

MASK = "******"
SECRET_WORDS = {
    "secret", "secrets", "password", "passwords", "passwd", "pwd", "passphrase", "credential",
    "credentials", "cookie", "cookies", "authorization", "bearer",
}  # fmt: skip
SECRET_PARTS = (
    "secret", "password", "passwd", "credential", "cookie", "apikey", "accesskey", "privatekey",
    "authtoken", "accesstoken", "refreshtoken",
)  # fmt: skip
DOUBTFUL_WORDS = {"key", "keys", "token", "pass", "ak", "sk", "auth"}
"""Words of secrets that name other things as well: attention keys, tokens of text, passes."""
HARMLESS_BESIDE = {
    "key": "query value values layer layers padding mask norm bias proj projection head heads "
           "attention attn dim size length len cache states state scale scaling weight weights "
           "rope rotary kv qk num max min count per missing unexpected ignore ignored sort group "
           "text image images video audio label labels prompt response messages chosen rejected "
           "question answer input inputs output outputs target column columns field feature "
           "features batch sample metric monitor loss reward score dataset json dict map mapping",
    "token": "num max min total pad padding eos bos unk sep cls mask special additional image "
             "video audio text vocab ids id type types per second sec count counts length len "
             "limit size budget new prompt completion output input generated cached dispatcher "
             "permute drop dropping policy moe expert router capacity batch seq sequence level "
             "classification classifier embedding start end stop first last next think",
    "pass": "rate at num first second two one single multi forward backward by through count k "
            "ratio threshold status fail failed result all optimizer pipeline fusion graph",
    "auth": "type mode method enabled enable required url scheme",
    "sk": "learn image", "ak": "",
}  # fmt: skip
HARMLESS = {word: set(beside.split()) for word, beside in HARMLESS_BESIDE.items()}
HARMLESS["keys"] = HARMLESS["key"]
WORKING_DIRECTORY = re.compile(r"(?:old)?pwd", re.IGNORECASE)
TEXT_WORDS = re.compile(r"tokenizers?|tokens", re.IGNORECASE)
NO_SECRET = re.compile(
    r"(?:true|false|yes|no|on|off|none|null|nan|n/?a|empty|dummy)", re.IGNORECASE
)
SHORT_NUMBER = re.compile(
    r"-?\d{1,5}|-?\d*\.\d+(?:e[-+]?\d+)?|-?\d+(?:\.\d+)?e[-+]?\d+", re.IGNORECASE
)
RANDOM = re.compile(r"[\w+/=.~-]{20,}")
LEAST_CHANGES = 6
"""Between letters and digits, by which a random string differs from the name of a thing."""
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
USER_INFORMATION = re.compile(r"(?P<scheme>(?<!\w)[a-zA-Z][\w+.\-]{0,20}://)[^/\s@]+@")
ASSIGNMENT = re.compile(
    r"(?<![\w.\-])(?P<name>[\w.\-]{0,80}?"
    r"(?:passw(?:or)?d|passphrase|secret|token|credential|cookie|(?:api|access|private)[_-]?key|"
    r"[_-](?:key|pass|auth|[as]k)(?![a-z])|(?<![\w.\-])[as]k(?![\w]))[\w.\-]{0,40})"
    r"(?P<sign>[\"']?[ \t]*[=:][ \t]*|[ \t]+)(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s,;&'\"]+)",
    re.IGNORECASE,
)
ASSIGNED_WORDS = ("pass", "secret", "token", "credential", "cookie", "key", "auth", "ak", "sk")
"""One of them stands in whatever ASSIGNMENT finds."""
PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
)
TOKEN_SHAPES = re.compile(
    r"\b(?:hf_\w{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w\-]{16,}|sk-[\w\-]{16,}"
    r"|AKIA[0-9A-Z]{12,}|xox[abprs]-[\w\-]{10,}|eyJ[\w\-]{8,}\.[\w\-]{8,}\.[\w\-]*)"
    r"|(?<=Bearer )[^\s'\"]+|(?<=Basic )[^\s'\"]{8,}"
)
KEY_END = re.compile(rb"-----END [A-Z ]*-----")
UNCUT = (PRIVATE_KEY, USER_INFORMATION, TOKEN_SHAPES, ASSIGNMENT,
         re.compile(r"(?:Bearer|Basic) \S+"))
LONGEST_LINE = 48 * 1024  # bytes; longer ones are cut
AHEAD = 4 * 1024  # characters behind such a cut by which a secret across it is recognised
PIECE = 2**20
NAME_SIGNS = string.ascii_letters + string.digits + "_.-"


def is_secret_name(name: str) -> bool:
    """True for names such as HF_TOKEN, accessKey, db-password, AK; not for pad_token, key_layer."""
    if WORKING_DIRECTORY.fullmatch(name):
        return False
    words, joined = _words(name), re.sub(r"[^a-z]", "", TEXT_WORDS.sub("", name).lower())
    if words & SECRET_WORDS or any(part in joined for part in SECRET_PARTS):
        return True
    doubtful = words & DOUBTFUL_WORDS
    if not doubtful:
        return joined.endswith("token")
    return not any(words & HARMLESS[word] for word in doubtful)


def _words(name: str) -> set[str]:
    """The lower-case words of a name; words of texts and tokenizers left out."""
    return {word.lower() for word in WORDS.findall(TEXT_WORDS.sub(" ", name))}


def is_secret(name: str, value: Any) -> bool:
    """Whether the setting is one to hide: its name is secret, or doubtful and its value random."""
    text = str(value).strip()
    if value is None or isinstance(value, bool) or NO_SECRET.fullmatch(text):
        return False
    words = _words(name)
    if is_secret_name(name):
        is_sure = words & SECRET_WORDS or not words & DOUBTFUL_WORDS
        return bool(is_sure) or not SHORT_NUMBER.fullmatch(text)
    return bool(words & DOUBTFUL_WORDS) and _looks_random(text)


def _looks_random(text: str) -> bool:
    if not RANDOM.fullmatch(text):
        return False
    kinds = "".join("0" if sign.isdigit() else "a" for sign in text if sign.isalnum())
    return kinds.count("0a") + kinds.count("a0") >= LEAST_CHANGES


def mask_text(value: str) -> str:
    """A text without private keys, passwords in URLs, ``token=…`` and well-known token shapes."""
    value = PRIVATE_KEY.sub(MASK, value)
    value = USER_INFORMATION.sub(rf"\g<scheme>{MASK}@", value)
    value = TOKEN_SHAPES.sub(MASK, value)
    found, rest = [], 0
    for start, end in _assigning_lines(value):
        found += [value[rest:start], ASSIGNMENT.sub(_masked_assignment, value[start:end])]
        rest = end
    return "".join(found) + value[rest:]


def _assigning_lines(text: str) -> list[tuple[int, int]]:
    """Where the lines are in which ASSIGNMENT can find something: it is slow, and they are few."""
    folded, lines = text.lower(), set()
    if len(folded) != len(text):  # of a letter that becomes two
        return [(0, len(text))]
    for word in ASSIGNED_WORDS:
        at = folded.find(word)
        while at >= 0:
            start, end = folded.rfind("\n", 0, at) + 1, folded.find("\n", at)
            end = len(text) if end < 0 else end
            lines.add((start, end))
            at = folded.find(word, end)
    return sorted(lines)


def _masked_assignment(found: re.Match[str]) -> str:
    # "--password xyz" is an assignment, "the token is" is prose
    assigned = found["sign"].strip() or found["name"].startswith("--")
    if not assigned or not is_secret(found["name"], found["value"].strip("\"'")):
        return found[0]
    quote = found["value"][0] if found["value"][0] in "\"'" else ""
    return f"{found['name']}{found['sign']}{quote}{MASK}{quote}"


def mask_bytes(data: bytes) -> bytes:
    """As `mask_text`; bytes that are no UTF-8 are kept."""
    return mask_text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def text_pieces(stream: BinaryIO, size: int = PIECE) -> Iterator[bytes]:
    """The bytes of a text in pieces that can be masked one by one: none ends within a secret.

    Args:
        size: read at once; no more than about twice as many bytes are held.
    """
    rest = b""
    while chunk := stream.read(size):
        rest += chunk
        cut = safe_cut(rest)
        if cut:
            yield rest[:cut]
        rest = rest[cut:]
    if rest:
        yield rest


def safe_cut(data: bytes) -> int:
    """Where a text that goes on may be cut; 0 where more of it has to be seen first.

    After a line, but not within a private key. A line that is too long is cut between two words,
    where no secret lies on both sides.
    """
    cut = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
    if not cut and len(data) >= LONGEST_LINE:
        cut = _cut_of_line(data) or len(data)
    key = data.rfind(b"-----BEGIN ", 0, cut)
    if key < 0 or KEY_END.search(data, key, cut):
        return cut
    if key:
        return key
    if ended := KEY_END.search(data):
        return ended.end()
    return 0 if len(data) < LONGEST_LINE else cut


def _cut_of_line(line: bytes) -> int:
    """Between two words near the end of a long line, and within nothing that may be a secret."""
    start = len(line) - LONGEST_LINE
    text = line[start:].decode("utf-8", "surrogateescape")
    end = len(text) - AHEAD
    end = len(text[:end].rstrip(NAME_SIGNS)) or end
    found = [match.span() for pattern in UNCUT for match in pattern.finditer(text)]
    for first, last in sorted(found, reverse=True):
        if first < end < last:
            end = first
    return start + len(text[:end].encode("utf-8", "surrogateescape")) if end else 0


def mask_value(name: str, value: Any) -> Any:
    """``value`` of the setting ``name``, masked where name or content is secret."""
    if value is None or value == "":
        return value
    if is_secret(name, value):
        return MASK
    return mask_text(value) if isinstance(value, str) else value


def mask_words(words: list[str]) -> list[str]:
    """A command line in words with every secret masked, also one that is the word behind its
    ``--name`` or behind ``Bearer``, and a private key that was taken apart."""
    text = " ".join(words)
    if PRIVATE_KEY.search(text):
        words = PRIVATE_KEY.sub(MASK, text).split(" ")
    masked, name, before = [], "", ""
    for word in words:
        is_hidden = name and not word.startswith("-") and is_secret(name, word)
        is_hidden = is_hidden or before == "Bearer" or (before == "Basic" and len(word) > 7)
        before = word
        masked.append(MASK if is_hidden else mask_text(word))
        name = word[2:] if word.startswith("--") and "=" not in word else ""
    return masked


def masked_texts(value: Any) -> Any:
    """A JSON value with every text masked by its content alone, whatever name it stands under."""
    if isinstance(value, dict):
        return {key: masked_texts(item) for key, item in value.items()}
    if isinstance(value, list):
        return [masked_texts(item) for item in value]
    return mask_text(value) if isinstance(value, str) else value


def mask_tree(value: Any, name: str = "") -> Any:
    """A JSON value with every secret in it masked."""
    if isinstance(value, dict):
        return {key: mask_tree(item, str(key)) for key, item in value.items()}
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return mask_words([mask_value(name, item) for item in value])
    if isinstance(value, list):
        return [mask_tree(item, name) for item in value]
    return mask_value(name, value)
