"""Somebody who looks at nodes, queue and jobs in Chromium while things break.

He goes round until he is stopped, in two languages, sizes and themes, and notes what no page may
do: answer 500, complain on the console, be wider than the window, or tell of a state that the
database did not hold before or after.
"""

import collections
import re
import shutil
import threading
import time
from pathlib import Path

WINDOWS = (
    {"locale": "zh-CN", "viewport": {"width": 1440, "height": 900}, "color_scheme": "light"},
    {"locale": "en", "viewport": {"width": 375, "height": 800}, "color_scheme": "dark"},
)
PATIENCE = 25_000  # milliseconds; the database may be held for some seconds
# What the browser says of a portal that is being killed or of a database that restarts.
EXPECTED = re.compile(r"ERR_(CONNECTION|EMPTY_RESPONSE|INCOMPLETE|NETWORK)|status of 503"
                      r"|Failed to fetch|htmx:sendError|Response Status Error Code 503")


class Onlooker:
    """Looks until `stop`; what he found wrong is in `wrong`."""

    def __init__(self, desk, user, pictures: Path) -> None:
        self.base, self.pictures = f"http://127.0.0.1:{desk.web_port}", pictures
        self.cookie = _session_of(user)
        self.statuses: collections.Counter[str] = collections.Counter()
        self.wrong: dict[str, list[str]] = {
            "pages answer": [], "console silent": [], "pages fit": [], "states told truly": []}
        self.is_stopping = False
        pictures.mkdir(parents=True, exist_ok=True)
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()

    def stop(self) -> list[str]:
        """Lines for the table, after a last round."""
        self.is_stopping = True
        self.thread.join(240)
        return [f"| pages looked at: {name} | {count} |"
                for name, count in sorted(self.statuses.items())]

    def _look(self) -> None:
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
            pages = [self._window(browser, window) for window in WINDOWS]
            is_last, number = False, 0
            while not is_last:
                is_last, number = self.is_stopping, number + 1
                for page in pages:
                    self._round(page, number)
            browser.close()

    def _window(self, browser, window: dict):
        context = browser.new_context(**window)
        context.add_cookies([{"name": "sessionid", "value": self.cookie, "url": self.base}])
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: self._complaint(page, str(error)))
        page.on("console", lambda message: self._complaint(page, message.text)
                if message.type == "error" else None)
        return page

    def _complaint(self, page, text: str) -> None:
        if not EXPECTED.search(text):
            self.wrong["console silent"].append(f"{page.url}: {text}")

    def _round(self, page, number: int) -> None:
        for path in [*_fixed_paths(), *_job_paths(number)]:
            before = _state_of(path)
            if self._open(page, path):
                self._judge(page, path, {before, _state_of(path)})
                self._picture(page, path, number)

    def _open(self, page, path: str) -> bool:
        from playwright.sync_api import Error

        try:
            status = page.goto(self.base + path, wait_until="load").status
        except Error as error:
            name = "portal restarting" if EXPECTED.search(str(error)) else "no answer in time"
            self.statuses[name] += 1
            time.sleep(0.5)
            return False
        self.statuses[str(status)] += 1
        if status not in (200, 503):
            self.wrong["pages answer"].append(f"{path}: {status}")
        return status == 200

    def _judge(self, page, path: str, states: set[str]) -> None:
        if page.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1"):
            self.wrong["pages fit"].append(f"{path} at {page.viewport_size['width']} px")
        if states != {""}:
            shown = page.locator("#live").get_attribute("data-state")
            sentence = page.locator("#live strong").first.inner_text().strip()
            if (len(states) == 1 and shown not in states) or not sentence:
                self.wrong["states told truly"].append(
                    f"{path}: shows {shown} “{sentence}”, the database held {sorted(states)}")

    def _picture(self, page, path: str, number: int) -> None:
        """One picture per kind of page and state, the newest."""
        name = re.sub(r"\d+", "", path).strip("/").replace("/", "-") or "home"
        state = page.locator("#live").get_attribute("data-state") if "jobs/" in path and re.search(
            r"\d", path) else ""
        width = page.viewport_size["width"]
        page.screenshot(path=self.pictures / f"{name}{state and '-' + state}-{width}.png",
                        full_page=True)


def _session_of(user) -> str:
    """The key of a session in which the user is logged in."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return session.session_key


def _fixed_paths() -> list[str]:
    from workers.models import Node

    nodes = _asked(lambda: list(Node.objects.values_list("pk", flat=True)))
    return ["/", "/nodes/", "/jobs/queue/", "/jobs/", *(f"/nodes/{pk}/" for pk in nodes)]


def _job_paths(number: int) -> list[str]:
    """The newest job of every state, and one more in turn."""
    from workers.models import Job

    rows = _asked(lambda: list(Job.objects.values_list("pk", "state").order_by("pk")))
    newest = {state: pk for pk, state in rows}
    turn = {rows[number % len(rows)][0]} if rows else set()
    return [f"/jobs/{pk}/" for pk in sorted({*newest.values(), *turn})]


def _state_of(path: str) -> str:
    from workers.models import Job

    found = re.fullmatch(r"/jobs/(\d+)/", path)
    if not found:
        return ""
    return _asked(lambda: Job.objects.values_list("state", flat=True).get(pk=found[1]))


def _asked(query):
    """The database's answer, from a thread where Playwright's event loop does not run."""
    from concurrent.futures import ThreadPoolExecutor

    from tests.faults.run import persist

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: persist(query)).result()
