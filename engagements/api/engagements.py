"""REST endpoints of engagements. Each write is one service call."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins
from rest_framework.decorators import action
from rest_framework.response import Response

from engagements import serializers, services
from engagements.models import Customer, Engagement, Membership, MigratedModel
from engagements.web.scoped_viewset import ScopedViewSet


class CustomerViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, ScopedViewSet):
    queryset = Customer.objects.all()
    serializer_class = serializers.CustomerSerializer
    filterset_fields = ["name"]

    def perform_create(self, serializer):
        serializer.instance = services.create_customer(
            actor=self.request.user, **serializer.validated_data)

    def perform_update(self, serializer):
        serializer.instance = services.update_customer(
            actor=self.request.user, customer=serializer.instance, **serializer.validated_data)


class EngagementViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, ScopedViewSet):
    queryset = Engagement.objects.all()
    serializer_class = serializers.EngagementSerializer
    filterset_fields = ["code", "scope", "state", "customer"]
    lookup_field = "code"

    def perform_create(self, serializer):
        serializer.instance = services.create_engagement(
            actor=self.request.user, **serializer.validated_data)

    def perform_update(self, serializer):
        serializer.instance = services.update_engagement(
            actor=self.request.user, engagement=serializer.instance, **serializer.validated_data)


class MembershipViewSet(mixins.CreateModelMixin, mixins.DestroyModelMixin, ScopedViewSet):
    queryset = Membership.objects.select_related("engagement", "user")
    serializer_class = serializers.MembershipSerializer
    filterset_fields = ["engagement", "user", "role"]

    def perform_create(self, serializer):
        serializer.instance = services.add_member(
            actor=self.request.user, **serializer.validated_data)

    def perform_destroy(self, instance):
        services.remove_member(actor=self.request.user, membership=instance)


class MigratedModelViewSet(mixins.CreateModelMixin, ScopedViewSet):
    queryset = MigratedModel.objects.all()
    serializer_class = serializers.MigratedModelSerializer
    filterset_fields = ["engagement", "code", "scope"]

    def perform_create(self, serializer):
        serializer.instance = services.add_model(
            actor=self.request.user, **serializer.validated_data)

    @extend_schema(request=serializers.ModelFactsSerializer)
    def partial_update(self, request, pk=None):
        """Change facts of the model; 409 where it moved on since `seen`."""
        facts = self.validated(serializers.ModelFactsSerializer, partial=True)
        return Response(self.get_serializer(services.update_model(
            actor=request.user, model=self.get_object(), **facts)).data)

    @extend_schema(request=serializers.ModelScopeSerializer)
    @action(detail=True, methods=["post"])
    def scope(self, request, pk=None):
        """Another scope, with the reason; stages fall out or come in."""
        return Response(self.get_serializer(services.set_model_scope(
            actor=request.user, model=self.get_object(),
            **self.validated(serializers.ModelScopeSerializer))).data)


routes = [
    ("customers", CustomerViewSet, "customer"),
    ("engagements", EngagementViewSet, "engagement"),
    ("memberships", MembershipViewSet, "membership"),
    ("models", MigratedModelViewSet, "model"),
]
