"""One POST to a checked address: no redirects, bounded answer, bounded time."""

import time

import urllib3
from urllib3.exceptions import HTTPError, NewConnectionError, SSLError
from urllib3.exceptions import TimeoutError as HTTPTimeout

from delivery.notices.channel_kinds import Answer
from delivery.notices.transport import address_allowlist
from engagements.errors import DeskError, InvalidInput

TIMEOUT = urllib3.Timeout(connect=5, read=10)
LONGEST_SECONDS = 20
LARGEST_ANSWER = 64 * 1024


class NotSent(DeskError):
    """The message did not arrive, or nobody knows. `reason` is a code of `outcomes.REASONS`."""

    def __init__(self, reason: str, is_permanent: bool = False):
        super().__init__(reason)
        self.reason, self.is_permanent = reason, is_permanent


def post(kind: str, url: str, body: bytes, headers: dict[str, str]) -> Answer:
    """Send the body to a channel's address.

    Raises NotSent; its text never holds the address, which is a secret.
    """
    try:
        target = address_allowlist.check(kind, url)
        address = address_allowlist.resolve(target)
    except address_allowlist.Unresolved:
        raise NotSent("unresolved") from None
    except InvalidInput:
        raise NotSent("refused", is_permanent=True) from None
    try:
        return _post(target, address, body, headers)
    except SSLError:
        raise NotSent("tls") from None
    except NewConnectionError:  # which urllib3 counts among the timeouts
        raise NotSent("unreachable") from None
    except HTTPTimeout:
        raise NotSent("timeout") from None
    except (HTTPError, OSError):
        raise NotSent("unreachable") from None


def _post(target: address_allowlist.Target, address: str, body: bytes, headers: dict) -> Answer:
    """Connects to the address that was checked; certificate and Host are those of the name."""
    if target.scheme == "https":
        pool = urllib3.HTTPSConnectionPool(
            address, target.port, timeout=TIMEOUT, retries=False,
            server_hostname=target.host, assert_hostname=target.host)
    else:
        pool = urllib3.HTTPConnectionPool(address, target.port, timeout=TIMEOUT, retries=False)
    is_usual = target.port == address_allowlist.PORTS[target.scheme]
    host = target.host if is_usual else f"{target.host}:{target.port}"
    with pool:
        response = pool.urlopen(
            "POST", target.path, body=body, redirect=False, preload_content=False,
            headers={"Host": host, "Content-Type": "application/json; charset=utf-8",
                     "User-Agent": "delivery-desk", **headers})
        try:
            return Answer(response.status, _bounded(response))
        finally:
            response.close()


def _bounded(response) -> bytes:
    """The answer's body, read no longer and no further than the limits."""
    ends_at, parts, size = time.monotonic() + LONGEST_SECONDS, [], 0
    while chunk := response.read1(8192):
        parts.append(chunk)
        size += len(chunk)
        if size > LARGEST_ANSWER:
            raise NotSent("too_large")
        if time.monotonic() > ends_at:
            raise NotSent("timeout")
    return b"".join(parts)
