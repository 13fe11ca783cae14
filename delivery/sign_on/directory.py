"""Connections to the LDAP directory, which shows its certificate before it hears a password."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import ldap3
from ldap3.core.exceptions import LDAPStartTLSError
from ldap3.utils.dn import escape_rdn

from delivery.sign_on.settings import (
    LDAP_BASE,
    LDAP_BIND_NAME,
    LDAP_BIND_PASSWORD,
    LDAP_CA,
    LDAP_DOMAIN,
    LDAP_HAS_STARTTLS,
    LDAP_URL,
    LDAP_USER_ATTRIBUTE,
)

SECONDS = 5


class VerifiedTls(ldap3.Tls):
    """Certificate and host name are checked by Python's own TLS; ldap3's check knows no addresses
    and is off unless asked for."""

    def wrap_socket(self, connection, do_handshake=False) -> None:
        context = ssl.create_default_context(cafile=LDAP_CA or None)
        connection.socket = context.wrap_socket(
            connection.socket, server_hostname=connection.server.host,
            do_handshake_on_connect=do_handshake)


@contextmanager
def connected() -> Iterator[ldap3.Connection]:
    """A connection with a good certificate, nobody logged in; without TLS where the settings allow
    that.

    Raises LDAPException, then and while it is used: the directory does not answer, its certificate
    is not good, or it says no.
    """
    # A referral would take the password to a host of the answer's choice, unverified.
    server = ldap3.Server(LDAP_URL, get_info=ldap3.NONE, connect_timeout=SECONDS,
                          tls=VerifiedTls(), allowed_referral_hosts=[])
    link = ldap3.Connection(server, receive_timeout=SECONDS, raise_exceptions=True)
    link.open(read_server_info=False)
    try:
        if LDAP_HAS_STARTTLS and not link.start_tls(read_server_info=False):
            raise LDAPStartTLSError(link.last_error)
        yield link
    finally:
        link.unbind()


def bind_service(link: ldap3.Connection) -> None:
    """As the account that reads entries, where there is one."""
    if LDAP_BIND_NAME:
        link.rebind(service_name(LDAP_BIND_NAME), LDAP_BIND_PASSWORD)


def person_name(username: str) -> str:
    """As whom somebody with this log-in name binds."""
    if LDAP_DOMAIN:
        return f"{username}@{LDAP_DOMAIN}"
    return f"{LDAP_USER_ATTRIBUTE}={escape_rdn(username)},{LDAP_BASE}"


def service_name(name: str) -> str:
    """As whom the desk itself binds: under a whole name of any kind, or one like people's."""
    return name if set(name) & set("=@\\") else person_name(name)
