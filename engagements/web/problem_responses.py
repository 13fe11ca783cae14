"""API errors as problem+json (RFC 9457)."""

from collections.abc import Iterator
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import Http404, JsonResponse
from django.utils.translation import gettext as _
from rest_framework.exceptions import NotFound
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import exception_handler

from engagements.conflict_retry import is_duplicate
from engagements.errors import DeskError

API = "/api/"  # requests of its paths are answered so
PROBLEM_TYPE = "application/problem+json"
RETRY_SECONDS = 5
MAX_FAULTS = 5  # faults of the input that the sentence names; `errors` holds them all


def problem_response(error: Exception, context: dict) -> Response | JsonResponse | None:
    """Every API error in one shape: type, title, status, detail, and what else is known.

    `detail` is a sentence in the user's language. Where the input is at fault, `errors` has DRF's
    own shape: {field: [sentences]}, nested as the input is, and `codes` the same with DRF's codes
    (`required`, `max_length`, `does_not_exist`, …), which no language changes.

    Args:
        error: a DeskError, or what DRF's own handler understands.
        context: DRF's exception context.
    Returns:
        the response, or None for an unexpected error (Django answers 500).
    """
    if isinstance(error, DeskError):
        body = _problem(error.status, error.code, error.message, **error.details)
        retry = {"Retry-After": error.retry_after_seconds} if error.retry_after_seconds else {}
        return JsonResponse(body, status=error.status, content_type=PROBLEM_TYPE, headers=retry)
    if isinstance(error, (OperationalError, InterfaceError)):
        return database_problem()
    if is_duplicate(error):
        return duplicate_problem()
    if isinstance(error, Http404):
        error = NotFound()  # the words of Django's own name the table, and only in English
    response = exception_handler(error, context)
    if response is None:
        return None
    code = getattr(error, "default_code", "error")
    data = response.data
    if isinstance(data, dict) and set(data) == {"detail"}:
        body = _problem(response.status_code, code, str(data["detail"]))
    else:
        body = _problem(response.status_code, code, input_sentence(data), errors=data,
                        codes=error.get_codes())
    kept = ("WWW-Authenticate", "Allow", "Retry-After")
    headers = {name: value for name, value in response.items() if name in kept}
    return JsonResponse(
        body, status=response.status_code, content_type=PROBLEM_TYPE, headers=headers
    )


def database_problem() -> JsonResponse:
    """503: the database restarts, or is held by other writers for too long."""
    return problem(503, "database_unavailable", _(
        "The database does not answer at the moment. Nothing was saved; try again."),
        retry_seconds=RETRY_SECONDS)


def storage_problem() -> JsonResponse:
    """507: no space is left where files are kept."""
    return problem(507, "storage_full", _(
        "The disk that keeps files is full. Nothing was saved; tell whoever runs the portal."))


def duplicate_problem() -> JsonResponse:
    """409: the check found nothing, but another writer was quicker."""
    return problem(409, "duplicate", duplicate_sentence())


def duplicate_sentence() -> str:
    """Why a row that nobody had a moment ago cannot be saved; pages say the same."""
    return _("Somebody saved one of the same name or number at the same moment. Nothing was saved; "
             "load the page again.")


def not_found_problem() -> JsonResponse:
    """404: the API has no such address, or a key in it that no row can have."""
    return problem(404, "not_found", _("There is nothing at this address."))


def bad_request_problem(status: int) -> JsonResponse:
    """400 or 413 for a request that was refused before an endpoint saw it."""
    code, detail = {
        400: ("bad_request", _("The request cannot be understood.")),
        413: ("too_large", _("The request is larger than allowed. Upload large files in parts.")),
    }[status]
    return problem(status, code, detail)


def server_problem() -> JsonResponse:
    """500: an error that nobody expected."""
    return problem(500, "server_error", _("The server failed; see its log."))


def input_sentence(errors: Any) -> str:
    """Faults of an input as text: `changes[1].name: This field is required.`

    Args:
        errors: {field: faults}, a list of such, or a list of sentences, as DRF gives them.
    """
    faults = [f"{place}: {sentence}" if place else sentence for place, sentence in _faults(errors)]
    return " ".join([*faults[:MAX_FAULTS], *(["…"] if faults[MAX_FAULTS:] else [])])


def _faults(errors: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """(place in the input, sentence) of each fault."""
    if isinstance(errors, str):
        yield place, errors
        return
    entries = errors.items() if isinstance(errors, dict) else enumerate(errors)
    for name, below in entries:
        is_of_place = name == api_settings.NON_FIELD_ERRORS_KEY or isinstance(below, str)
        yield from _faults(below, place if is_of_place else _inner(place, name))


def _inner(place: str, name: str | int) -> str:
    """The place of a field, or of a row of a list: `changes[1].name`."""
    if isinstance(name, int):
        return f"{place}[{name}]"
    return f"{place}.{name}" if place else name


def problem(status: int, code: str, detail: str, retry_seconds: int = 0) -> JsonResponse:
    """A refusal of what no endpoint has seen."""
    return JsonResponse(_problem(status, code, detail), status=status, content_type=PROBLEM_TYPE,
                        headers={"Retry-After": retry_seconds} if retry_seconds else {})


def _problem(status: int, code: str, detail: str, **extra) -> dict:
    return {"type": f"urn:delivery-desk:{code}", "title": code, "status": status,
            "detail": detail, **extra}
