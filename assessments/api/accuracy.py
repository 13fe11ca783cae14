"""REST endpoints of the accuracy drill-down: comparisons, allow-list, configuration checks."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from assessments import services
from assessments.accuracy import allowlist, operators
from assessments.accuracy.readings import CONFIG_READERS
from assessments.api import accuracy_serializers as serializers
from assessments.models import AllowedDifference, Comparison
from engagements.models.visibility import in_engagements_of
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating
from workers.models import StoredReading


class ComparisonViewSet(ScopedViewSet):
    """Indexed operator comparisons of visible engagements."""

    queryset = Comparison.objects.select_related("artifact")
    serializer_class = serializers.OperatorComparisonSerializer
    filterset_fields = ["artifact", "artifact__model", "artifact__engagement"]

    @extend_schema(
        responses=serializers.OperatorRowSerializer(many=True), filters=False,
        parameters=[
            OpenApiParameter("show", str, enum=list(operators.SHOW)),
            OpenApiParameter("reason", str), OpenApiParameter("role", str),
            OpenApiParameter("q", str, description="part of the tensor's name"),
            OpenApiParameter("sort", str, description="a field; - before it turns the order",
                             enum=[*operators.SORTS, *(f"-{name}" for name in operators.SORTS)])])
    @action(detail=True, filterset_fields=[])
    def operators(self, request, pk=None):
        """Rows in execution order, filtered, sorted and paged by the server."""
        rows = operators.filtered_rows(self.get_object(), request.query_params)
        page = self.paginate_queryset(rows)
        return self.get_paginated_response(serializers.OperatorRowSerializer(page, many=True).data)

    @extend_schema(responses=serializers.OperatorRunSerializer(many=True), filters=False,
                   parameters=[OpenApiParameter("op", str, required=True)])
    @action(detail=True, filterset_fields=[], pagination_class=None)
    def history(self, request, pk=None):
        """One operator in the newest 50 comparisons of the same model."""
        runs = operators.operator_history(self.get_object().artifact,
                                          request.query_params.get("op", ""))
        return Response(serializers.OperatorRunSerializer(runs, many=True).data)


class AllowedDifferenceViewSet(mixins.CreateModelMixin, ScopedViewSet):
    """The allow-list; creating proposes an entry, another person reviews it."""

    queryset = AllowedDifference.objects.select_related("engagement")
    serializer_class = serializers.AllowedDifferenceSerializer
    filterset_fields = ["engagement", "sheet"]
    perform_create = creating(services.propose_difference)
    review = RowAction(services.review_difference, "entry", "Let a proposed entry count.")
    withdraw = RowAction(services.withdraw_difference, "entry", "End an entry.")


KIND = "config_check"  # by which an index finds the newest


class ConfigCheckViewSet(viewsets.ReadOnlyModelViewSet):
    """Compared configurations, judged after the allow-list."""

    queryset = StoredReading.objects.filter(kind=KIND, reader__in=CONFIG_READERS)
    serializer_class = serializers.ConfigCheckSerializer
    filterset_fields = ["artifact", "artifact__model", "artifact__engagement"]

    def get_queryset(self):
        return super().get_queryset().filter(in_engagements_of(self.request.user))

    def get_serializer(self, *args, **kwargs):
        """Allow-lists are read for all rows of a page at once."""
        serializer = super().get_serializer(*args, **kwargs)
        rows = args[0] if kwargs.get("many") else args[:1]
        serializer.context["allow_lists"] = allowlist.entries_by_engagement(
            {row.engagement_id for row in rows})
        return serializer


routes = [
    ("comparisons", ComparisonViewSet, "comparison"),
    ("allowed-differences", AllowedDifferenceViewSet, "allowed-difference"),
    ("config-checks", ConfigCheckViewSet, "config-check"),
]
