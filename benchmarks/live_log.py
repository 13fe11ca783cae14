"""What an open log costs the portal: polled by offset as the page does, or as an event stream.

    python -m benchmarks.live_log [--seconds 15] [--open 1 8 15 32]

The portal runs as `./desk run` starts it (gthread, 16 threads). A log grows by a line a second;
so many readers follow it in one way, then in the other. Printed are the processor of the portal
per reader, the delay of a line, how many readers got anything, the connections to the database,
and what a person at another page meets meanwhile (no answer within 5 s: –).
"""

import argparse
import http.client
import json
import re
import shutil
import threading
import time
from statistics import median

from benchmarks.log_portal import LINE, Portal

_WRITTEN = re.compile(r"written at (\d+\.\d+)")
PATIENCE = 5


class Reader(threading.Thread):
    """Follows the log until `stop`; `delays` of the lines it got, in seconds."""

    def __init__(self, portal: Portal, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.portal, self.stop, self.delays = portal, stop, []
        self.offset = portal.job.log_stored

    def _took(self, text: str) -> None:
        now = time.time()
        self.delays += [now - float(at) for at in _WRITTEN.findall(text)]

    def _asked(self, path: str) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        line = http.client.HTTPConnection("127.0.0.1", self.portal.port, timeout=PATIENCE)
        line.request("GET", path, headers={"Cookie": f"sessionid={self.portal.cookie}"})
        return line, line.getresponse()


class Poller(Reader):
    """As log.js: again after 0.2 s while the log grows, else after a second."""

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                line, answer = self._asked(
                    f"/jobs/{self.portal.job.pk}/log/?offset={self.offset}")
            except OSError:
                continue
            self._took(answer.read().decode())
            moved = int(answer.headers["X-Next-Offset"]) > self.offset
            self.offset = int(answer.headers["X-Next-Offset"])
            line.close()
            self.stop.wait(0.2 if moved else 1)


class Listener(Reader):
    """As an EventSource: one request, and again where it breaks."""

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                line, answer = self._asked(
                    f"/bench/stream/{self.portal.job.pk}/?offset={self.offset}")
                for row in answer:
                    if row.startswith(b"data: "):
                        self._took(json.loads(row[6:]))
                    if self.stop.is_set():
                        break
                line.close()
            except OSError:
                continue


def page_ms(portal: Portal) -> float | None:
    """How long somebody else waits for the list of nodes; None without an answer."""
    begun = time.monotonic()
    line = http.client.HTTPConnection("127.0.0.1", portal.port, timeout=PATIENCE)
    try:
        line.request("GET", "/nodes/", headers={"Cookie": f"sessionid={portal.cookie}"})
        line.getresponse().read()
    except OSError:
        return None
    finally:
        line.close()
    return (time.monotonic() - begun) * 1000


def measure(portal: Portal, way: type[Reader], count: int, seconds: int) -> str:
    """One row of the table."""
    stop = threading.Event()
    readers = [way(portal, stop) for _n in range(count)]
    for reader in readers:
        reader.start()
    time.sleep(1)
    used, pages = portal.processor_seconds(), []
    for number in range(seconds):
        portal.write(f"{LINE.format(n=number)} written at {time.time():.4f}\n")
        time.sleep(1)
    used = portal.processor_seconds() - used  # before anybody else asks for a page
    connections = portal.database_connections()
    pages = [page_ms(portal) for _n in range(3)]
    stop.set()
    portal.write("the end\n")
    for reader in readers:
        reader.join(PATIENCE + 1)
    delays = [delay for reader in readers for delay in reader.delays]
    fed = sum(bool(reader.delays) for reader in readers)
    page = "–" if None in pages else f"{median(pages):.0f}"
    return (f"| {way.__name__} | {count} | {1000 * used / seconds / count:.1f} | "
            f"{median(delays) * 1000 if delays else 0:.0f} | {fed} | {connections} | {page} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--open", type=int, nargs="+", default=[1, 8, 15, 32])
    asked = parser.parse_args()
    portal = Portal()
    try:
        print("| way | open logs | processor, ms per second and log | delay, ms (median) | "
              "readers fed | database connections | another page, ms |\n" + "|---" * 7 + "|")
        for count in asked.open:
            for way in (Poller, Listener):
                with portal:
                    print(measure(portal, way, count, asked.seconds), flush=True)
    finally:
        shutil.rmtree(portal.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
