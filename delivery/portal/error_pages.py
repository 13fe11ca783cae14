"""The answers to what no page caught, each with what to do next."""

import errno
import sys

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import (
    BadRequest,
    RequestDataTooBig,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.defaults import bad_request, page_not_found, server_error

from engagements.web.problem_responses import (
    API,
    bad_request_problem,
    database_problem,
    not_found_problem,
    server_problem,
    storage_problem,
)


def not_found_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404; clients of the API get it as problem+json."""
    if request.path_info.startswith(API):
        return not_found_problem()
    return page_not_found(request, exception)


def error_page(request: HttpRequest) -> HttpResponse:
    """503 with a time to try again while the database restarts or is held; 507 where the disk is
    full; else 500.

    Clients of the API get these as problem+json.
    """
    problem = _problem_of(sys.exception())
    if request.path_info.startswith(API):
        return problem
    answer = server_error(request, f"{problem.status_code}.html")
    answer.status_code = problem.status_code
    if "Retry-After" in problem:
        answer["Retry-After"] = problem["Retry-After"]
    return answer


def _problem_of(error: BaseException | None) -> HttpResponse:
    if isinstance(error, (OperationalError, InterfaceError)):
        return database_problem()
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return storage_problem()
    return server_problem()


def request_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """413 where a form holds more than the portal takes at once; else 400.

    Clients of the API get these, too, as problem+json.
    """
    is_too_large = isinstance(exception, (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent))
    if request.path_info.startswith(API):
        return bad_request_problem(413 if is_too_large else 400)
    if not is_too_large:
        return bad_request(request, exception)
    return render(request, "413.html", {
        "limit": settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 2**20}, status=413)


@login_not_required
def csrf_page(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403: the form was open before somebody signed in anew, or its cookie is missing."""
    return render(request, "403_csrf.html", status=403)


class NulByteMiddleware:
    """400 for a NUL byte in an address or a form: no text holds one, and PostgreSQL refuses it."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            raise BadRequest("NUL byte")
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view) -> None:
        if any("\0" in value for values in request.POST.lists() for value in values[1]):
            raise BadRequest("NUL byte")


class MethodNotAllowedMiddleware:
    """A page instead of an empty answer where an address that only takes entries is opened."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = self.get_response(request)
        if answer.status_code == 405 and not answer.content and request.accepts("text/html"):
            page = render(request, "405.html", status=405)
            page["Allow"] = answer["Allow"]
            return page
        return answer
