"""Every page that takes a form says why it refuses it, also where it does not draw the form."""

import itertools

import pytest
from django.db import transaction
from django.urls import NoReverseMatch, get_resolver, reverse

from tests.page_routes import ADMIN, CONSULTANT, QUERY, READ, REVIEWER, WRITE
from tests.refused_forms import SENT, refuse_every_form, untold
from tests.test_permissions import NO_ROW

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("not_typeset")]


def path_of(name: str) -> tuple[str, list[str]]:
    """A route's path before its arguments are filled in, and their names."""
    namespace, _colon, route = name.partition(":")
    return get_resolver().namespace_dict[namespace][1].reverse_dict.getlist(route)[0][0][0]


def address_in(world: dict[str, list], name: str) -> str | None:
    """The route about the things of the world: a form action has the arguments of its page."""
    path, parameters = path_of(name)
    pages = [page for page in world if path.startswith(path_of(page)[0])]
    known = world[max(pages, key=lambda page: len(path_of(page)[0]))] if pages else []
    for words in itertools.product(NO_ROW, repeat=len(parameters) - len(known)):
        try:
            return reverse(name, args=[*known, *words]) + QUERY.get(name, "")
        except NoReverseMatch:
            continue
    return None


@pytest.mark.parametrize("role", [ADMIN, CONSULTANT, REVIEWER])
def test_every_refused_form_says_why(client, people, world, monkeypatch, role):
    """Who may do it, and who may only look at the page."""
    refused = refuse_every_form(monkeypatch)
    client.force_login(people[role])
    seen, wrong = set(), {}
    for name in sorted({*READ, *WRITE}):
        refused.clear()
        client.cookies.pop("messages", None)  # what an earlier answer said
        with transaction.atomic():
            answer = client.post(address_in(world, name) or "/", SENT)
            transaction.set_rollback(True)
        if refused and answer.status_code < 403:
            seen.add(name)
            wrong[name] = untold(answer, refused)
    assert {name: errors for name, errors in wrong.items() if errors} == {}
    assert len(seen) > {ADMIN: 90, CONSULTANT: 40, REVIEWER: 10}[role]
