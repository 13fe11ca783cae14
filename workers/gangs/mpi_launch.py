"""Starts Open MPI on several nodes without a log-in between them.

lead NODES WORD…: the first node; waits until the others have called at MASTER_PORT, then runs the
words, an mpirun whose launch agent this file is (agent HOST COMMAND…). follow: another node; calls,
runs there what the agent hands on, and ends when mpirun has ended. Every message carries a code
that only who knows DESK_GANG_KEY can make, over a number that its receiver chose.
"""

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time

WAIT = 300  # seconds until all nodes have called
KEY = os.environ.get("DESK_GANG_KEY", "").encode()


class Line:
    """Messages between the first node and another one. Raises OSError where the peer is gone or
    does not know the key."""

    def __init__(self, peer, role):
        self.stream, self.role = peer.makefile("rwb"), role
        self.number, self.sent, self.received = secrets.token_hex(16), 0, 0
        self.write({"number": self.number})
        self.theirs = str(self.read().get("number"))

    def write(self, what):
        self.stream.write(json.dumps(what).encode() + b"\n")
        self.stream.flush()

    def read(self):
        try:
            return dict(json.loads(self.stream.readline(1 << 20)))
        except ValueError:
            raise OSError("connection closed") from None

    def code(self, role, number, count, text):
        return hmac.new(KEY, f"{role} {number} {count} {text}".encode(), hashlib.sha256).hexdigest()

    def transmit(self, **what):
        text, self.sent = json.dumps(what), self.sent + 1
        self.write({"text": text, "code": self.code(self.role, self.theirs, self.sent, text)})

    def receive(self):
        found, self.received = self.read(), self.received + 1
        other = {"lead": "follow", "follow": "lead"}[self.role]
        code = self.code(other, self.number, self.received, found.get("text"))
        if not hmac.compare_digest(code, str(found.get("code"))):
            raise OSError("somebody else answers")
        return json.loads(found["text"])


def called(nodes):
    """The lines to the other nodes, by their addresses."""
    address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    lines, until = {}, time.monotonic() + WAIT
    with socket.create_server((address, port), family=family) as server:
        while len(lines) < nodes - 1:
            server.settimeout(max(0.1, until - time.monotonic()))
            try:
                peer, _who = server.accept()
            except OSError:
                sys.exit(f"desk: {len(lines)} of {nodes - 1} other nodes called within {WAIT} s")
            try:
                peer.settimeout(10)
                line = Line(peer, "lead")
                lines[line.receive()["address"]] = line
                peer.settimeout(None)
            except (OSError, KeyError):
                peer.close()
    return lines


def hand_on(lines, asker):
    """Let another node run what the agent was called with; the agent ends as that does."""
    with asker, asker.makefile("rwb") as stream:
        host, command = json.loads(stream.readline())
        status = 1
        try:
            lines[host].transmit(run=command)
            status = lines[host].receive()["status"]
        except (OSError, KeyError) as error:
            print(f"desk: {host}: {error}", file=sys.stderr, flush=True)
        stream.write(json.dumps(status).encode() + b"\n")


def listen(lines, server):
    while True:
        threading.Thread(target=hand_on, args=(lines, server.accept()[0]), daemon=True).start()


def lead(nodes, words):
    lines = called(int(nodes))
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        place = os.path.join(folder, "agent")
        server.bind(place)
        server.listen(128)
        threading.Thread(target=listen, args=(lines, server), daemon=True).start()
        status = subprocess.call(words, env={**os.environ, "DESK_MPI_AGENT": place})
    for line in lines.values():
        with contextlib.suppress(OSError):
            line.transmit(end=status)
    return status if status >= 0 else 128 - status


def agent(host, words):
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(os.environ["DESK_MPI_AGENT"])
        stream = line.makefile("rwb")
        stream.write(json.dumps([host, " ".join(words)]).encode() + b"\n")
        stream.flush()
        return json.loads(stream.readline() or b"1")


def follow():
    until = time.monotonic() + WAIT
    while True:
        try:
            peer = socket.create_connection(
                (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])), timeout=10)
            break
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
    peer.settimeout(None)
    line, children = Line(peer, "follow"), []
    line.transmit(address=os.environ["HCCL_IF_IP"])
    try:
        while True:
            asked = line.receive()
            if "run" not in asked:
                return 0
            children.append(subprocess.Popen(["sh", "-c", asked["run"]], stdin=subprocess.DEVNULL))
            threading.Thread(target=lambda child: line.transmit(status=child.wait()),
                             args=(children[-1],), daemon=True).start()
    except OSError as error:
        print(f"desk: the first node: {error}", file=sys.stderr, flush=True)
        return 1
    finally:
        for child in children:
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                child.kill()


if __name__ == "__main__":
    sys.exit({"lead": lambda given: lead(given[0], given[1:]), "follow": lambda _given: follow(),
              "agent": lambda given: agent(given[0], given[1:])}[sys.argv[1]](sys.argv[2:]))
