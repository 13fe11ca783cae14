"""REST endpoints of people. Each write is one service call."""

from rest_framework import mixins, viewsets

from engagements import serializers, services
from engagements.access import require_administrator
from engagements.models import User
from engagements.web.service_hooks import updating


class PersonViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin,
                    viewsets.ReadOnlyModelViewSet):
    """Who may sign in, and as what; for administrators."""

    queryset = User.objects.order_by("pk")
    serializer_class = serializers.PersonSerializer
    filterset_fields = ["role", "is_active", "username"]

    def get_queryset(self):
        require_administrator(self.request.user)
        return super().get_queryset()

    def perform_create(self, serializer):
        serializer.instance = services.add_person(
            actor=self.request.user, **{"password": "", **serializer.validated_data})
    perform_update = updating(services.update_person, "person", "username", "is_service")


routes = [("people", PersonViewSet, "person")]
