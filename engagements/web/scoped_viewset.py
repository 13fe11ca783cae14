"""The viewset that every app's REST endpoints are made of."""

from typing import Any

from rest_framework import serializers, viewsets


class ScopedViewSet(viewsets.ReadOnlyModelViewSet):
    """Lists and shows the rows of `queryset` that the user may see; all others answer 404.

    The model's default manager has `visible_to(user)`.
    """

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)

    def validated(self, serializer_class: type[serializers.BaseSerializer], **options
                  ) -> dict[str, Any]:
        """The request's data as a declared serializer accepts it; 400 where it does not."""
        serializer = serializer_class(data=self.request.data, **options)
        serializer.is_valid(raise_exception=True)
        return serializer.validated_data
