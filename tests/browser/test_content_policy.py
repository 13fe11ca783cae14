"""The content security policy refuses what it is there for, and pages keep to it.

A breach is an error of the console: `test_accessibility.py` finds it on every template. With
`--everything` one page of every route is opened besides.
"""

import re

import pytest
from django.urls import Resolver404, resolve

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (e) => window.violations.push(
  `${e.effectiveDirective}: ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`));
"""
INLINE = """() => {
  const script = document.createElement("script");
  script.textContent = "window.slipped = true";
  document.body.append(script);
}"""
# Left alone: they end the sign-in, or answer with a file instead of a page.
NO_PAGE = re.compile(r"/(logout|i18n|api/schema)|/(file|download|pdf|xlsx)"
                     r"|\.(pdf|xlsx|zip|csv|docx|json|log|patch)")


class Crawl:
    """Opens one page of every route that links lead to from the desk."""

    def __init__(self, visitor):
        self.visitor, self.violations, self.opened = visitor, [], {}
        visitor.page.add_init_script(WATCH)

    def run(self) -> None:
        waiting = ["/"]
        while waiting:
            path = waiting.pop()
            name = _route(path)
            if name and name not in self.opened:
                self.opened[name] = path
                waiting += self._open(path)

    def _open(self, path: str) -> list[str]:
        page = self.visitor.page
        page.goto(self.visitor.base + path)
        page.wait_for_load_state("networkidle")
        self.violations += [f"{path} {found}" for found in page.evaluate("window.violations")]
        return page.eval_on_selector_all(
            "a[href^='/']:not([download])", "all => all.map(a => a.getAttribute('href'))")


def _route(path: str) -> str:
    try:
        return "" if NO_PAGE.search(path) else resolve(re.split(r"[?#]", path)[0]).view_name
    except Resolver404:
        return ""


@pytest.mark.everything
@pytest.mark.parametrize("username", ["admin", "reviewer"])
def test_no_page_breaks_the_policy(sample, visit, username):
    crawl = Crawl(visit(username))

    crawl.run()

    assert crawl.violations == []
    assert len(crawl.opened) > (70 if username == "admin" else 15), crawl.opened


def test_the_description_of_the_api_keeps_to_the_policy(sample, visit):
    visitor = visit("manager")

    visitor.page.goto(f"{visitor.base}/api/docs/")
    visitor.page.wait_for_load_state("networkidle")

    assert visitor.errors == []


def test_inline_script_is_refused(sample, visit):
    visitor = visit("manager")
    page = visitor.page
    page.add_init_script(WATCH)
    page.goto(visitor.base + "/")

    page.evaluate(INLINE)
    page.locator("body > script:not([src])").wait_for(state="attached")

    assert page.evaluate("window.slipped") is None
    assert page.evaluate("new Promise(r => setTimeout(() => r(window.violations), 200))"
                         )[0].startswith("script-src-elem: inline")
    assert any("Content Security Policy" in error for error in visitor.errors), visitor.errors
