"""People with a browser of their own, what they meet, and the site that they are on."""

import random
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from statistics import median

import urllib3

P95_LIMIT_MS = 300


class Log:
    """What came back, by kind of turn."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = defaultdict(list)
        self.errors: dict[str, list] = defaultdict(list)
        self.written: list[str] = []
        self.users = 0
        self.lock = threading.Lock()

    def note(self, name: str, status: int | str, milliseconds: float) -> None:
        with self.lock:
            self.times[name].append(milliseconds)
            if not isinstance(status, int) or status >= 400:
                self.errors[name].append(status)

    def reads(self) -> tuple[int, int, float, float]:
        """How many turns, errors of any turn, median and p95 in ms of turns that only read."""
        times = sorted(one for name, found in self.times.items() if is_read(name) for one in found)
        errors = sum(map(len, self.errors.values()))
        if not times:
            return 0, errors, 0.0, 0.0
        return len(times), errors, median(times), p95_of(times)

    def printed(self, limit_ms: int) -> bool:
        """Prints a line for each kind; whether nothing failed and each read kept the limit."""
        print(f"{'turn':<14}{'count':>7}{'errors':>8}{'ms':>8}{'p95':>8}")
        is_good = True
        for name, times in sorted(self.times.items()):
            p95, failed = p95_of(times), self.errors[name]
            print(f"{name:<14}{len(times):>7}{len(failed):>8}{median(times):>8.0f}{p95:>8.0f}"
                  f"  {sorted(set(map(str, failed)))[:4] or ''}".rstrip())
            is_good = is_good and not failed and not (is_read(name) and p95 > limit_ms)
        return is_good


def is_read(name: str) -> bool:
    return name not in ("log in", "write")


def p95_of(times: list[float]) -> float:
    return sorted(times)[round(0.95 * (len(times) - 1))]


class Person(threading.Thread):
    """One user. A site's own says what the turns are.

    Args:
        ends: by the monotonic clock.
        think: mean seconds between two turns.
    """

    token = re.compile("")  # finds the secret of a form
    token_field = ""

    def __init__(self, base: str, username: str, log: Log, ends: float, think: float) -> None:
        super().__init__(daemon=True)
        self.base, self.username, self.log, self.ends, self.think = base, username, log, ends, think
        self.pool = urllib3.PoolManager(maxsize=1, timeout=30, retries=False)
        self.cookies: dict[str, str] = {}
        self.random = random.Random(username)

    def turns(self) -> dict[str, Callable[[], int]]:
        """What the user does, each as often; the answer's status."""
        raise NotImplementedError

    def log_in(self) -> int:
        raise NotImplementedError

    def run(self) -> None:
        self.turn("log in", self.log_in)
        turns = list(self.turns().items())
        while time.monotonic() < self.ends:
            self.turn(*self.random.choice(turns))
            time.sleep(self.random.expovariate(1 / self.think))

    def turn(self, name: str, what: Callable[[], int]) -> None:
        begun = time.perf_counter()
        try:
            status = what()
        except Exception as error:
            status = type(error).__name__
        self.log.note(name, status, (time.perf_counter() - begun) * 1000)

    def ask(self, method: str, path: str, fields: dict | None = None
            ) -> urllib3.BaseHTTPResponse:
        headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items()),
                   "Referer": self.base + path}
        options = {"encode_multipart": False} if method == "POST" else {}
        answer = self.pool.request(method, self.base + path, fields=fields, headers=headers,
                                   redirect=False, **options)
        for cookie in answer.headers.getlist("Set-Cookie"):
            name, _sign, value = cookie.split(";")[0].partition("=")
            self.cookies[name] = value
        return answer

    def get(self, *paths: str) -> int:
        """The status of one of these pages."""
        return self.ask("GET", self.random.choice(paths)).status

    def send(self, form_at: str, path: str, fields: dict) -> int:
        """Open a form and send it: 200 where the site took it, which it says by leading on."""
        page = self.ask("GET", form_at)
        found = self.token.search(page.data.decode())
        if not found:
            return page.status if page.status >= 400 else 422
        status = self.ask("POST", path, {**fields, self.token_field: found[1]}).status
        return {302: 200, 200: 422}.get(status, status)


class Site:
    """Where the crowd is: a context that starts and ends it."""

    name = ""
    limit_ms = P95_LIMIT_MS

    def __enter__(self) -> "Site":
        return self

    def __exit__(self, *_about) -> None:
        """Nothing to end."""

    def crowd(self, users: int, log: Log, ends: float, think: float) -> list[Person]:
        """So many people, fewer where the site has no more."""
        raise NotImplementedError

    def kept_writes(self, log: Log) -> bool:
        """Whether what was acknowledged is stored once; prints it."""
        return True
