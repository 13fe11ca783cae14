"""Single sign-on, LDAP and second factors against real peers: an OIDC provider, slapd."""

import ast
import base64
import hmac
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests
from django.conf import settings

from delivery.demo.child_processes import free_port, wait_for
from tests.tls_listener import Listener, certificate_for

PASSWORD = "Trial-2026!"
PEOPLE = f"""
from engagements.models import User
User.objects.create_user("boss", password={PASSWORD!r}, role="administrator")
User.objects.create_user("local", password={PASSWORD!r}, role="consultant")
"""
SLAPD = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
pidfile {folder}/slapd.pid
database mdb
suffix "dc=firm"
rootdn "cn=admin,dc=firm"
rootpw secret
directory {folder}/data
maxsize 1048576
overlay memberof
TLSCertificateFile {certificate}
TLSCertificateKeyFile {certificate}
"""
ENTRIES = """
dn: dc=firm
objectClass: dcObject
objectClass: organization
o: firm
dc: firm

dn: ou=people,dc=firm
objectClass: organizationalUnit
ou: people

dn: uid=li,ou=people,dc=firm
objectClass: inetOrgPerson
uid: li
cn: 李工
sn: li
mail: li@firm.example
userPassword: Directory-2026

dn: uid=out,ou=people,dc=firm
objectClass: inetOrgPerson
uid: out
cn: out
sn: out
userPassword: Directory-2026

dn: cn=reader,dc=firm
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: reader
userPassword: Reader-2026

dn: cn=desk-managers,dc=firm
objectClass: groupOfNames
cn: desk-managers
member: uid=li,ou=people,dc=firm
"""


class Desk:
    """A portal of its own with settings of its own, and people who sign in there by HTTP."""

    def __init__(self, folder: Path, **environment: str):
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.environment = {**os.environ, "DESK_VAR_DIR": str(folder), **environment,
                            "DESK_PUBLIC_URL": self.base}
        for name in ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE"):
            self.environment.pop(name, None)

    def prepare(self, migrated_file: Path, people: str = PEOPLE) -> "Desk":
        folder = Path(self.environment["DESK_VAR_DIR"])
        folder.mkdir(mode=0o700, exist_ok=True)
        shutil.copy(migrated_file, folder / "desk.sqlite3")
        self._run("manage.py", "migrate", "-v", "0")  # tables that only these settings ask for
        self._run("manage.py", "shell", "-c", people)
        return self

    @contextmanager
    def running(self):
        portal = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "gunicorn", "delivery.wsgi:application",
             "--bind", f"127.0.0.1:{self.port}", "--threads", "4", "--log-level", "warning"],
            cwd=settings.BASE_DIR, env=self.environment)
        try:
            wait_for("127.0.0.1", self.port, 120)
            yield self
        finally:
            portal.terminate()
            portal.wait(30)

    def say(self, code: str) -> str:
        return self._run("manage.py", "shell", "-v", "0", "-c",
                         f"from engagements.models import User\n{code}").strip()

    def _run(self, *command: str) -> str:
        done = subprocess.run([sys.executable, "-W", "ignore", *command], cwd=settings.BASE_DIR,
                              env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def page(self, session: requests.Session, path: str) -> str:
        return session.get(self.base + path, timeout=60).text

    def send(self, session: requests.Session, path: str, **fields: str) -> requests.Response:
        csrf = token_in(self.page(session, path))
        return session.post(self.base + path, timeout=60,
                            data={"csrfmiddlewaretoken": csrf, **fields})

    def password(self, name: str, password: str = PASSWORD
                 ) -> tuple[requests.Session, requests.Response]:
        session = requests.Session()
        return session, self.send(session, "/login/", login=name, password=password)

    def provider(self, sub: str) -> tuple[requests.Session, requests.Response]:
        session = requests.Session()
        page = self.page(session, "/login/")
        place = re.search(r'href="(/account/provider/[^"]+)"', page).group(1)
        there = session.get(self.base + place, allow_redirects=False, timeout=60
                            ).headers["Location"]
        back = session.post(there, data={"sub": sub}, allow_redirects=False, timeout=60)
        return session, session.get(back.headers["Location"], timeout=60)


def token_in(page: str) -> str:
    return re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page).group(1)


def is_inside(answer: requests.Response) -> bool:
    return answer.url.removesuffix("/").count("/") == 2  # the desk itself


@pytest.fixture
def provider():
    """A genuine OpenID Connect provider; `claims` are its people's."""
    from oidc_provider_mock import User, run_server_in_thread

    port = free_port()
    people = [User(sub="wang", claims={"name": "王工", "preferred_username": "wang",
                                       "email": "wang@firm.example", "groups": ["desk-staff"]}),
              User(sub="boss", claims={"preferred_username": "boss", "groups": ["desk-staff"]}),
              User(sub="chief", claims={"preferred_username": "chief", "groups": ["desk-chiefs"]}),
              User(sub="eve", claims={"groups": ["others"]})]
    with run_server_in_thread(port, user_claims=people):
        yield f"http://127.0.0.1:{port}"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_company_accounts_and_second_factors(provider, migrated_file, tmp_path):
    desk = Desk(tmp_path, DESK_OIDC_ISSUER=provider, DESK_OIDC_CLIENT_ID="desk",
                DESK_OIDC_CLIENT_SECRET="secret",
                DESK_GROUP_ROLES="desk-staff=consultant,desk-chiefs=administrator",
                DESK_SECOND_FACTOR_ROLES="administrator").prepare(migrated_file)
    with desk.running():
        for _time in range(2):
            session, answer = desk.provider("wang")
            assert is_inside(answer), answer.text
        assert "王工" in answer.text
        assert is_inside(desk.provider("chief")[1])  # who showed the provider what it wants
        for sub, sentence in (("eve", "Your groups give you no role"),
                              ("boss", "was not created by this sign-in method")):
            session, answer = desk.provider(sub)
            assert answer.url.endswith("/login/")
            assert sentence in session.get(desk.base + "/login/", headers={
                "Accept-Language": "en"}, timeout=60).text or sentence in answer.text or (
                    "管理员" in answer.text)
        assert desk.say("print([(u.username, u.role, u.has_usable_password()) for u in "
                        "User.objects.order_by('pk')])") == str([
                            ("boss", "administrator", True), ("local", "consultant", True),
                            ("wang", "consultant", False), ("chief", "administrator", False)])
        desk.say("User.objects.filter(username='wang').update(is_active=False)")
        assert not is_inside(desk.provider("wang")[1])

        assert is_inside(desk.password("local")[1])
        by_password = requests.post(desk.base + "/api/v1/token/", timeout=60, json={
            "username": "boss", "password": PASSWORD})
        assert by_password.status_code == 403
        codes = second_factor_is_needed_made_and_asked_for(desk)
        shown_later(desk, codes.pop())
        session, answer = desk.password("boss")
        assert "/2fa/" in answer.url or "authenticate" in answer.url
        assert is_inside(session.post(answer.url, timeout=60, data={
            "csrfmiddlewaretoken": token_in(answer.text), "code": codes[0]}))

    closed = Desk(tmp_path, **{**{name: value for name, value in desk.environment.items()
                                  if name.startswith("DESK_")}, "DESK_LOCAL_LOGIN": "false"})
    with closed.running():
        assert 'name="password"' not in closed.page(requests.Session(), "/login/")
        refused = requests.post(closed.base + "/api/v1/token/", timeout=60, json={
            "username": "local", "password": PASSWORD})
        assert refused.status_code == 400
        closed.say("User.objects.filter(username='wang').update(is_active=True)")
        assert is_inside(closed.provider("wang")[1])


@pytest.mark.slow
def test_no_address_lets_a_password_alone_in_where_a_second_factor_is_needed(migrated_file,
                                                                             tmp_path):
    (tmp_path / "tls").mkdir()
    impostor = Listener(certificate_for("localhost", tmp_path / "tls"))
    there = f"localhost:{impostor.port}"
    desk = Desk(tmp_path, DESK_OIDC_ISSUER=f"https://{there}", DESK_OIDC_CLIENT_ID="desk",
                DESK_OIDC_CLIENT_SECRET="secret", DESK_LDAP_URL=f"ldaps://{there}",
                DESK_SECOND_FACTOR_ROLES="administrator,manager").prepare(migrated_file, people="")
    found = json.loads(desk.say(f"""
import json
from tests.delivery.sign_on import sign_in_walk as walk
walk.add_people({PASSWORD!r})
print(json.dumps([
    [walk.ways_in(name, {PASSWORD!r}) for name in ("helper", "boss")],
    [walk.reached_without_showing(name) for name in ("boss", "new")]]))""").splitlines()[-1])
    ways, reached = found
    assert ways == [{"sessions": ["login", "account_login"], "tokens": ["api-token"]},
                    {"sessions": [], "tokens": []}]
    always = {"account_logout", "logout", "set_language", "operation:alive", "operation:ready"}
    assert set(reached[0]) == always | {"mfa_reauthenticate", "mfa_reauthenticate_webauthn"}
    assert set(reached[1]) == always | {"mfa_index", "mfa_activate_totp", "mfa_add_webauthn",
                                        "account_reauthenticate"}
    # Nobody vouches for directory and provider: they were called, and told nothing.
    of_provider = impostor.hellos
    assert known(desk, ("li", "Directory-2026")) == ["unavailable"]
    assert 0 < of_provider < impostor.hellos
    assert impostor.heard == b""


def code_of_now(secret: str) -> str:
    """RFC 6238 with SHA-1, six digits, thirty seconds."""
    counter = struct.pack(">Q", int(time.time()) // 30)
    digest = hmac.digest(base64.b32decode(secret + "=" * (-len(secret) % 8)), counter, "sha1")
    start = digest[-1] & 15
    number = int.from_bytes(digest[start:start + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**6:06}"


def second_factor_is_needed_made_and_asked_for(desk: Desk) -> list[str]:
    """Set up an authenticator for `boss`; its recovery codes."""
    session, answer = desk.password("boss")
    assert answer.url.endswith("/account/second-factor/")
    assert session.get(desk.base + "/engagements/", timeout=60).url == answer.url
    place = "/account/second-factor/totp/activate/"
    asked = session.get(desk.base + place, timeout=60)  # the password once more
    page = session.post(asked.url, timeout=60, data={
        "csrfmiddlewaretoken": token_in(asked.text), "password": PASSWORD,
        "next": place}).text
    secret = re.search(r'value="([A-Z2-7]{16,})"', page).group(1)
    made = session.post(desk.base + place, timeout=60, data={
        "csrfmiddlewaretoken": token_in(page), "code": code_of_now(secret)})
    assert made.status_code == 200
    assert desk.say(f"""
from allauth.mfa.totp.internal import auth
from delivery.sign_on.authenticator_app import has_authenticator_app, is_code_of_app
boss = User.objects.get(username="boss")
helper = User.objects.exclude(pk=boss.pk).first()
[counter] = auth.yield_hotp_counters_from_time()
code = auth.format_hotp_value(auth.hotp_value("{secret}", counter))
print([has_authenticator_app(helper), is_code_of_app(helper, code), is_code_of_app(boss, "000000"),
       is_code_of_app(boss, code), is_code_of_app(boss, code)])""").splitlines()[-1] == (
        "[False, False, False, True, False]"), "a code of the app signs, once"
    codes = re.findall(r"\b[0-9a-f]{8}\b", desk.page(
        session, "/account/second-factor/recovery-codes/"))
    assert len(codes) >= 8
    assert is_inside(session.get(desk.base + "/", timeout=60))
    assert session.get(desk.base + "/account/second-factor/webauthn/", timeout=60).ok

    _session, answer = desk.password("boss")
    wrong = _session.post(answer.url, timeout=60, data={
        "csrfmiddlewaretoken": token_in(answer.text), "code": "000000"})
    assert not is_inside(wrong)
    assert secret not in desk.say("from allauth.mfa.models import Authenticator\n"
                                  "print(list(Authenticator.objects.values()))")
    return codes


def shown_later(desk: Desk, code: str) -> None:
    """A session that began without the second factor gets in by showing it."""
    key = desk.say("""
from django.test import Client
client = Client()
client.force_login(User.objects.get(username="boss"))
print(client.session.session_key)""").splitlines()[-1]
    session = requests.Session()
    session.cookies.set("sessionid", key, domain="127.0.0.1")
    asked = session.get(desk.base + "/people/", timeout=60)
    assert asked.url.endswith("/account/second-factor/reauthenticate/?next=%2Fpeople%2F")
    shown = session.post(asked.url, timeout=60, data={
        "csrfmiddlewaretoken": token_in(asked.text), "code": code, "next": "/people/"})
    assert shown.url == desk.base + "/people/"


@pytest.fixture
def directory(tmp_path):
    """Settings of a genuine slapd with two people, an account that reads, and a group."""
    folder, plain, secured = tmp_path / "ldap", free_port(), free_port()
    (folder / "data").mkdir(parents=True)
    certificate = certificate_for("localhost", folder)
    (folder / "slapd.conf").write_text(SLAPD.format(folder=folder, certificate=certificate))
    process = subprocess.Popen(["slapd", "-d", "0", "-f", folder / "slapd.conf", "-h",
                                f"ldap://127.0.0.1:{plain} ldaps://127.0.0.1:{secured}"])
    try:
        wait_for("127.0.0.1", plain, 30)
        load(plain, ENTRIES)
        yield {"plain": f"ldap://localhost:{plain}", "secured": f"ldaps://localhost:{secured}",
               "certificate": str(certificate)}
    finally:
        process.terminate()
        process.wait(20)


def load(port: int, text: str) -> None:
    """Add entries of an LDIF text with the library that the product uses."""
    import ldap3

    link = ldap3.Connection(ldap3.Server("127.0.0.1", port), "cn=admin,dc=firm", "secret",
                            auto_bind=True)
    for block in text.strip().split("\n\n"):
        found: dict[str, list[str]] = {}
        for line in block.splitlines():
            name, _colon, value = line.partition(": ")
            found.setdefault(name, []).append(value)
        [name] = found.pop("dn")
        assert link.add(name, found.pop("objectClass"), found), link.result
    time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(not shutil.which("slapd"), reason="slapd is not installed")
def test_passwords_of_a_directory(directory, migrated_file, tmp_path):
    desk = Desk(tmp_path / "var", DESK_LDAP_BASE="ou=people,dc=firm",
                DESK_LDAP_URL=directory["secured"], DESK_LDAP_CA=directory["certificate"],
                DESK_GROUP_ROLES="desk-managers=manager",
                DESK_SECOND_FACTOR_ROLES="manager").prepare(migrated_file)
    li = ("li", "manager", "李工", "li@firm.example")
    assert known(desk, ("li", "Directory-2026"), ("local", PASSWORD)) == [
        li, ("local", "consultant", "", "")]
    refused = [("li", "wrong"), ("li", ""), ("out", "Directory-2026"), ("*", "Directory-2026"),
               ("local", "Directory-2026")]
    assert known(desk, *refused) == [None] * len(refused)
    assert desk.say("""
from django.test import Client
client = Client(SERVER_NAME="localhost")
client.post("/login/", {"login": "li", "password": "Directory-2026"})
print(client.get("/people/")["Location"])""") == "/account/second-factor/"

    reader = {"DESK_LDAP_BIND_NAME": "cn=reader,dc=firm", "DESK_LDAP_BIND_PASSWORD": "Reader-2026"}
    starttls = {"DESK_LDAP_URL": directory["plain"]}
    for changed, found in (
            (reader, li), (reader | {"DESK_LDAP_BIND_PASSWORD": "wrong"}, "unavailable"),
            (starttls, li), (starttls | reader, li), ({"DESK_LDAP_CA": ""}, "unavailable"),
            (starttls | {"DESK_LDAP_CA": ""}, "unavailable"),
            (starttls | {"DESK_LDAP_CA": "", "DESK_LDAP_STARTTLS": "false"}, li)):
        assert known(desk, ("li", "Directory-2026"), **changed) == [found], changed


LEFT = """
from django.test import Client
from delivery.sign_on.directory_leavers import end_access_of_leavers
from engagements.models import ApiToken, AuditEntry
from engagements.services import create_token
client = Client(SERVER_NAME="localhost")
def ended():
    found = [person.username for person in end_access_of_leavers()]
    inside = client.get("/notices/").status_code == 200
    return found, inside, ApiToken.objects.filter(revoked_at=None).count()
def enter():
    client.post("/login/", {"username": "li", "password": "Directory-2026"})
    li = User.objects.get(username="li")
    create_token(actor=li, owner=li, name="t", scope="read")
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(not shutil.which("slapd"), reason="slapd is not installed")
def test_who_leaves_the_directory_loses_sign_ins_and_tokens(directory, migrated_file, tmp_path):
    desk = Desk(tmp_path / "var", DESK_LDAP_BASE="ou=people,dc=firm",
                DESK_LDAP_URL=directory["plain"], DESK_LDAP_STARTTLS="false",
                DESK_LDAP_BIND_NAME="cn=reader,dc=firm", DESK_LDAP_BIND_PASSWORD="Reader-2026",
                DESK_GROUP_ROLES="desk-managers=manager").prepare(migrated_file)
    change = f"""
import ldap3
link = ldap3.Connection(ldap3.Server({directory["plain"]!r}), "cn=admin,dc=firm", "secret",
                        auto_bind=True)
"""
    said = desk.say(LEFT + change + """
enter()
print(ended())
link.delete("cn=desk-managers,dc=firm")
print(ended(), ended())
print([entry.data["tokens_revoked"] for entry in AuditEntry.objects.filter(
    action="person.directory_left")])""")
    assert said.splitlines() == [
        "([], True, 1)", "(['li'], False, 0) ([], False, 0)", "[1]"]

    load(int(directory["plain"].rpartition(":")[2]), ENTRIES.rpartition("\n\n")[2])
    said = desk.say(LEFT + change + """
enter()
print(ended())
link.delete("uid=out,ou=people,dc=firm")
link.delete("uid=li,ou=people,dc=firm")
print(ended())""")  # a directory that shows nobody at all is not believed
    assert said.splitlines() == ["([], True, 1)", "([], True, 1)"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_directory_that_does_not_answer_is_no_wrong_password(migrated_file, tmp_path):
    desk = Desk(tmp_path / "var", DESK_LDAP_BASE="ou=people,dc=firm",
                DESK_LDAP_URL=f"ldap://127.0.0.1:{free_port()}", DESK_LDAP_STARTTLS="false",
                DESK_GROUP_ROLES="desk-managers=manager").prepare(migrated_file)
    said = desk.say("""
from django.test import Client
client = Client(SERVER_NAME="localhost", headers={"accept-language": "en"})
form = {"username": "li", "password": "Directory-2026"}
page = client.post("/login/", form, follow=True)
print(page.status_code, "directory does not answer" in page.content.decode())
api = client.post("/api/v1/token/", form)
print(api.status_code, api["Retry-After"], api.json()["title"])
print(client.post("/login/", {"username": "local", "password": "Trial-2026!"}).status_code)""")
    assert said.splitlines() == ["200 True", "503 30 unavailable", "302"]


def known(desk: Desk, *people: tuple[str, str], **changed: str) -> list[tuple | str | None]:
    """Who they are by name and password, under settings that may differ; the code of the error
    where nobody could be asked."""
    other = Desk(Path(), **desk.environment | changed)
    return ast.literal_eval(other.say(f"""
from django.contrib.auth import authenticate
from django.test import RequestFactory
from engagements.errors import Unavailable
def asked(name, password):
    try:
        u = authenticate(RequestFactory().get("/"), username=name, password=password)
    except Unavailable as error:
        return error.code
    return u and (u.username, u.role, u.full_name, u.email)
print([asked(name, password) for name, password in {people!r}])"""))
