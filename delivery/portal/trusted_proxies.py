"""Who is asking, where a reverse proxy stands in front of the portal."""

from ipaddress import ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest, HttpResponse

FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_HOST",
             "HTTP_X_FORWARDED_PORT", "HTTP_FORWARDED", "HTTP_X_REAL_IP")


class TrustedProxiesMiddleware:
    """Takes address and scheme from `X-Forwarded-For` and `-Proto` of the networks in
    TRUSTED_PROXIES, and from nobody else; then removes these headers.

    The address is the last one in the list that is no proxy of ours: what stands before it was
    written by the asker.
    """

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        meta = request.META
        if _is_trusted(meta.get("REMOTE_ADDR", "")):
            meta["REMOTE_ADDR"] = _asker(meta)
            if meta.get("HTTP_X_FORWARDED_PROTO", "").strip() in ("http", "https"):
                request.environ["wsgi.url_scheme"] = meta["HTTP_X_FORWARDED_PROTO"].strip()
        for name in FORWARDED:
            meta.pop(name, None)
        return self.get_response(request)


def _asker(meta: dict) -> str:
    address = meta["REMOTE_ADDR"]
    for hop in reversed(meta.get("HTTP_X_FORWARDED_FOR", "").split(",")):
        if not _is_address(hop.strip()):
            break
        address = hop.strip()
        if not _is_trusted(address):
            break
    return address


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _is_trusted(address: str) -> bool:
    return _is_address(address) and any(
        ip_address(address) in ip_network(network, strict=False)
        for network in settings.TRUSTED_PROXIES)
