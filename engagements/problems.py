"""API errors as problem+json (RFC 9457)."""

from django.http import JsonResponse
from rest_framework.response import Response
from rest_framework.views import exception_handler

from engagements.errors import DeskError

PROBLEM_TYPE = "application/problem+json"


def problem_response(error: Exception, context: dict) -> Response | JsonResponse | None:
    """Every API error in one shape: type, title, status, detail, and what else is known.

    Args:
        error: a DeskError, or what DRF's own handler understands.
        context: DRF's exception context.
    Returns:
        the response, or None for an unexpected error (Django answers 500).
    """
    if isinstance(error, DeskError):
        body = _problem(error.status, error.code, error.message, **error.details)
        return JsonResponse(body, status=error.status, content_type=PROBLEM_TYPE)
    response = exception_handler(error, context)
    if response is None:
        return None
    code = getattr(error, "default_code", "error")
    data = response.data
    if isinstance(data, dict) and set(data) == {"detail"}:
        body = _problem(response.status_code, code, str(data["detail"]))
    else:
        body = _problem(response.status_code, code, str(error), errors=data)
    headers = {k: v for k, v in response.items() if k in ("WWW-Authenticate", "Allow")}
    return JsonResponse(
        body, status=response.status_code, content_type=PROBLEM_TYPE, headers=headers
    )


def _problem(status: int, code: str, detail: str, **extra) -> dict:
    return {"type": f"urn:delivery-desk:{code}", "title": code, "status": status,
            "detail": detail, **extra}
