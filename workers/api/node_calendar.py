"""REST endpoints of the calendar of nodes. Each write is one service call."""

from rest_framework import mixins

from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating, destroying
from workers.api import node_serializers
from workers.models import CardQuota, NodeReservation
from workers.services import node_calendar


class NodeReservationViewSet(mixins.CreateModelMixin, mixins.DestroyModelMixin, ScopedViewSet):
    """Cards kept for an engagement; without one the whole node, for maintenance."""

    queryset = NodeReservation.objects.select_related("node", "engagement")
    serializer_class = node_serializers.NodeReservationSerializer
    filterset_fields = ["node", "engagement"]
    perform_create = creating(node_calendar.reserve)
    perform_destroy = destroying(node_calendar.end_reservation, "reservation")


class CardQuotaViewSet(mixins.CreateModelMixin, ScopedViewSet):
    """How many cards an engagement may hold at once; a POST replaces what was, null ends it."""

    queryset = CardQuota.objects.select_related("engagement")
    serializer_class = node_serializers.CardQuotaSerializer
    filterset_fields = ["engagement"]

    def perform_create(self, serializer):
        data = serializer.validated_data
        quota = node_calendar.set_quota(actor=self.request.user, **data)
        serializer.instance = quota or CardQuota(**data)


routes = [
    ("node-reservations", NodeReservationViewSet, "node-reservation"),
    ("card-quotas", CardQuotaViewSet, "card-quota"),
]
