"""Ports for servers that tests start."""

import contextlib
import random
import socket

PORTS = range(10_000, 32_768)  # below Linux's ephemeral range, from which connections take theirs


def free_port() -> int:
    """A loopback port that nothing listens on; no outgoing connection takes it by chance."""
    for port in random.SystemRandom().sample(PORTS, 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError("none of 100 ports is free")
