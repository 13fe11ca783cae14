"""REST endpoints of engagements. Each write is one service call."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins
from rest_framework.decorators import action
from rest_framework.response import Response

from engagements import serializers, services
from engagements.access import Can, require
from engagements.closing import conditions_of
from engagements.models import Customer, Engagement, Membership, MigratedModel
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating, destroying, updating


class CustomerViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, ScopedViewSet):
    queryset = Customer.objects.all()
    serializer_class = serializers.CustomerSerializer
    filterset_fields = ["name"]
    perform_create = creating(services.create_customer)
    perform_update = updating(services.update_customer, "customer")


class EngagementViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, ScopedViewSet):
    queryset = Engagement.objects.all()
    serializer_class = serializers.EngagementSerializer
    filterset_fields = ["code", "scope", "state", "customer"]
    lookup_field = "code"
    perform_create = creating(services.create_engagement)
    perform_update = updating(services.update_engagement, "engagement")

    @extend_schema(responses=serializers.ClosingConditionSerializer(many=True))
    @action(detail=True, pagination_class=None, filterset_fields=[])
    def closing(self, request, code=None):
        """What has to be done before the engagement is closed, and where."""
        engagement = self.get_object()
        require(request.user, Can.VIEW_INTERNAL, engagement)
        return Response(serializers.ClosingConditionSerializer(
            conditions_of(engagement), many=True).data)

    @extend_schema(request=serializers.CloseEngagementSerializer)
    @action(detail=True, methods=["post"])
    def close(self, request, code=None):
        """End an engagement of which nothing is open; 409 with `checks` where something is."""
        return self._end(services.close_engagement, serializers.CloseEngagementSerializer)

    @extend_schema(request=serializers.CancelSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request, code=None):
        """End it before its time, with a settlement: its jobs end, and what lies with the customer
        is taken back."""
        return self._end(services.cancel_engagement, serializers.CancelSerializer)

    @extend_schema(request=serializers.LoseSerializer)
    @action(detail=True, methods=["post"])
    def lose(self, request, code=None):
        """End what the customer did not order, with the cause; quotes that lie with the customer
        are revoked."""
        return self._end(services.lose_engagement, serializers.LoseSerializer)

    @extend_schema(request=serializers.ReopenSerializer)
    @action(detail=True, methods=["post"])
    def reopen(self, request, code=None):
        """Go on with an engagement that has ended, for a reason."""
        return self._end(services.reopen_engagement, serializers.ReopenSerializer)

    def _end(self, service, takes):
        return self.shown(service(actor=self.request.user, engagement=self.get_object(),
                                  **self.validated(takes)))


class MembershipViewSet(mixins.CreateModelMixin, mixins.DestroyModelMixin, ScopedViewSet):
    queryset = Membership.objects.select_related("engagement", "user")
    serializer_class = serializers.MembershipSerializer
    filterset_fields = ["engagement", "user", "role"]
    perform_create = creating(services.add_member)
    perform_destroy = destroying(services.remove_member, "membership")


class MigratedModelViewSet(mixins.CreateModelMixin, ScopedViewSet):
    queryset = MigratedModel.objects.all()
    serializer_class = serializers.MigratedModelSerializer
    filterset_fields = ["engagement", "code", "scope"]
    perform_create = creating(services.add_model)

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
