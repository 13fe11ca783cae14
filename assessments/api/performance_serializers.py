"""Shapes of performance in the API."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from assessments.api.criteria_serializers import VerdictSerializer
from assessments.models import OptimisationRound
from assessments.performance.techniques import Technique
from engagements.models import MigratedModel
from workers.logs.customer_text import shown_to
from workers.models import Artifact


class OptimisationRoundSerializer(serializers.ModelSerializer):
    model = serializers.PrimaryKeyRelatedField(queryset=MigratedModel.objects.all())
    artifact = serializers.PrimaryKeyRelatedField(queryset=Artifact.objects.all())
    profile = serializers.PrimaryKeyRelatedField(queryset=Artifact.objects.all(), required=False,
                                                 allow_null=True)

    technique = serializers.ChoiceField(Technique.choices, required=False, allow_blank=True)
    configuration = serializers.DictField(
        child=serializers.JSONField(allow_null=True), required=False, help_text=(
            "Settings of the technique by name, such as {\"hbm_reserved_mb\": 2048}."))

    judged = serializers.SerializerMethodField(
        help_text="When a round is recorded: the verdicts that its files led to.")

    class Meta:
        model = OptimisationRound
        fields = ["id", "model", "area", "finding", "change", "artifact", "profile", "technique",
                  "configuration", "number", "is_kept", "recorded_by", "recorded_at",
                  "judged"]
        read_only_fields = fields[9:]
        validators = []  # the service says in a sentence why a run is no round

    @extend_schema_field(VerdictSerializer(many=True))
    def get_judged(self, entry: OptimisationRound) -> list[dict]:
        return VerdictSerializer(getattr(entry, "judged", ()), many=True).data


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
    """`target` is the criterion's threshold in the metric's own unit. `before` and `after` are of
    rounds of tuning, else the first and the newest run, between which there is no gain."""

    metric = serializers.CharField(source="metric.name")
    unit = serializers.CharField(source="metric.unit")
    baseline = serializers.FloatField(allow_null=True)
    before = serializers.FloatField(source="before.value")
    after = serializers.FloatField(source="after.value")
    target = serializers.FloatField(allow_null=True)
    criterion = serializers.IntegerField(source="criterion.pk", allow_null=True, default=None)
    gain = GainField(allow_null=True)
    is_of_rounds = serializers.BooleanField()
    is_baseline_confirmed = serializers.BooleanField()
    is_practice = serializers.BooleanField()


class PerformanceSerializer(serializers.Serializer):
    model = serializers.IntegerField()
    bars = BarsSerializer(many=True)
    rounds = RoundSerializer(many=True)


class QuantitySerializer(serializers.Serializer):
    """A figure of a training log; `name` as in measurements."""

    name = serializers.CharField()
    value = serializers.FloatField()
    unit = serializers.CharField()


class TrainingRunSerializer(serializers.Serializer):
    """A training log, with what its run was started with, ran in and was judged to be."""

    artifact = serializers.IntegerField(source="artifact.pk")
    name = serializers.CharField(source="artifact.name")
    job = serializers.IntegerField(source="artifact.job_id", allow_null=True)
    began = serializers.DateTimeField()
    baseline = serializers.IntegerField(source="baseline.pk", allow_null=True, default=None)
    settings = serializers.SerializerMethodField()
    environment = serializers.DictField(child=serializers.CharField())
    quantities = QuantitySerializer(many=True)
    verdicts = VerdictSerializer(many=True)

    def get_settings(self, run) -> dict[str, str]:
        shown = shown_to(self.context["request"].user)
        return {name: shown(value) for name, value in run.settings.items()}
