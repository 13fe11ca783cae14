"""Walks every address of the product, and asks which of them lets somebody in.

Runs in a process whose settings turn second factors on: see test_sign_on.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.tokens import default_token_generator
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, get_resolver, reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from delivery.portal.invitations.mail import token_of
from engagements.models import User


def add_people(password: str) -> None:
    """A staff member without a second factor, an administrator with one, two who lack theirs."""
    create = partial(User.objects.create_user, password=password)
    create("helper", role="consultant", is_staff=True)
    boss = create("boss", role="administrator", is_staff=True, is_superuser=True)
    create("new", role="manager")
    User.objects.create_user("invited", role="manager", email="invited@firm.example")
    TOTP.activate(boss, "JBSWY3DPEHPK3PXP")


def routes(patterns: list, namespaces: tuple[str, ...] = ()) -> Iterator[tuple[str, dict]]:
    """Name of every route that has one, with its arguments: of words to choose from the first."""
    for entry in patterns:
        expression = entry.pattern.regex
        own = {name: (re.findall(rf"<{name}>([\w-]+)[|)]", expression.pattern) or [""])[0]
               for name in expression.groupindex}
        if isinstance(entry, URLPattern):
            if entry.name:
                yield ":".join([*namespaces, entry.name]), own
        else:
            inner = (*namespaces, entry.namespace) if entry.namespace else namespaces
            for name, arguments in routes(entry.url_patterns, inner):
                yield name, own | arguments


def addresses(person: User) -> list[tuple[str, str]]:
    """Name and path of each route; links that were mailed are those of `person`."""
    link = {"uidb64": urlsafe_base64_encode(force_bytes(person.pk)),
            "token": default_token_generator.make_token(person)}
    of_name = {"portal:password_choice": link, "openid_connect_login": {"provider_id": "company"},
               "portal:invitation": {"token": token_of(User.objects.get(username="invited"))}}
    return [(name, _path(name, arguments | of_name.get(name, {})))
            for name, arguments in dict(routes(get_resolver().url_patterns)).items()]


def _path(name: str, arguments: dict) -> str:
    for guess in ("1", "x", "zh", "json"):
        with suppress(NoReverseMatch):  # the argument has another form
            return reverse(name, kwargs={key: value or guess for key, value in arguments.items()})
    raise NoReverseMatch(f"{name}: {arguments}")


def ways_in(username: str, password: str) -> dict[str, list[str]]:
    """Names of routes that give whoever knows name and password alone a full session, or a token of
    the API."""
    person = User.objects.get(username=username)
    typed = {"username": username, "login": username, "password": password, "name": "walk",
             "old_password": password, "new_password1": password, "new_password2": password}
    api = {"username": username, "password": password, "name": "walk"}  # it refuses unknown fields
    found = {"sessions": [], "tokens": []}
    for number, (name, path) in enumerate(addresses(person)):
        client = Client(raise_request_exception=False, SERVER_NAME="localhost",
                        REMOTE_ADDR=f"10.9.{number // 250}.{number % 250}")
        form = client.get(path).get("Location", "")  # a link that was mailed leads to its form
        places = [path, form] if form and "/login/" not in form else [path]
        answers = [client.post(place, fields) for place in places for fields in (typed, api)]
        if "_auth_user_id" in client.session and client.get("/tokens/").status_code == 200:
            found["sessions"].append(name)
        if any(b'"token":"desk_' in answer.getvalue() for answer in answers):
            found["tokens"].append(name)
    return found


def reached_without_showing(username: str) -> list[str]:
    """Names of routes from which a session that showed no second factor is not led to showing or
    making one."""
    person = User.objects.get(username=username)
    client = Client(raise_request_exception=False, SERVER_NAME="localhost")
    found = []
    for name, path in addresses(person):
        if "_auth_user_id" not in client.session:
            client.force_login(person)
        if "/second-factor/" not in client.get(path).get("Location", "").split("?")[0]:
            found.append(name)
    return sorted(found)
