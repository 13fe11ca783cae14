"""A number for every request, in its log lines and its answer; how many there were, how long."""

import logging
import re
import secrets
import time

from django.http import HttpRequest, HttpResponse

from delivery.operation.metrics import REQUEST_SECONDS, REQUESTS
from engagements.log_context import log_context
from toolreaders.masking import MASK

logger = logging.getLogger("desk.requests")
SECRET_PARTS = ("key", "token")  # of addresses that let in whoever has them
GIVEN = re.compile(r"[A-Za-z0-9._-]{8,64}")


class RequestLogMiddleware:
    """Takes `X-Request-ID` where it looks like one, else makes one."""

    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        number = given if GIVEN.fullmatch(given) else secrets.token_hex(8)
        began = time.monotonic()
        with log_context(request_id=number):
            answer = self.get_response(request)
            _note(request, answer, time.monotonic() - began)
        answer["X-Request-ID"] = number
        return answer


def _note(request: HttpRequest, answer: HttpResponse, seconds: float) -> None:
    match = request.resolver_match
    route = match.view_name if match else "none"
    REQUESTS.labels(request.method if request.method in METHODS else "other", route,
                    answer.status_code).inc()
    REQUEST_SECONDS.labels(route).observe(seconds)
    person = getattr(request, "user", None)
    path = request.path
    for secret in (match.kwargs.get(name) for name in SECRET_PARTS) if match else ():
        path = path.replace(secret, MASK) if secret else path
    logger.info("%s %s %s", request.method, path, answer.status_code, extra={
        "method": request.method, "path": path, "status": answer.status_code,
        "seconds": round(seconds, 4), "user_id": getattr(person, "pk", None)})


METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
