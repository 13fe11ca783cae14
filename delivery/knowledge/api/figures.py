"""REST endpoint of the library of measured figures."""

from rest_framework import serializers

from delivery.knowledge.figure_queries import FILTERS
from delivery.knowledge.models import FigureRange
from delivery.knowledge.models.measured_figure import KEY
from engagements.web.scoped_viewset import ScopedViewSet


class FigureRangeSerializer(serializers.ModelSerializer):
    """Range over engagements of one quantity; per cent are fractions, effort is in person-days."""

    class Meta:
        model = FigureRange
        fields = ["id", *KEY, "engagements", "samples", "minimum", "median", "maximum",
                  "updated_at"]
        read_only_fields = fields


class FigureRangeViewSet(ScopedViewSet):
    """What was measured of model families with a chip, software and parallel strategy, over
    engagements and without their names; of the firm's people."""

    queryset = FigureRange.objects.all()
    serializer_class = FigureRangeSerializer
    filterset_fields = list(FILTERS)


routes = [("measured-figures", FigureRangeViewSet, "measured-figure")]
