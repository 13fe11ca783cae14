"""REST shapes of criteria, baselines and verdicts."""

from rest_framework import serializers

from assessments.models import (
    Baseline,
    CriteriaSet,
    Criterion,
    Measurement,
    MetricDefinition,
    Verdict,
)
from assessments.queries import newest_verdict, verdict_sentence


class MetricDefinitionSerializer(serializers.ModelSerializer):
    class Meta:
        model = MetricDefinition
        fields = "__all__"


class BaselineSerializer(serializers.ModelSerializer):
    sha256 = serializers.CharField(source="artifact.sha256", read_only=True)

    class Meta:
        model = Baseline
        fields = ["id", "model", "quantity", "value", "unit", "artifact", "sha256",
                  "environment", "source", "measured_at", "recorded_by", "frozen_at"]
        read_only_fields = ["value", "unit", "measured_at", "recorded_by", "frozen_at"]


class MeasurementSerializer(serializers.ModelSerializer):
    sha256 = serializers.CharField(source="artifact.sha256", read_only=True)

    class Meta:
        model = Measurement
        fields = ["id", "model", "quantity", "value", "unit", "artifact", "sha256", "job",
                  "reader", "reader_version", "place", "is_practice", "created_at"]
        read_only_fields = fields


class VerdictSerializer(serializers.ModelSerializer):
    """A verdict is computed, never written: read only."""

    sentence = serializers.SerializerMethodField()

    class Meta:
        model = Verdict
        fields = ["id", "criterion", "measurement", "outcome", "figure", "reason", "sentence",
                  "facts", "engine_version", "is_practice", "computed_at"]
        read_only_fields = fields

    def get_sentence(self, verdict: Verdict) -> str:
        return verdict_sentence(verdict.criterion, verdict)


class CriterionSerializer(serializers.ModelSerializer):
    """`threshold` is a fraction for definitions in per cent."""

    verdict = serializers.SerializerMethodField()

    class Meta:
        model = Criterion
        fields = ["id", "criteria_set", "model", "definition", "stage", "threshold", "baseline",
                  "verdict"]

    def get_verdict(self, criterion: Criterion) -> VerdictSerializer(allow_null=True):
        verdict = newest_verdict(criterion)
        return VerdictSerializer(verdict).data if verdict else None


class CriteriaSetSerializer(serializers.ModelSerializer):
    class Meta:
        model = CriteriaSet
        fields = ["id", "engagement", "version", "state", "signed_at", "signed_by",
                  "customer_signatory", "content_hash"]
        read_only_fields = fields[2:]


class CriteriaSignatureSerializer(serializers.Serializer):
    customer_signatory = serializers.CharField(max_length=120)
