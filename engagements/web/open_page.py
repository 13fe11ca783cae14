"""The page that somebody had open when a request came from it."""

from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme


def is_fragment(request: HttpRequest) -> bool:
    """Whether htmx puts the answer into the open page."""
    return request.headers.get("HX-Request") == "true"


def open_page(request: HttpRequest) -> str:
    """Path of the page that sent the request, if it is one of ours; else the desk."""
    page = request.headers.get("HX-Current-URL") or request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(page, {request.get_host()}):
        return "/"
    address = urlsplit(page)
    return address.path + (f"?{address.query}" if address.query else "")


def leave_to(request: HttpRequest, place: str) -> HttpResponse:
    """Lead the whole page there: a redirect would put it into the middle of the open one."""
    return HttpResponse(headers={"HX-Redirect": place}) if is_fragment(request) else redirect(place)
