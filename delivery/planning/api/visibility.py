"""What the REST endpoints of this app share."""

from rest_framework import viewsets
from rest_framework.response import Response


class Visible(viewsets.ReadOnlyModelViewSet):
    """Reads limited to what the user may see."""

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)

    def _taken(self, serializer) -> dict:
        serializer = serializer(data=self.request.data)
        serializer.is_valid(raise_exception=True)
        return serializer.validated_data

    def _fresh(self) -> Response:
        return Response(self.get_serializer(self.get_object()).data)
