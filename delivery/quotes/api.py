"""REST doors of quotes. Each write is one service call."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.quotes import serializers, services
from delivery.quotes.models import Quote, RateCard
from engagements.access import Can, allowed


class RateCardViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = RateCard.objects.prefetch_related("lines")
    serializer_class = serializers.RateCardSerializer

    def get_queryset(self):
        is_internal = allowed(self.request.user, Can.VIEW_INTERNAL)
        return super().get_queryset() if is_internal else RateCard.objects.none()


class QuoteViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin,
                   viewsets.ReadOnlyModelViewSet):
    queryset = Quote.objects.prefetch_related("lines").select_related("engagement__customer")
    serializer_class = serializers.QuoteSerializer
    filterset_fields = ["engagement", "number", "state"]

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)

    def perform_create(self, serializer):
        serializer.instance = services.create_quote(
            actor=self.request.user, **serializer.validated_data)

    def perform_update(self, serializer):
        fields = {k: v for k, v in serializer.validated_data.items() if k != "engagement"}
        serializer.instance = services.update_quote(
            actor=self.request.user, quote=serializer.instance, **fields)

    @extend_schema(request=serializers.AddLineSerializer)
    @action(detail=True, methods=["post"])
    def lines(self, request, pk=None):
        """Add an item of a price list."""
        door = serializers.AddLineSerializer(data=request.data)
        door.is_valid(raise_exception=True)
        services.add_line(actor=request.user, quote=self.get_object(), **door.validated_data)
        return Response(self.get_serializer(self.get_object()).data,
                        status=status.HTTP_201_CREATED)

    @extend_schema(request=serializers.QuoteMoveSerializer)
    @action(detail=True, methods=["post"])
    def move(self, request, pk=None):
        """Submit, approve, issue, return, accept or decline."""
        door = serializers.QuoteMoveSerializer(data=request.data)
        door.is_valid(raise_exception=True)
        services.move_quote(actor=request.user, quote=self.get_object(), **door.validated_data)
        return Response(self.get_serializer(self.get_object()).data)


routes = [("rate-cards", RateCardViewSet, "rate-card"), ("quotes", QuoteViewSet, "quote")]
