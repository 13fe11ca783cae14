"""One table: every page route, every role, the expected status. A missing route fails."""

import contextlib
import itertools

import pytest
from django.urls import NoReverseMatch, get_resolver, reverse

from engagements.models import AuditEntry, Role
from tests.page_routes import (
    ADMIN,
    CONSULTANT,
    MANAGER,
    MOVED,
    OF_AN_ENGAGEMENT,
    OPERATOR,
    PUBLIC,
    QUERY,
    READ,
    REVIEWER,
    SALES,
    TESTED_WITH_THEIR_OBJECTS,
    WITHOUT_ROW,
    WRITE,
    routes,
)

pytestmark = pytest.mark.usefixtures("not_typeset")
MORE = (CONSULTANT, SALES, OPERATOR)  # their pages are those of the others, with fewer parts
SLOW = (*MORE, Role.AUDITOR)


def test_every_route_stands_in_the_table():
    assert routes() == set(READ) | WRITE | TESTED_WITH_THEIR_OBJECTS


@pytest.mark.parametrize(("role", "is_rendered"), [
    *(pytest.param(role, role not in MORE, marks=[pytest.mark.slow] if role in SLOW else [])
      for role in Role.values),
    *(pytest.param(role, True, marks=pytest.mark.everything) for role in MORE)])
def test_roles_and_pages(client, people, world, monkeypatch, role, is_rendered):
    """Who opens which page; and reading writes nothing."""
    if not is_rendered:
        monkeypatch.setattr("django.template.backends.django.Template.render", lambda *_a, **_k: "")
    client.force_login(people[role])
    written = AuditEntry.objects.exclude(action="file.download")  # who read which file
    before, wrong = written.count(), []
    for name, allowed in READ.items():
        url = reverse(name, args=world.get(name, [])) + QUERY.get(name, "")
        answer = client.get(url)
        status = answer.status_code
        target, led = MOVED.get(name, ("", ()))
        if role in led:
            if status != 302 or not answer.url.startswith(reverse(target)):
                wrong.append((name, status))
            continue
        if (status == 200) != (role in allowed) or status not in (200, 403, 404):
            wrong.append((name, status))
    assert wrong == []
    assert written.count() == before


def test_stranger_gets_404(client, stranger, world):
    client.force_login(stranger)
    statuses = {name: client.get(reverse(name, args=world[name])).status_code
                for name in OF_AN_ENGAGEMENT}
    assert statuses == dict.fromkeys(OF_AN_ENGAGEMENT, 404)


def test_without_login_every_page_leads_to_the_login(client, world):
    for name in PUBLIC:
        assert client.get(reverse(name)).status_code == 200
    # Those two are for whoever holds a key, and 404 without it.
    for name in set(READ) - PUBLIC - {"operation:metrics", "planning:calendar_feed"}:
        answer = client.get(reverse(name, args=world.get(name, [])))
        assert (name, answer.status_code, answer.url.startswith("/login/")) == (name, 302, True)


STRANGE = ["²", "9" * 40, "-1", "\x00", "%"]


def test_strange_query_strings_break_no_page(client, people, world):
    """What a link was cut, doubled or tampered to: the page, or a plain refusal."""
    client.force_login(people[MANAGER])
    names = ("page", "engagement", "model", "stage", "kind", "state", "node", "q",
             "profile", "version", "table", "op", "was", "offset", "before",
             "first", "last", "sort", "search", "role", "status", "level")
    for number, name in enumerate(READ):
        # Each page meets all values; which parameter has which moves on from page to page.
        asked = {key: STRANGE[(number + at) % len(STRANGE)] for at, key in enumerate(names)}
        status = client.get(reverse(name, args=world.get(name, [])), asked).status_code
        assert status in (200, 302, 400, 403, 404), (name, asked)


def test_words_of_an_address_that_name_nothing_are_not_found(client, people, world):
    """Whatever else of the address is right; a page that only takes forms may say so in words."""
    client.force_login(people[ADMIN])
    client.raise_request_exception = False
    of_quote, of_change = world["quotes:quote"][0], world["planning:change"][0]
    arguments = {**world, "quotes:move": [of_quote, "submit"],
                 "planning:change_move": [of_change, "submit"],
                 "planning:proposal_move": [*world["planning:proposal"], "answer"],
                 "surveys:move": [*world["surveys:overview"], "confirm"],
                 "reports:standard_text_reset": ["x"], "reports:standard_text_preview": ["x"],
                 "reports:chain_reset": ["TR"], "people:duty_set": ["quote"]}
    wrong = []
    for name, right in arguments.items():
        for at in (n for n, argument in enumerate(right) if isinstance(argument, str)):
            with contextlib.suppress(NoReverseMatch):
                url = reverse(name, args=[*right[:at], "nonsense", *right[at + 1:]])
                asked = client.get(url) if name in READ else client.post(url)
                if asked.status_code != 404 and (name in READ or asked.status_code != 302):
                    wrong.append((url, asked.status_code))
    assert wrong == []


def test_a_nul_byte_is_refused_in_addresses_and_forms(client, people, engagement):
    client.force_login(people[MANAGER])
    asked = [client.get("/engagements/%00/"), client.get("/search/?q=%00"),
             client.post(reverse("engagements:model_new", args=[engagement.code]),
                         {"code": "A", "name": "a\0b"})]
    assert {answer.status_code for answer in asked} == {400}
    assert "400" in asked[0].content.decode()


# Arguments that name no row, and words that some routes take beside them.
NO_ROW = (999_999, "none", "sign", "confirm", "submit", "scope", "up", "publish")


def address_of_nothing(name: str) -> str:
    """An address of the route whose arguments name no row."""
    namespace, _colon, route = name.partition(":")
    resolver = get_resolver().namespace_dict[namespace][1]
    [(_path, parameters), *_others] = resolver.reverse_dict.getlist(route)[0][0]
    for arguments in itertools.product(NO_ROW, repeat=len(parameters)):
        with contextlib.suppress(NoReverseMatch):
            return reverse(name, args=arguments)
    raise LookupError(name)


def test_without_login_no_route_takes_a_form(client, db):
    for name in sorted(WRITE):
        answer = client.post(address_of_nothing(name))
        assert (name, answer.status_code, answer.url.startswith("/login/")) == (name, 302, True)


def test_write_routes_are_not_read(client, people):
    """Not even by whoever may do most."""
    client.force_login(people[ADMIN])
    read = {name: client.get(address_of_nothing(name)).status_code for name in WRITE}
    assert {name: status for name, status in read.items() if status != 405} == {}


@pytest.mark.parametrize("role", [ADMIN, REVIEWER, *(
    pytest.param(role, marks=pytest.mark.everything) for role in (MANAGER, *MORE))])
def test_write_routes_know_their_rows(client, people, role):
    """A form for a row that does not exist is refused, whoever sends it; nothing is written."""
    client.force_login(people[role])
    before = AuditEntry.objects.count()
    sent = {name: client.post(address_of_nothing(name)).status_code
            for name in WRITE - WITHOUT_ROW}
    assert {name: status for name, status in sent.items() if status not in (403, 404)} == {}
    assert AuditEntry.objects.count() == before
