"""axe finds no fault on any page in either theme, and each page fits windows of four widths.

The pages are those of the table `tests/page_routes.py`, so that a new page is looked at too: each
template once, on the page that holds the most, for whoever has the most to do there.
`--everything` looks at every page of every role; what two roles see alike is looked at once.
"""

from hashlib import sha256
from pathlib import Path

import pytest
from django.urls import reverse

from delivery.demo.sample_firm import PASSWORD
from engagements.models import Role
from tests.page_routes import ADMIN, CONSULTANT, MANAGER, OPERATOR, QUERY, READ, REVIEWER, SALES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
HOME = "portal:home"
MOST_TO_DO = (MANAGER, ADMIN, CONSULTANT, SALES, OPERATOR, REVIEWER)
PARTS = 2  # for as many processes
FEWEST_PAGES = 80
PHONE = 375
WIDTHS = (PHONE, 768, 1440, 2560)
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
            if width == PHONE:
                found += visitor.faults("target-size")  # 24 px, or as far apart
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


def html_pages(client, user, world, routes) -> dict[str, tuple[str, str, int]]:
    """Address, template and length by route of what is a whole page, of those the user may open."""
    client.force_login(user)
    found = {}
    for name in routes:
        if user.role in READ[name]:
            path = reverse(name, args=world.get(name, [])) + QUERY.get(name, "")
            answer = client.get(path)
            if answer["Content-Type"].startswith("text/html") and b"<main" in answer.content:
                found[name] = path, answer.templates[0].name, len(answer.content)
    return found


def richest_pages(client, people, world) -> list[tuple[str, str, str]]:
    """Role, route and address of the longest page of each template, and of each role's home."""
    longest = {}
    for role in MOST_TO_DO:
        routes = [name for name, allowed in READ.items() if name == HOME or role == next(
            (one for one in MOST_TO_DO if one in allowed), None)]
        for route, (path, template, length) in html_pages(
                client, people[role], world, routes).items():
            key = (template, role if route == HOME else "")
            longest[key] = max(longest.get(key, (0,)), (length, role, route, path))
    return [found[1:] for _key, found in sorted(longest.items())]


@pytest.fixture(scope="module")
def look(shared_folder) -> Look:
    """One for all roles: what was looked at once is not looked at again."""
    folder = shared_folder / "looked_at"
    folder.mkdir(exist_ok=True)
    return Look(folder)


@pytest.mark.parametrize("part", range(PARTS))
def test_every_template_in_its_richest_state(visit, client, everybody, world, look, part):
    look.faults, visitors = {}, {}
    pages = richest_pages(client, everybody, world)
    assert len(pages) > FEWEST_PAGES
    for role, route, path in pages[part::PARTS]:
        if role not in visitors:
            visitors[role] = visit(everybody[role].username)
        look.at(visitors[role], path, route)
    assert look.faults == {}
    assert [error for visitor in visitors.values() for error in visitor.errors] == []


@pytest.mark.everything
@pytest.mark.parametrize("role", Role.values)
def test_every_page_of_a_role(visit, client, everybody, world, look, role):
    visitor, look.faults = visit(everybody[role].username), {}
    pages = html_pages(client, everybody[role], world, READ)
    for route, (path, _template, _length) in pages.items():
        look.at(visitor, path, route)
    assert look.faults == {}
    assert visitor.errors == []
