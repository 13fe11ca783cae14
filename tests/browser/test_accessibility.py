"""Every page of every role: axe finds no fault in either theme, and it fits windows of four widths.

The pages are those of the table `tests/page_routes.py`, so that a new page is looked at
too. What two roles see alike is looked at once.
"""

from hashlib import sha256
from pathlib import Path

import pytest
from django.urls import reverse

from delivery.demo.sample_engagement import PASSWORD
from engagements.models import Role
from tests.page_routes import QUERY, READ

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDTHS = (375, 768, 1440, 2560)
# What is on a page but for its words: equal pages need one look.
SHAPE = """() => [...document.querySelectorAll("main *")].map(
    e => `${e.tagName}.${e.getAttribute("class") ?? ""}`).join()"""

DARK = """() => {
    const still = new CSSStyleSheet();  // no colour is on its way to the other
    still.replaceSync("*, *::before, *::after { transition: none !important; }");
    document.adoptedStyleSheets = [still];
    document.documentElement.setAttribute("data-bs-theme", "dark");
}"""


@pytest.fixture
def everybody(people):
    """Everybody can sign in at a browser."""
    for user in people.values():
        user.set_password(PASSWORD)
        user.save()
    return people


class Look:
    """Looks at pages and keeps what is wrong with them."""

    def __init__(self, folder: Path):
        self.folder, self.faults = folder, {}

    def at(self, visitor, path: str, route: str, widths=WIDTHS) -> None:
        page = visitor.open(path)
        if not self._is_new(f"{route} {page.evaluate(SHAPE)}"):
            return
        found = visitor.faults()
        page.evaluate(DARK)
        found += [f"dark {fault}" for fault in visitor.faults("color-contrast")]
        for width in widths:
            page.set_viewport_size({"width": width, "height": 900})
            found += [f"wider than {width}"] if visitor.is_wide() else []
        page.evaluate("document.documentElement.setAttribute('data-bs-theme', 'light')")
        if found:
            self.faults[path] = found

    def _is_new(self, shape: str) -> bool:
        """Whether no process of the run has looked at it."""
        try:
            (self.folder / sha256(shape.encode()).hexdigest()).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def html_paths(client, user, world) -> dict[str, str]:
    """Address by route of what the user may open and that is a whole page."""
    client.force_login(user)
    found = {}
    for name, allowed in READ.items():
        if user.role in allowed:
            path = reverse(name, args=world.get(name, [])) + QUERY.get(name, "")
            answer = client.get(path)
            if answer["Content-Type"].startswith("text/html") and b"<main" in answer.content:
                found[name] = path
    return found


@pytest.fixture(scope="module")
def look(shared_folder) -> Look:
    """One for all roles: what was looked at once is not looked at again."""
    folder = shared_folder / "looked_at"
    folder.mkdir(exist_ok=True)
    return Look(folder)


@pytest.mark.parametrize("role", Role.values)
def test_every_page_of_a_role(visit, client, everybody, world, look, role):
    visitor, look.faults = visit(everybody[role].username), {}
    for route, path in html_paths(client, everybody[role], world).items():
        look.at(visitor, path, route)
    assert look.faults == {}
    assert visitor.errors == []
