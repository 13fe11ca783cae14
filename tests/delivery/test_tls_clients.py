"""Every client of the product that speaks TLS, before a server whose certificate nobody vouches
for: none of them goes on to say what it came for."""

import asyncio
import contextlib
import ssl
from pathlib import Path

import httpx
import kombu
import ldap3
import psycopg
import pytest
import redis
import sentry_sdk
from django.core.cache.backends.redis import RedisCache
from django.core.mail.backends.smtp import EmailBackend
from kubernetes import client as kubernetes
from ldap3.core.exceptions import LDAPException

from delivery.acceptance.signing.seals.pdf_seal import time_stamper
from delivery.notices.transport import http_client
from delivery.operation import diagnosis
from delivery.operation.spans import ReticentExporter
from delivery.settings.broker_tls import broker_tls
from delivery.settings.database import database
from delivery.sign_on import directory
from tests.tls_listener import Listener, certificate_for
from workers.artifacts.object_storage import ObjectStorage
from workers.models import Node
from workers.schedulers.modelarts import api as modelarts
from workers.schedulers.pods import api as pods

SECRET = "kept-secret"
LDAP_YES = bytes.fromhex("300c02010178070a010004000400")  # to StartTLS, of message 1
LDAP_NO = bytes.fromhex("300c02010178070a013404000400")  # unavailable


@pytest.fixture
def listen(tmp_path):
    """Makes a server that is closed at the end; its certificate is for `host`."""
    with contextlib.ExitStack() as opened:
        def make(host: str = "localhost", **opening) -> Listener:
            made = Listener(certificate_for(host, tmp_path), **opening)
            opened.callback(made.socket.close)
            return made
        yield make


def webhook(port, settings):
    settings.NOTICE_HOSTS = [f"localhost:{port}"]
    settings.NOTICE_NETWORKS = ["127.0.0.0/8", "::1/128"]
    http_client.post("webhook", f"https://localhost:{port}/{SECRET}", b"{}", {})


def object_store(port, settings):
    from botocore.config import Config

    ObjectStorage(
        bucket_name="desk", endpoint_url=f"https://localhost:{port}", access_key="desk",
        secret_key=SECRET, client_config=Config(retries={"total_max_attempts": 1}),
    ).connection.meta.client.head_bucket(Bucket="desk")


def cluster(port, settings):
    node = Node(scheduler_options={"server": f"https://localhost:{port}"}, scheduler_secret=SECRET)
    pods.ask(kubernetes.VersionApi(pods.of(node)).get_code)


def cloud_training(port, settings):
    node = Node(scheduler_secret=SECRET, scheduler_options={
        "endpoint": f"https://localhost:{port}", "project": "p", "access_key": "desk"})
    modelarts.ask(node, "GET", "training-jobs")


def cache(port, settings):
    RedisCache(f"rediss://:{SECRET}@localhost:{port}/0", {}).get("key")


def broker(port, settings):
    url = f"rediss://:{SECRET}@localhost:{port}/0"
    kombu.Connection(url, ssl=broker_tls(url)).connect()


def time_stamps(port, settings):
    settings.SIGNING_TIMESTAMP_URL = f"https://desk:{SECRET}@localhost:{port}/"
    asyncio.run(time_stamper().async_timestamp(b"0" * 32, "sha256"))


def traces(port, settings):
    ReticentExporter(endpoint=f"https://localhost:{port}/{SECRET}", timeout=1).export([])


def error_reports(port, settings):
    client = sentry_sdk.Client(dsn=f"https://{SECRET}@localhost:{port}/1")
    client.capture_event({"message": SECRET})
    client.close(timeout=1)


def command_line(port, settings):
    httpx.get(f"https://localhost:{port}/", headers={"Authorization": SECRET})


def ldaps(port, settings):
    with directory.connected() as link:
        link.rebind("uid=li,dc=firm", SECRET)


def mail(port, settings):
    EmailBackend(host="localhost", port=port, username="desk", password=SECRET, use_tls=True,
                 timeout=5).open()


def postgresql(port, settings):
    found = database(f"postgresql://desk:{SECRET}@localhost:{port}/desk?sslmode=verify-full"
                     "&sslrootcert=system", Path())
    psycopg.connect(host="localhost", port=port, user="desk", password=SECRET, **{
        name: value for name, value in found["OPTIONS"].items() if name != "options"})


IN_THE_CLEAR_FIRST = {
    "mail": {"greeting": b"220 mail ESMTP\r\n",
             "opening": (b"250-mail\r\n250 STARTTLS\r\n", b"220 go on\r\n")},
    "postgresql": {"opening": (b"S",)}}
CLIENTS = [webhook, object_store, cluster, cloud_training, cache, broker, time_stamps, traces,
           error_reports, command_line, ldaps, mail, postgresql]


@pytest.mark.slow
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
def test_no_client_tells_its_secret_to_a_server_that_nobody_vouches_for(
        listen, settings, monkeypatch, client):
    server = listen(**IN_THE_CLEAR_FIRST.get(client.__name__, {}))
    monkeypatch.setattr(directory, "LDAP_URL", f"ldaps://localhost:{server.port}")
    with contextlib.suppress(Exception):  # each says it in its own way
        client(server.port, settings)
    assert server.hellos > 0
    assert SECRET.encode() not in server.heard


@pytest.mark.parametrize(("url", "verifies"), [
    ("rediss://desk@redis/0", True), ("rediss://desk@redis/0?ssl_ca_certs=/etc/ca.pem", True),
    ("rediss://desk@redis/0?ssl_cert_reqs=none", False)])
def test_the_address_of_redis_says_the_same_to_broker_and_cache(url, verifies):
    of_broker = kombu.Connection(url, ssl=broker_tls(url)).ssl
    for options in (of_broker, redis.ConnectionPool.from_url(url).connection_kwargs):
        made = redis.SSLConnection(**{name: value for name, value in options.items()
                                      if name.startswith("ssl_")})
        assert (made.cert_reqs == ssl.CERT_REQUIRED, made.check_hostname) == (verifies, verifies)


def ldap(listen, monkeypatch, *, scheme="ldaps", has_starttls=False, **server) -> Listener:
    """A directory whose authority is known, after somebody has tried to log in."""
    made = listen(**server)
    monkeypatch.setattr(directory, "LDAP_URL", f"{scheme}://localhost:{made.port}")
    monkeypatch.setattr(directory, "LDAP_CA", str(made.certificate))
    monkeypatch.setattr(directory, "LDAP_HAS_STARTTLS", has_starttls)
    monkeypatch.setattr(ldap3.Server, "_message_counter", 0)  # the answers above name message 1
    with pytest.raises(LDAPException):
        ldaps(made.port, None)
    return made


STARTTLS = {"scheme": "ldap", "has_starttls": True}


@pytest.mark.parametrize(("options", "hellos", "is_told"), [
    ({}, 1, True),  # it is for this host, and its authority is known
    ({"host": "elsewhere.example"}, 1, False),
    (STARTTLS | {"opening": (LDAP_YES,)}, 1, True),
    (STARTTLS | {"opening": (LDAP_YES,), "host": "elsewhere.example"}, 1, False),
    (STARTTLS | {"opening": (LDAP_NO,)}, 0, False),
    ({"scheme": "ldap"}, 0, True)])  # DESK_LDAP_STARTTLS=false
def test_a_directory_hears_a_password_after_its_certificate(
        listen, monkeypatch, options, hellos, is_told):
    server = ldap(listen, monkeypatch, **options)
    assert (server.hellos, SECRET.encode() in server.heard) == (hellos, is_told)


def test_a_service_account_has_a_name_of_any_kind(monkeypatch):
    monkeypatch.setattr(directory, "LDAP_BASE", "ou=people,dc=firm")
    names = ["cn=reader,dc=firm", "reader@firm.example", "FIRM\\reader", "reader"]
    assert [directory.service_name(name) for name in names] == [
        *names[:3], "uid=reader,ou=people,dc=firm"]
    monkeypatch.setattr(directory, "LDAP_DOMAIN", "firm.example")
    assert directory.service_name("reader") == "reader@firm.example"


def test_the_diagnosis_says_what_is_wrong_with_the_directory(listen, monkeypatch):
    server = listen("elsewhere.example")
    url = f"ldaps://localhost:{server.port}"
    assert list(diagnosis.directory()) == []  # none is set
    for module in (directory, diagnosis.sign_on):
        monkeypatch.setattr(module, "LDAP_URL", url)
    monkeypatch.setattr(directory, "LDAP_CA", str(server.certificate))
    [finding] = diagnosis.directory()
    assert finding.state == diagnosis.BAD
    assert "Hostname mismatch" in finding.sentence
    good = listen()
    monkeypatch.setattr(directory, "LDAP_URL", f"ldaps://localhost:{good.port}")
    monkeypatch.setattr(directory, "LDAP_CA", str(good.certificate))
    assert [finding.state for finding in diagnosis.directory()] == [diagnosis.GOOD]
