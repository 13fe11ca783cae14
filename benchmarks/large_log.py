"""Memory of portal and browser while a page shows, follows, searches and downloads a large log.

    python -m benchmarks.large_log [--megabytes 1024]

Needs Chromium. Exit status 1 where the portal grows by more than 200 MB, the page's heap is above
64 MB, or the download is not the log byte for byte.
"""

import argparse
import hashlib
import shutil
import sys
import time

from benchmarks.log_portal import LINE, Portal

MOST_GROWTH_MB, MOST_HEAP_MB = 200, 64


def fill(portal: Portal, megabytes: int) -> None:
    """A log with one error at its start."""
    portal.write("RuntimeError: at the start\n")
    piece = "".join(LINE.format(n=n) + "\n" for n in range(20_000))
    while portal.job.log_stored < megabytes * 2**20:
        portal.write(piece)


class Page:
    """The job's page in Chromium."""

    def __init__(self, playwright, portal: Portal) -> None:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context(locale="en")
        context.add_cookies([{"name": "sessionid", "value": portal.cookie, "url": portal.base}])
        self.page = context.new_page()
        self.page.goto(f"{portal.base}/jobs/{portal.job.pk}/")
        self.protocol = context.new_cdp_session(self.page)

    def wait_for(self, text: str) -> float:
        """Seconds until the terminal shows it."""
        begun = time.monotonic()
        self.page.wait_for_function(
            "text => document.querySelector('.xterm-accessibility')?.innerText.includes(text)",
            arg=text, timeout=120_000)
        return time.monotonic() - begun

    def heap_mb(self) -> float:
        return self.protocol.send("Runtime.getHeapUsage")["usedSize"] / 2**20

    def download_digest(self) -> str:
        with self.page.expect_download(timeout=300_000) as download:
            self.page.click("a[download]")
        with download.value.path().open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()


def look(portal: Portal, page: Page) -> list[tuple[str, float | None]]:
    """What is done with the page, and how many seconds each took."""
    portal.write("now live\n")
    live = page.wait_for("now live")
    page.page.click("[data-log-error]")
    search = page.wait_for("RuntimeError: at the start")
    page.page.click("[data-log-end]")
    return [("a new line shows", live), ("its first error is found", search),
            ("back to the end", page.wait_for("now live"))]


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1024)
    asked = parser.parse_args()
    portal = Portal()
    from workers.logs import live_log

    try:
        fill(portal, asked.megabytes)
        with portal, sync_playwright() as playwright:
            page = Page(playwright, portal)
            page.wait_for("iteration")
            before = portal.memory_mb()[0]
            print(f"a log of {portal.job.log_stored / 2**20:.0f} MB")
            for what, seconds in look(portal, page):
                print(f"| {what} | {seconds:.2f} s | heap of the page {page.heap_mb():.1f} MB | "
                      f"portal {portal.memory_mb()[0]:.0f} MB |", flush=True)
            with live_log.path(portal.job).open("rb") as stream:
                same = page.download_digest() == hashlib.file_digest(stream, "sha256").hexdigest()
            most, heap = max(portal.memory_mb()), page.heap_mb()
            grown = most - before
            print(f"| download | {'the same bytes' if same else 'OTHER BYTES'} | heap of the page "
                  f"{heap:.1f} MB | portal at most {most:.0f} MB, "
                  f"{grown:.0f} MB more than after the first view |")
            page.page.context.browser.close()
    finally:
        shutil.rmtree(portal.folder, ignore_errors=True)
    sys.exit(not (same and grown <= MOST_GROWTH_MB and heap <= MOST_HEAP_MB))


if __name__ == "__main__":
    main()
