"""Connects to the other nodes' listeners and tells which of them do not answer with the mark."""

import socket
import sys
from concurrent.futures import ThreadPoolExecutor


def why_not(peer):
    rank, address, port, mark = peer.split()
    try:
        with socket.create_connection((address, int(port)), timeout=6) as line:
            line.settimeout(6)
            answer = line.recv(200).decode(errors="replace").strip()
    except OSError as error:
        return rank, str(error.strerror or error)
    return rank, "" if answer == mark else "somebody else answers"


with ThreadPoolExecutor(16) as pool:
    for rank, why in pool.map(why_not, sys.argv[1:]):
        if why:
            print("desk net unreached", rank, why)
print("desk net tried")
