"""The answer to what no page caught: a database that is away is no fault of the page."""

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.views.defaults import server_error

RETRY_SECONDS = 5


def error_page(request: HttpRequest) -> HttpResponse:
    """503 with a time to try again while the database restarts or is held; else 500."""
    if not isinstance(sys.exception(), (OperationalError, InterfaceError)):
        return server_error(request)
    answer = server_error(request, "503.html")
    answer.status_code = 503
    answer["Retry-After"] = str(RETRY_SECONDS)
    return answer
