"""REST shapes of criteria, baselines and verdicts."""

from rest_framework import serializers

from assessments.definitions.criteria_sets import ReadySet
from assessments.definitions.threshold_units import ThresholdUnit
from assessments.definitions.versions import CHANGEABLE
from assessments.models import (
    Baseline,
    BaselineRun,
    CriteriaSet,
    Criterion,
    Measurement,
    MetricDefinition,
    Verdict,
    Waiver,
)
from assessments.queries import customers_signature, newest_verdict, verdict_sentence
from assessments.services.plausibility import questions_about
from engagements.access import Can, allowed
from engagements.models import MigratedModel
from engagements.web.engagement_codes import NamesEngagement
from engagements.web.visible_field import VisibleField
from workers.models import Artifact


class MetricDefinitionSerializer(serializers.ModelSerializer):
    class Meta:
        model = MetricDefinition
        fields = "__all__"


class DefinitionVersionSerializer(serializers.ModelSerializer):
    """What a new version changes; fields that are left out stay as they are."""

    change_note = serializers.CharField(max_length=240)

    class Meta:
        model = MetricDefinition
        fields = [*CHANGEABLE, "change_note"]
        extra_kwargs = {name: {"required": False} for name in CHANGEABLE}


class BaselineRunSerializer(serializers.ModelSerializer):
    """`value`: the quantity; of a curve its mean relative error (a fraction)."""

    sha256 = serializers.CharField(source="artifact.sha256", read_only=True)

    class Meta:
        model = BaselineRun
        fields = ["id", "artifact", "sha256", "value", "is_remeasurement", "recorded_by",
                  "recorded_at"]
        read_only_fields = ["value", "is_remeasurement", "recorded_by", "recorded_at"]


class WaiverSerializer(serializers.ModelSerializer):
    class Meta:
        model = Waiver
        fields = ["id", "criterion", "verdict", "reason", "scope", "expires_on", "content_hash",
                  "drafted_by", "drafted_at", "signed_by", "signed_at", "revoked_by", "revoked_at"]
        read_only_fields = ["verdict", "content_hash", "drafted_by", "drafted_at", "signed_by",
                            "signed_at", "revoked_by", "revoked_at"]


class DifferenceAcceptanceSerializer(serializers.Serializer):
    """Names of open items of the environment, and why they do not matter."""

    items = serializers.ListField(child=serializers.CharField(max_length=80), allow_empty=False)
    reason = serializers.CharField(max_length=240)


class ExplanationSerializer(serializers.Serializer):
    explanation = serializers.CharField(max_length=240)


class BaselineSerializer(serializers.ModelSerializer):
    """`questions` are asked where the value lies far from similar ones, until it is explained;
    for the firm's people."""

    questions = serializers.SerializerMethodField()
    sha256 = serializers.CharField(source="artifact.sha256", read_only=True)
    runs = BaselineRunSerializer(many=True, read_only=True)

    class Meta:
        model = Baseline
        fields = ["id", "model", "quantity", "value", "unit", "artifact", "sha256",
                  "environment", "hardware", "software", "data_set", "seeds", "source", "origin",
                  "runs", "questions", "explanation", "measured_at", "recorded_by", "frozen_at"]
        read_only_fields = ["value", "unit", "explanation", "measured_at", "recorded_by",
                            "frozen_at"]

    def get_fields(self):
        fields = super().get_fields()
        if not allowed(self.context["request"].user, Can.VIEW_INTERNAL):
            for name in ("questions", "explanation"):
                del fields[name]
        return fields

    def get_questions(self, baseline: Baseline) -> list[str]:
        return [] if baseline.frozen_at else questions_about(baseline)


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
    """`threshold` is a fraction for definitions in per cent; it is kept as one. A number that may
    be meant in either unit is refused unless `threshold_unit` says which."""

    threshold_unit = serializers.ChoiceField(ThresholdUnit.choices, required=False,
                                             write_only=True)
    verdict = serializers.SerializerMethodField()

    class Meta:
        model = Criterion
        fields = ["id", "criteria_set", "model", "definition", "stage", "threshold",
                  "threshold_unit", "baseline", "point", "selection", "runs", "verdict"]

    def get_verdict(self, criterion: Criterion) -> VerdictSerializer(allow_null=True):
        verdict = newest_verdict(criterion)
        return VerdictSerializer(verdict).data if verdict else None


class CriteriaSetSerializer(NamesEngagement):
    """`customer_signature` says who signed for the customer, and how."""

    customer_signature = serializers.SerializerMethodField()

    class Meta:
        model = CriteriaSet
        fields = ["id", "engagement", "version", "state", "signed_at", "signed_by",
                  "customer_signatory", "customer_signature", "content_hash"]
        read_only_fields = fields[2:]
        validators = []  # the service says what is open

    def get_customer_signature(self, criteria_set: CriteriaSet) -> str:
        return customers_signature(criteria_set)


class ReadySetSerializer(serializers.Serializer):
    """Which model gets which ready set of thresholds."""

    model = VisibleField(queryset=MigratedModel.objects.all())
    ready_set = serializers.ChoiceField(ReadySet.choices)


class SignedSheetSerializer(serializers.Serializer):
    """The scan of a sheet that the customer signed on paper, and the name on it; left out where
    a reviewer confirms with an account of his own."""

    customer_signatory = serializers.CharField(max_length=120, required=False, default="")
    signed_sheet = serializers.PrimaryKeyRelatedField(
        queryset=Artifact.objects.none(), required=False, default=None, allow_null=True)

    def get_fields(self):
        fields = super().get_fields()
        if request := self.context.get("request"):
            fields["signed_sheet"].queryset = Artifact.objects.visible_to(request.user)
        return fields


class MeasureSerializer(serializers.Serializer):
    artifact = serializers.PrimaryKeyRelatedField(queryset=Artifact.objects.none())


class StepsSerializer(serializers.Serializer):
    """The first and the last step of a window."""

    first = serializers.IntegerField(min_value=0)
    last = serializers.IntegerField(min_value=0)
