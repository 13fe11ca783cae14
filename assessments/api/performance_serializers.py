"""Shapes of performance in the API."""

from rest_framework import serializers

from assessments.models import OptimisationRound
from assessments.performance.techniques import Technique
from engagements.models import MigratedModel
from workers.models import Artifact


class OptimisationRoundSerializer(serializers.ModelSerializer):
    model = serializers.PrimaryKeyRelatedField(queryset=MigratedModel.objects.all())
    artifact = serializers.PrimaryKeyRelatedField(queryset=Artifact.objects.all())
    profile = serializers.PrimaryKeyRelatedField(queryset=Artifact.objects.all(), required=False,
                                                 allow_null=True)

    technique = serializers.ChoiceField(Technique.choices, required=False, allow_blank=True)
    configuration = serializers.DictField(child=serializers.JSONField(), required=False, help_text=(
        "Settings of the technique by name, such as {\"hbm_reserved_mb\": 2048}."))

    class Meta:
        model = OptimisationRound
        fields = ["id", "model", "area", "finding", "change", "artifact", "profile", "technique",
                  "configuration", "number", "is_kept", "recorded_by", "recorded_at"]
        read_only_fields = fields[9:]
        validators = []  # the service says in a sentence why a run is no round


class RoundDecisionSerializer(serializers.Serializer):
    is_kept = serializers.BooleanField()


class GainField(serializers.FloatField):
    """The relative gain as a fraction; null where none is defined."""

    def to_representation(self, value) -> float:
        return value.relative


class CellSerializer(serializers.Serializer):
    """`gain` over the last kept round, `total` over the start."""

    metric = serializers.CharField(source="metric.name")
    unit = serializers.CharField(source="metric.unit")
    value = serializers.FloatField(allow_null=True)
    measurement = serializers.IntegerField(source="measurement.pk", allow_null=True, default=None)
    gain = GainField(allow_null=True)
    total = GainField(allow_null=True)
    is_comparable = serializers.BooleanField()


class RoundSerializer(serializers.Serializer):
    round = OptimisationRoundSerializer()
    is_practice = serializers.BooleanField()
    cells = CellSerializer(many=True)


class BarsSerializer(serializers.Serializer):
    """`target` is the criterion's threshold in the metric's own unit."""

    metric = serializers.CharField(source="metric.name")
    unit = serializers.CharField(source="metric.unit")
    baseline = serializers.FloatField(allow_null=True)
    before = serializers.FloatField(source="before.value")
    after = serializers.FloatField(source="after.value")
    target = serializers.FloatField(allow_null=True)
    criterion = serializers.IntegerField(source="criterion.pk", allow_null=True, default=None)
    gain = GainField(allow_null=True)
    is_practice = serializers.BooleanField()


class PerformanceSerializer(serializers.Serializer):
    model = serializers.IntegerField()
    bars = BarsSerializer(many=True)
    rounds = RoundSerializer(many=True)
