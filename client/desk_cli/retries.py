"""Requests are sent again where the desk, or the way to it, failed for a moment."""

import random
import time
import uuid

import httpx

TRIES = 3
LONGEST_PAUSE = 20.0
HEADER = "Idempotency-Key"
AGAIN = frozenset({429, 502, 503, 504})  # statuses of which nothing came
READS = frozenset({"GET", "HEAD", "OPTIONS"})


class RetryTransport(httpx.HTTPTransport):
    """httpx's transport; each POST gets an `Idempotency-Key`, so that the desk does it once however
    often it arrives. Other writes are sent again only where they never arrived."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            request.headers.setdefault(HEADER, str(uuid.uuid4()))
        is_repeatable = request.method in READS or HEADER in request.headers
        for number in range(1, TRIES + 1):
            try:
                response = super().handle_request(request)
            except httpx.TransportError as error:
                if number == TRIES or not (is_repeatable or isinstance(error, httpx.ConnectError)):
                    raise
                wanted = 0.0
            else:
                if number == TRIES or not is_repeatable or not _is_to_be_sent_again(response):
                    return response
                wanted = _seconds(response)
                response.close()
            time.sleep(min(LONGEST_PAUSE, wanted or random.uniform(0.2, 1) * 2 ** (number - 1)))
        raise AssertionError("the last try returns or raises")


def _is_to_be_sent_again(response: httpx.Response) -> bool:
    """A key whose first request is running gets 409 with the time to ask again."""
    return response.status_code in AGAIN or (
        response.status_code == 409 and "Retry-After" in response.headers)


def _seconds(response: httpx.Response) -> float:
    try:
        return float(response.headers.get("Retry-After", 0))
    except ValueError:
        return 0.0
