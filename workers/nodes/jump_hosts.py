"""Chains of jump hosts: behind the first bastion, one line per further host, in order.

A line reads `user@host:port ssh-ed25519 AAAA…`: as for the bastion, the host key is pinned as a
person gave it.
"""

import re
from dataclasses import dataclass

import asyncssh
from django.utils.translation import gettext as _

LINE = re.compile(r"(?:([A-Za-z_][A-Za-z0-9_.-]*)@)?"
                  r"(\[[0-9A-Fa-f:.]+\]|[^\s:@\[\]]+)(?::(\d{1,5}))?"
                  r"\s+(\S+ \S+(?: .*)?)")
MOST = 5


@dataclass(frozen=True)
class JumpHost:
    """One hop. An empty user is the one of the node."""

    username: str
    host: str
    port: int
    host_key: str


def chain_of(text: str) -> list[JumpHost]:
    """The hosts in their order. Raises ValueError naming the line that cannot be read."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > MOST:
        raise ValueError(_("More than %(n)d jump hosts behind the bastion.") % {"n": MOST})
    return [_host(number, line) for number, line in enumerate(lines, 1)]


def _host(number: int, line: str) -> JumpHost:
    found = LINE.fullmatch(line)
    port = int(found[3] or 22) if found else 0
    try:
        if not found or not 0 < port < 65536:
            raise ValueError
        asyncssh.import_public_key(found[4])
    except (ValueError, asyncssh.KeyImportError) as error:
        raise ValueError(_("Line %(n)d of the jump hosts is not “user@host:port” followed by the "
                           "line of its ssh_host_ed25519_key.pub.") % {"n": number}) from error
    return JumpHost(found[1] or "", found[2].strip("[]"), port, found[4])
