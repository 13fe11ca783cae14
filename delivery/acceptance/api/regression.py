"""REST endpoints of regression runs."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import mixins, serializers

from delivery.acceptance.models import RegressionRun
from delivery.acceptance.regression_comparison import moved, moved_figures
from delivery.acceptance.services.regression_runs import start_regression
from engagements.models import MigratedModel
from engagements.web.engagement_codes import NamesEngagement
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating
from engagements.web.visible_field import VisibleField
from workers.models import Node


class MovedSerializer(serializers.Serializer):
    """`change` is relative to the accepted value; null for a curve and until the repeat is done."""

    criterion = serializers.IntegerField(source="criterion.pk")
    accepted_job = serializers.IntegerField(source="pair.accepted_id")
    repeated_job = serializers.IntegerField(source="pair.repeating.pk", allow_null=True,
                                            default=None)
    accepted_value = serializers.FloatField(source="before.value", allow_null=True)
    accepted_outcome = serializers.CharField(source="accepted.outcome")
    repeated_value = serializers.FloatField(source="after.value", allow_null=True, default=None)
    repeated_outcome = serializers.CharField(source="outcome.outcome", allow_null=True,
                                             default=None)
    change = serializers.FloatField(allow_null=True)
    environment = serializers.ListField(child=serializers.ListField(
        child=serializers.CharField(allow_blank=True)))


class MovedFigureSerializer(serializers.Serializer):
    """`direction` is empty where the figure has none, or the repeat has not brought it yet."""

    accepted_job = serializers.IntegerField(source="pair.accepted_id")
    quantity = serializers.CharField(source="before.quantity")
    unit = serializers.CharField(source="before.unit", allow_blank=True)
    accepted_value = serializers.FloatField(source="before.value")
    repeated_value = serializers.FloatField(source="after.value", allow_null=True, default=None)
    change_percent = serializers.FloatField(allow_null=True)
    direction = serializers.ChoiceField(["better", "worse", "unchanged"], allow_blank=True)


class RegressionRunSerializer(NamesEngagement):
    model = VisibleField(queryset=MigratedModel.objects.all())
    node = VisibleField(queryset=Node.objects.all())
    moved = serializers.SerializerMethodField()
    figures = serializers.SerializerMethodField()

    class Meta:
        model = RegressionRun
        fields = ["id", "engagement", "number", "model", "node", "release", "started_by",
                  "started_at", "moved", "figures"]
        read_only_fields = ["engagement", "number", "started_by", "started_at"]

    def get_moved(self, run: RegressionRun) -> list[dict]:
        return MovedSerializer(moved(run), many=True).data

    @extend_schema_field(MovedFigureSerializer(many=True))
    def get_figures(self, run: RegressionRun) -> list[dict]:
        return MovedFigureSerializer(moved_figures(run), many=True).data


class RegressionRunViewSet(mixins.CreateModelMixin, ScopedViewSet):
    """The accepted runs of a model, repeated on a node with other software."""

    queryset = RegressionRun.objects.select_related("engagement", "model", "node")
    serializer_class = RegressionRunSerializer
    filterset_fields = ["engagement", "model", "node"]
    perform_create = creating(start_regression)


routes = [("regression-runs", RegressionRunViewSet, "regression-run")]
