"""Where messages may be sent to: the hosts of the kinds, and what the installation adds.

Against forged requests: HTTPS unless configured otherwise, no names or ports of one's own
choice, and the address that was checked is the address that is connected to.
"""

import ipaddress
import re
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from delivery.notices.channel_kinds import all_senders, sender_of
from engagements.errors import DeskError, InvalidInput

PORTS = {"https": 443, "http": 80}
STRANGE = re.compile(r"[\x00-\x20\x7f\\]")
# IPv6 addresses that carry an IPv4 address or never belong to a public host: compatible (RFC 4291),
# translated (RFC 2765), NAT64 (RFC 6052, 8215), 6to4, Teredo, site-local.
NOT_PUBLIC = [ipaddress.ip_network(text) for text in (
    "::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32",
    "fec0::/10")]
ISATAP = 0x00005EFE  # 3rd of 4 words of the address (RFC 5214), 0x02005EFE for global IPv4


class Unresolved(DeskError):
    """The host's name has no address at the moment."""

    code = "unresolved"


@dataclass(frozen=True)
class Target:
    """A checked address: where to connect and what to ask for."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"


def check(kind: str, url: str) -> Target:
    """The target of a channel's address.

    Raises InvalidInput if the host, the port or the scheme is not allowed for this kind. The
    sentence names the host at most: the rest of the address is a secret.
    """
    target = _parsed(url)
    if (host := sender_of(kind).host) and target.origin == f"https://{host}:443":
        return target
    if target.origin not in configured_origins():
        raise InvalidInput(
            _("Messages of this kind may not be sent to %(host)s. An administrator can allow the "
              "host in DESK_NOTICE_HOSTS.") % {"host": target.host})
    return target


def _parsed(url: str) -> Target:
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS[parts.scheme]
        host = (parts.hostname or "").rstrip(".").encode("idna").decode()
    except (ValueError, KeyError):
        host = port = None
    if not host or STRANGE.search(url) or parts.username is not None or parts.fragment:
        raise InvalidInput(_("This is not a usable address. Copy it from the robot's settings."))
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port, path)


def configured_origins() -> set[str]:
    """DESK_NOTICE_HOSTS as scheme://host:port; a bare host means HTTPS on port 443."""
    origins = set()
    for entry in settings.NOTICE_HOSTS:
        parts = urlsplit(entry if "://" in entry else f"https://{entry}")
        origins.add(f"{parts.scheme}://{parts.hostname}:{parts.port or PORTS[parts.scheme]}")
    return origins


def resolve(target: Target) -> str:
    """The address to connect to. Every address of the name must be allowed.

    Raises Unresolved, or InvalidInput for an address in a private or reserved network that
    DESK_NOTICE_NETWORKS does not name. The known hosts never lie in such a network.
    """
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unresolved(_("The name %(host)s cannot be resolved.") % {"host": target.host}
                         ) from error
    addresses = [entry[4][0] for entry in found]
    is_known = target.host in {sender.host for sender in all_senders()}
    networks = [] if is_known else settings.NOTICE_NETWORKS
    if not addresses or not all(_is_allowed(address, networks) for address in addresses):
        raise InvalidInput(
            _("%(host)s is in a private network. An administrator can allow the network in "
              "DESK_NOTICE_NETWORKS.") % {"host": target.host})
    return addresses[0]


def _is_allowed(text: str, networks: list[str]) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    address = getattr(address, "ipv4_mapped", None) or address
    if any(address in ipaddress.ip_network(network) for network in networks):
        return True
    return address.is_global and not (address.is_multicast or _is_carrier(address))


def _is_carrier(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether packets to it may end at an IPv4 address that nobody checked."""
    if address.version == 4:
        return False
    word = int(address) >> 32 & 0xFDFFFFFF
    return word == ISATAP or any(address in network for network in NOT_PUBLIC)
