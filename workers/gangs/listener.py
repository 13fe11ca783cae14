"""Listens in the background until it is told to close, for a minute at most."""

import contextlib
import os
import socket
import sys
import time

address, port, mark, seconds = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
family = socket.AF_INET6 if ":" in address else socket.AF_INET
server = socket.socket(family, socket.SOCK_STREAM)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
try:
    server.bind((address, port))
except OSError as error:
    print("desk net refused", error.strerror or error)
    sys.exit()
server.listen(128)
if os.fork():
    print("desk net listens")
    sys.stdout.flush()
    os._exit(0)
os.setsid()
for number in range(3):
    os.dup2(os.open(os.devnull, os.O_RDWR), number)
note = f"/tmp/{mark}"  # holds the number of this process for the closer
with open(note, "w") as file:
    file.write(str(os.getpid()))
deadline = time.monotonic() + seconds
while time.monotonic() < deadline:
    server.settimeout(max(0.1, deadline - time.monotonic()))
    try:
        peer, _who = server.accept()
    except OSError:
        break
    try:
        peer.settimeout(2)
        peer.sendall(mark.encode() + b"\n")
        peer.recv(1)  # whoever closes first keeps the port busy for a while: the other side
        peer.close()
    except OSError:
        pass
with contextlib.suppress(OSError):
    os.unlink(note)
