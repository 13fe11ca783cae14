"""Actions of endpoints that are one service call for one row."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.response import Response

from engagements.web.strict_bodies import NoBody


class RowAction:
    """An action by POST as an attribute of a `DeclaredEndpoint`; its name is the attribute's.

    Args:
        service: takes `actor`, the row as `row_name`, and what `takes` accepts, by keyword.
        description: stands in the API's description.
        takes: serializer of the request; None for one without a body.
        answers: serializer of what the service made; without it the answer is the row, read anew,
            as the endpoint's `serializer_class` shows it.
        code: status of the answer.
    """

    def __init__(self, service: Callable[..., Any], row_name: str, description: str,
                 takes: type[serializers.Serializer] | None = None, *,
                 answers: type[serializers.Serializer] | None = None,
                 code: int = status.HTTP_200_OK, url_path: str | None = None) -> None:
        self.service, self.row_name, self.description = service, row_name, description
        self.takes, self.answers, self.code, self.url_path = takes, answers, code, url_path

    def __set_name__(self, owner: type, name: str) -> None:
        """Put the method in the place of its declaration."""
        def method(view, request, pk=None):
            row = view.get_object()
            fields = view.validated(self.takes or NoBody)
            made = self.service(actor=request.user, **{self.row_name: row}, **fields)
            if self.answers is None:
                return view.fresh(self.code)
            shown = self.answers(made, context=view.get_serializer_context())
            return Response(shown.data, status=self.code)

        method.__name__, method.__doc__ = name, self.description
        method.__qualname__, method.__module__ = f"{owner.__qualname__}.{name}", owner.__module__
        method.row_action = self
        shown = self.answers or (self.code != status.HTTP_200_OK and owner.serializer_class)
        answers = {"responses": {self.code: shown}} if shown else {}
        # `extend_schema` outside: inside, `action` would replace the documented request.
        setattr(owner, name, extend_schema(request=self.takes, **answers)(
            action(detail=True, methods=["post"], url_path=self.url_path)(method)))
