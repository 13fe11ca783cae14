"""What every app's REST endpoints are made of. Docstrings of classes stand in the API's schema."""

from typing import Any

from rest_framework import serializers, status, viewsets
from rest_framework.response import Response

from engagements.web.preconditions import Preconditions
from engagements.web.strict_bodies import checked_body
from engagements.web.strict_filters import KnownParameters


class DeclaredEndpoint(Preconditions, KnownParameters):
    # Mixed into viewsets whose requests and answers are declared as serializers.

    def validated(self, serializer_class: type[serializers.BaseSerializer], **options
                  ) -> dict[str, Any]:
        """The request's data as a declared serializer accepts it; 400 where it does not."""
        serializer = checked_body(serializer_class(**{
            "data": self.request.data, "context": {"request": self.request}, **options}))
        serializer.is_valid(raise_exception=True)
        return serializer.validated_data

    def shown(self, row: Any, code: int = status.HTTP_200_OK) -> Response:
        """The answer that shows a row as the endpoint's serializer does."""
        return Response(self.get_serializer(row).data, status=code)

    def fresh(self, code: int = status.HTTP_200_OK) -> Response:
        """The same of the row as it is after a write."""
        return self.shown(self.get_object(), code)


class RowEndpoint(DeclaredEndpoint, viewsets.ReadOnlyModelViewSet):
    # Of the rows of a table.

    def get_serializer(self, *args, **options):
        serializer = super().get_serializer(*args, **options)
        return checked_body(serializer) if "data" in options else serializer


class ScopedViewSet(RowEndpoint):
    """Those that the user may see; all others are answered with 404."""

    # The default manager of the queryset's model has `visible_to(user)`.

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)
