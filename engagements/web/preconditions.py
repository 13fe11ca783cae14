"""ETag and If-Match of the API's objects: who changes what somebody else changed meanwhile is told.

An object's ETag is the hash of what GET answers, so that it changes with its lines and remarks too.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.utils.cache import get_conditional_response
from django.utils.http import parse_etags
from django.utils.translation import gettext as _
from rest_framework.renderers import JSONRenderer

from engagements.errors import DeskError
from engagements.moves import locked

HEADER = "If-Match"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
FROZEN_SINCE = ("issued_at", "signed_at", "frozen_at")
READ_VERSIONS = frozenset({"seen", "revision"})  # inputs that say which version was read


class PreconditionFailed(DeskError):
    code = "precondition_failed"
    status = 412


class PreconditionRequired(DeskError):
    code = "precondition_required"
    status = 428


class Preconditions:
    # Mixed into viewsets; what is asked of one object stands in its `retrieve`.

    def dispatch(self, request, *args, **kwargs):
        with _one_transaction(request):
            return super().dispatch(request, *args, **kwargs)

    def initial(self, request, *args, **kwargs):
        super().initial(request, *args, **kwargs)
        if is_conditional(self, request.method):
            self._require_unchanged(request, kwargs)

    def finalize_response(self, request, response, *args, **kwargs):
        response = super().finalize_response(request, response, *args, **kwargs)
        if self.action != "retrieve" or response.status_code != 200:
            return response
        etag = etag_of(response.data)
        response["ETag"] = etag
        return get_conditional_response(request, etag=etag, response=response)

    def _require_unchanged(self, request, kwargs: dict[str, Any]) -> None:
        wanted = parse_etags(request.headers.get(HEADER, ""))
        names_version = bool(wanted) or not READ_VERSIONS.isdisjoint(
            {*request.query_params, *(request.data if isinstance(request.data, dict) else ())})
        if not names_version and request.method in ("PATCH", "PUT") and self._is_frozen():
            raise PreconditionRequired(_(
                "This was issued or signed. Send %(header)s with the ETag that you read.") % {
                    "header": HEADER})
        if wanted and wanted != ["*"] and self._etag(request, kwargs) not in wanted:
            raise PreconditionFailed(_(
                "Somebody changed this since you read it. Nothing was saved; read it again."))

    def _own(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """What the address says of the object itself; the line of a quote is not its."""
        key = getattr(self, "lookup_url_kwarg", None) or getattr(self, "lookup_field", "")
        return {key: kwargs[key]} if key in kwargs else kwargs

    def _is_frozen(self) -> bool:
        columns = self._columns() & set(FROZEN_SINCE)
        if not columns:
            return False
        row = self.get_object()
        return any(getattr(row, name) for name in columns)

    def _columns(self) -> set[str]:
        queryset = getattr(self, "queryset", None)
        return set() if queryset is None else {
            field.name for field in queryset.model._meta.concrete_fields}

    def _etag(self, request, kwargs: dict[str, Any]) -> str:
        """Of what GET would answer now; the row is locked until this request has ended."""
        if self._columns():
            row = self.get_object()
            if getattr(row, "engagement_id", None):  # the order of locks: engagement, then its rows
                locked(row.engagement)
            locked(row)
        asked, self.action = self.action, "retrieve"
        try:
            return etag_of(self.retrieve(request, **self._own(kwargs)).data)
        finally:
            self.action = asked


def is_conditional(view: Any, method: str) -> bool:
    """Whether the endpoint writes an object that GET answers, so that it takes If-Match."""
    return (isinstance(view, Preconditions) and method not in SAFE and bool(view.detail)
            and hasattr(view, "retrieve"))


def etag_of(data: Any) -> str:
    """The ETag of an answer's data."""
    return f'"{hashlib.sha256(JSONRenderer().render(data)).hexdigest()[:32]}"'


@contextmanager
def _one_transaction(request) -> Iterator[None]:
    """From comparing to writing, for requests that ask for it."""
    if request.method in SAFE or HEADER not in request.headers:
        yield
        return
    with transaction.atomic():
        yield
