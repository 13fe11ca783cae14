"""Why a node does not answer, as far as the error of the connection tells."""

import re
from dataclasses import dataclass

from django.utils.translation import gettext_noop


@dataclass(frozen=True)
class AbsenceCause:
    """What an error text means and what to do; both are message ids."""

    pattern: re.Pattern[str]
    sentence: str
    remedy: str


def _cause(pattern: str, sentence: str, remedy: str) -> AbsenceCause:
    return AbsenceCause(re.compile(pattern, re.IGNORECASE), sentence, remedy)


GOES_ON = gettext_noop(
    "Nothing has to be started again: the job belongs to the node, and the system keeps checking "
    "it.")
# errno(3), getaddrinfo(3), and the exceptions of asyncssh; the first that matches counts.
CAUSES = (
    _cause(r"gaierror|name or service not known|name resolution|nodename nor servname",
           gettext_noop("The host name of the node cannot be resolved."),
           gettext_noop("Correct the host name on the node's page, or the name server of this "
                        "machine.")),
    _cause(r"ConnectionRefused|errno 111|connection refused",
           gettext_noop("The machine answers, but no SSH server listens on the port."),
           gettext_noop("Start sshd on the node (systemctl status sshd), or correct the port "
                        "on the node's page.")),
    _cause(r"errno 113|no route to host|errno 101|network is unreachable",
           gettext_noop("No way through the network leads to the node: it is switched off, or a "
                        "route, VPN or firewall is missing."),
           gettext_noop("Look at the node's power and network and at the VPN; ping it from this "
                        "machine.")),
    _cause(r"NotBegun|closed the connection before the log-in",
           gettext_noop("The SSH server closes the connection before anybody logs in: too many "
                        "log-ins are under way there, or it does not want this address."),
           gettext_noop("Look at MaxStartups and PerSourceMaxStartups in the node's sshd_config, "
                        "at fail2ban and at its log.")),
    _cause(r"JumpHostRefused|the jump host opens no connection",
           gettext_noop("The jump host answers, but does not reach the node."),
           gettext_noop("Log in to the jump host and try the node from there; look at its "
                        "AllowTcpForwarding.")),
    _cause(r"ChannelRefused|opens no session",
           gettext_noop("The node's SSH server opens no session."),
           gettext_noop("Look at MaxSessions in the node's sshd_config.")),
    _cause(r"CommandTimedOut|did not end within",
           gettext_noop("The node let us in; a command did not end in time."),
           gettext_noop("Look at the node's load, and at file systems that hang, such as NFS.")),
    _cause(r"NoAlgorithm|no common",
           gettext_noop("The node's SSH server has no algorithm in common with us."),
           gettext_noop("Look at Ciphers, KexAlgorithms and HostKeyAlgorithms in the node's "
                        "sshd_config.")),
    _cause(r"ProtocolError|ProtocolNotSupported|SSH protocol",
           gettext_noop("What listens on the port is no SSH server."),
           gettext_noop("Look at the port on the node's page and at the node's sshd_config.")),
    _cause(r"no host key", gettext_noop("What listens on the port shows no host key."),
           gettext_noop("Look at the port on the node's page and at the node's sshd_config.")),
    _cause(r"ConnectionLost|connection (was )?lost|connection closed|ConnectionReset|errno 104|"
           r"broken pipe|answer was cut short",
           gettext_noop("The connection was lost while it was used."), GOES_ON),
    _cause(r"TimeoutError|timed out|errno 110",
           gettext_noop("The node did not answer in time: it is switched off, overloaded, or a "
                        "firewall drops the packets."),
           gettext_noop("Look at the node's power, load and network, and at firewalls between.")),
)


def cause_of(error: str) -> AbsenceCause | None:
    """What the text of a connection's error means; None where it is not known."""
    return next((cause for cause in CAUSES if cause.pattern.search(error)), None)
