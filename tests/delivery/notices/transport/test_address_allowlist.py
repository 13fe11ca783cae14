"""Against forged requests: hosts, schemes, ports, private networks, redirects, large answers."""

import socket

import pytest

from delivery.notices.channel_kinds import sender_of
from delivery.notices.transport import address_allowlist, http_client
from engagements.errors import InvalidInput


@pytest.mark.parametrize("url", [
    "http://qyapi.weixin.qq.com/x", "https://qyapi.weixin.qq.com:8443/x",
    "https://qyapi.weixin.qq.com.evil.example/x", "https://evil.example/qyapi.weixin.qq.com",
    "https://qyapi.weixin.qq.com@evil.example/", "https://a:b@qyapi.weixin.qq.com/",
    "https://qyapi.weixin.qq.com\\@evil.example/", "https://oapi.dingtalk.com/robot/send",
    "https://127.0.0.1/", "https://[::1]/", "ftp://qyapi.weixin.qq.com/", "file:///etc/passwd",
    "//qyapi.weixin.qq.com/x", "https:///x", "", "https://qyapi.weixin.qq.com/\r\nHost: x",
    "https://qyapi.weixin.qq.com:99999/", "https://2130706433/", "https://0x7f.1/",
    "https://0177.0.0.1/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/",
    "https://qyapi.weixin.qq.com.evil.example/", "https://qyapi.weixin.qq.com%2eevil.example/", "https://qyapi.weixin.qq.com/#x"])
def test_refused_addresses(url):
    with pytest.raises(InvalidInput):
        address_allowlist.check("wecom", url)


@pytest.mark.parametrize("kind", ["wecom", "dingtalk", "feishu"])
def test_known_hosts(kind):
    host = sender_of(kind).host
    target = address_allowlist.check(kind, f"https://{host.upper()}/a?key=1")
    assert (target.host, target.port, target.path) == (host, 443, "/a?key=1")


def test_webhooks_go_to_configured_hosts_only(settings):
    with pytest.raises(InvalidInput):
        address_allowlist.check("webhook", "https://hooks.example.com/x")
    settings.NOTICE_HOSTS = ["hooks.example.com", "http://robot.corp:8080"]
    assert address_allowlist.check("webhook", "https://hooks.example.com/x").port == 443
    assert address_allowlist.check("feishu", "http://robot.corp:8080/x").port == 8080
    for url in ("http://hooks.example.com/x", "https://hooks.example.com:444/x",
                "https://robot.corp:8080/x", "http://robot.corp/x"):
        with pytest.raises(InvalidInput):
            address_allowlist.check("webhook", url)


PRIVATE = ["127.0.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.9", "169.254.169.254", "0.0.0.0",
           "100.64.0.1", "224.0.0.1", "::1", "fe80::1%eth0", "fd00::1", "::ffff:10.0.0.1",
           "64:ff9b::a00:1", "2002:a00:1::", "::10.0.0.1", "fec0::1", "2001:0:a00:1::1",
           "64:ff9b:1::a00:1", "::ffff:0:10.0.0.1", "ff02::1", "2a00::5efe:10.0.0.1", "::"]


def resolving_to(monkeypatch, *found):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: [
        (2, 1, 6, "", (address, 443)) for address in found])


@pytest.mark.parametrize("address", PRIVATE)
def test_names_of_private_addresses_are_refused(monkeypatch, settings, address):
    settings.NOTICE_HOSTS = ["hooks.example.com"]
    target = address_allowlist.check("webhook", "https://hooks.example.com/")
    resolving_to(monkeypatch, "93.184.216.34", address)  # one bad address spoils the name
    with pytest.raises(InvalidInput):
        address_allowlist.resolve(target)


def test_configured_networks_are_for_configured_hosts_only(monkeypatch, settings):
    settings.NOTICE_HOSTS, settings.NOTICE_NETWORKS = ["robot.corp"], ["10.1.0.0/16"]
    resolving_to(monkeypatch, "10.1.2.3")
    allowed = address_allowlist.check("webhook", "https://robot.corp/")
    assert address_allowlist.resolve(allowed) == "10.1.2.3"
    with pytest.raises(InvalidInput):
        address_allowlist.resolve(address_allowlist.check("wecom", "https://qyapi.weixin.qq.com/"))
    resolving_to(monkeypatch, "10.2.2.3")
    with pytest.raises(InvalidInput):
        address_allowlist.resolve(address_allowlist.check("webhook", "https://robot.corp/"))


def test_the_checked_address_is_the_one_connected_to(monkeypatch, other_side, settings):
    """A name that resolves differently the second time changes nothing."""
    port = other_side.server_port
    settings.NOTICE_HOSTS = [f"http://robot.corp:{port}"]
    answers = [[(2, 1, 6, "", ("127.0.0.1", port))]]
    real = socket.getaddrinfo

    def once(host, *arguments, **named):
        return answers.pop() if host == "robot.corp" else real(host, *arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", once)
    answer = http_client.post("webhook", f"http://robot.corp:{port}/x", b"{}", {})
    assert answer.status == 200
    assert other_side.received[0]["headers"]["Host"] == f"robot.corp:{port}"


def test_redirects_are_not_followed(other_side):
    other_side.usual = (302, {"Location": f"{other_side.origin}/elsewhere"}, b"")
    assert http_client.post("webhook", f"{other_side.origin}/x", b"{}", {}).status == 302
    assert [r["path"] for r in other_side.received] == ["/x"]


def test_large_answers_are_not_read_to_the_end(other_side):
    other_side.usual = (200, {}, b"x" * (http_client.LARGEST_ANSWER + 1))
    with pytest.raises(http_client.NotSent, match="too_large"):
        http_client.post("webhook", f"{other_side.origin}/x", b"{}", {})


def test_a_closed_port_is_unreachable_and_the_address_stays_secret(settings):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings.NOTICE_HOSTS, settings.NOTICE_NETWORKS = [f"http://127.0.0.1:{port}"], ["127.0.0.1"]
    with pytest.raises(http_client.NotSent) as caught:
        http_client.post("webhook", f"http://127.0.0.1:{port}/?key=TOPSECRETKEY", b"{}", {})
    assert caught.value.reason == "unreachable"
    assert "TOPSECRETKEY" not in repr(caught.value)
