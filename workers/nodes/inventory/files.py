"""Which format an uploaded inventory has, found by its content; its name decides where it must."""

import hashlib
import re
from dataclasses import dataclass
from typing import BinaryIO

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from toolreaders.decoding import decode
from workers import uploaded_table
from workers.nodes.inventory import ansible
from workers.uploaded_table import Entry

YAML_HEAD = re.compile(r"^(?:---|[\w.-]+:\s*(?:#.*)?)\s*$")
SECRETS = re.compile(r"pass(?:word|phrase)?$|_pass$|private_key$|secret|token|密码|口令", re.I)


@dataclass(frozen=True)
class InventoryFile:
    """The machines of a file. `secrets` names what held passwords or keys and was left out."""

    format: str
    sha256: str
    entries: list[Entry]
    secrets: list[str]


def read_inventory(upload: BinaryIO, name: str) -> InventoryFile:
    """Read an uploaded inventory.

    Raises InvalidInput with a sentence for a file that is too large, damaged, hostile, of no known
    format, or without a machine.
    """
    data, is_workbook = uploaded_table.read_upload(upload)
    kind, entries = ("xlsx", uploaded_table.entries_of_xlsx(data)) if is_workbook else (
        _entries_of_text(data, name.lower()))
    if not entries:
        raise InvalidInput(_("“%(file)s” names no machine: a table needs a row with the names of "
                             "its columns and rows below it.") % {"file": name})
    return InventoryFile(kind, hashlib.sha256(data).hexdigest(), entries, _without_secrets(entries))


def _entries_of_text(data: bytes, name: str) -> tuple[str, list[Entry]]:
    text = decode(data)[0].lstrip("\ufeff")
    if name.endswith(".csv"):
        return "csv", uploaded_table.entries_of_csv(data)
    lines = [line for line in text.splitlines() if line.strip() and line.lstrip()[0] not in "#;"]
    if name.endswith((".yml", ".yaml")) or (lines and YAML_HEAD.match(lines[0])):
        return "yaml", ansible.entries_of_yaml(text)
    head = lines[0] if lines else ""
    # A first line names columns; a host with variables holds `=`, a section brackets.
    is_table = (any(sign in head for sign in uploaded_table.DELIMITERS)
                and "=" not in head and "[" not in head)
    if name.endswith((".tsv", ".txt")) and is_table:
        return "csv", uploaded_table.entries_of_csv(data)
    return "ini", ansible.entries_of_ini(text)


def _without_secrets(entries: list[Entry]) -> list[str]:
    """Drop passwords and keys before anything is stored. Returns the names of what held them."""
    found = {}
    for entry in entries:
        for name in [name for name in entry.values if SECRETS.search(name.strip())]:
            del entry.values[name]
            found[name] = True
    return list(found)
