"""REST endpoints of performance: a model's figures and its optimisation rounds."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from assessments import services
from assessments.api import performance_serializers as serializers
from assessments.models import OptimisationRound
from assessments.performance.metric_bars import bars_of
from assessments.performance.rounds import history
from assessments.presentation.training_runs import described, training_logs
from engagements.models import MigratedModel
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating, destroying
from workers.api.file_waiting import after_reading


class OptimisationRoundViewSet(mixins.CreateModelMixin, mixins.DestroyModelMixin, ScopedViewSet):
    """Rounds hold no figures: those are measurements, see `performance`."""

    queryset = OptimisationRound.objects.select_related("model__engagement")
    serializer_class = serializers.OptimisationRoundSerializer
    filterset_fields = ["model"]
    perform_create = after_reading(creating(services.record_round))
    perform_destroy = destroying(services.remove_last_round, "entry")

    @extend_schema(request=serializers.RoundDecisionSerializer)
    @action(detail=True, methods=["post"])
    def keep(self, request, pk=None):
        """Keep or revert the change of a round."""
        return self.shown(services.set_round_kept(
            actor=request.user, entry=self.get_object(),
            **self.validated(serializers.RoundDecisionSerializer)))


class PerformanceViewSet(viewsets.GenericViewSet):
    """Performance of one model: bars and the history with recomputed gains."""

    queryset = MigratedModel.objects.select_related("engagement")
    serializer_class = serializers.PerformanceSerializer

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)

    def retrieve(self, request, pk=None):
        """Gains are fractions, positive is better; never sums of rounds."""
        model = self.get_object()
        known = history(model)
        return Response(self.get_serializer({
            "model": model.pk, "bars": bars_of(model, known), "rounds": known.rows}).data)

    @extend_schema(responses=serializers.TrainingRunSerializer(many=True))
    @action(detail=True, serializer_class=serializers.TrainingRunSerializer)
    def runs(self, request, pk=None):
        """Training logs of the model, newest first, each with settings, figures and verdicts."""
        page = self.paginate_queryset(training_logs(self.get_object()))
        return self.get_paginated_response(self.get_serializer(described(page), many=True).data)


routes = [
    ("optimisation-rounds", OptimisationRoundViewSet, "optimisation-round"),
    ("performance", PerformanceViewSet, "performance"),
]
