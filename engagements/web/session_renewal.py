"""How long a sign-in lasts: SESSION_COOKIE_AGE after the last thing somebody did."""

import time
from collections.abc import Callable

from django.contrib.auth import SESSION_KEY
from django.http import HttpRequest, HttpResponse

from engagements.services.sign_ins import RENEWED_AT

POLLING = "X-Desk-Polling"  # of requests that a page makes by itself (static/desk/polling.js)
RENEW_SECONDS = 300  # a write of the session in this time, however many requests there are


class SessionRenewalMiddleware:
    """Begins a sign-in's time anew, unless it is an open page that asks by itself."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if POLLING not in request.headers and SESSION_KEY in request.session:
            now = int(time.time())
            if now - request.session.get(RENEWED_AT, 0) >= RENEW_SECONDS:
                request.session[RENEWED_AT] = now  # stored, so that its expiry is counted from now
        return self.get_response(request)
