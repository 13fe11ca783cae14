"""Chromium, people at its windows, and the sample engagement with its practice node."""

import os
import shutil
from pathlib import Path

import pytest
from django.conf import settings

from delivery.demo.sample_firm import PASSWORD
from delivery.demo.sample_setup import load_sample
from tests.delivery.review_steps import SHORT

AXE = Path(settings.BASE_DIR) / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="session")
def chromium():
    """Debian's Chromium, driven by Playwright."""
    from playwright.sync_api import sync_playwright

    # Playwright runs an event loop in this thread; Django's guard would take it for async code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def sample(db):
    """The sample engagement with its practice node."""
    from practice_node.server import running_practice_node

    engagement = load_sample()
    with running_practice_node(Path(settings.VAR_DIR) / "practice-node") as node:
        from delivery.demo.sample_node import enrol_practice_node

        enrol_practice_node(node.root, node.host, node.port)
        yield engagement


@pytest.fixture
def quick_pages(monkeypatch):
    """Typesetting is not what is tried here."""
    for module in ("delivery.acceptance.services.signed_copies", "delivery.reports.rendering"):
        monkeypatch.setattr(f"{module}.render_document", lambda *a, **k: SHORT)


@pytest.fixture
def people_with_mail(people):
    """Everybody can log in, and has an address for the code."""
    for user in people.values():
        user.set_password(PASSWORD)
        user.email = f"{user.username}@firm.example"
        user.save()
    return people


class Visitor:
    """Somebody at a browser window; collects what the console complains about."""

    def __init__(self, browser, base: str, language: str = "zh-CN", size=(1440, 900),
                 motion: str = "no-preference"):
        context = browser.new_context(locale=language, reduced_motion=motion,
                                      viewport={"width": size[0], "height": size[1]})
        self.page, self.base, self.errors = context.new_page(), base, []
        self.page.set_default_timeout(60_000)  # the machine may be busy with other tests
        self.page.on("dialog", lambda dialog: dialog.accept())
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(
            f"{message.text} {message.location.get('url', '')}")
            if message.type == "error" else None)

    def sign_in(self, username: str) -> "Visitor":
        self.open("/login/")
        self.page.fill("#id_username", username)
        self.page.fill("#id_password", PASSWORD)
        self.page.click("form[novalidate] button[type=submit]")
        return self

    def open(self, path: str):
        self.page.goto("about:blank")  # a page that reloads itself would break off the next one
        answer = self.page.goto(self.base + path)
        assert answer.status == 200, f"{path}: {answer.status}"
        return self.page

    def faults(self, *rules: str) -> list[str]:
        """axe's findings on the open page, of all rules or of the named ones."""
        if not self.page.evaluate("typeof axe === 'object'"):
            self.page.evaluate(AXE.read_text())  # a script element would be refused by the page
        found = self.page.evaluate(
            "rules => axe.run(document, {resultTypes: ['violations'], ...(rules.length ? "
            "{runOnly: rules} : {})}).then(r => r.violations)", list(rules))
        return [f"{v['id']}: {v['nodes'][0]['target']} {v['nodes'][0]['html'][:160]}"
                for v in found]

    def is_wide(self) -> bool:
        """Whether the page is wider than its window."""
        return self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1")


@pytest.fixture
def visit(chromium, live_server):
    def go(username: str, **kwargs) -> Visitor:
        return Visitor(chromium, live_server.url, **kwargs).sign_in(username)

    return go
