"""Shapes of the accuracy drill-down in the API."""

from rest_framework import serializers

from assessments.accuracy import allowlist, operators
from assessments.models import AllowedDifference, Comparison, OperatorRow
from assessments.models.measurement import Outcome
from assessments.presentation import verdict_rows
from engagements.models import Engagement
from engagements.web.engagement_codes import NamesEngagement
from workers.models import StoredReading


class OperatorRowSerializer(serializers.ModelSerializer):
    """`statistics`: max, min, mean, norm of the NPU, then of the reference."""

    explanation = serializers.SerializerMethodField()

    class Meta:
        model = OperatorRow
        fields = ["position", "line", "op", "name", "role", "reason", "explanation", "missing_on",
                  "is_nonfinite", "cosine", "relative_error", "max_abs_error", "dtypes", "shapes",
                  "tool_verdict", "statistics"]
        read_only_fields = fields

    def get_explanation(self, row: OperatorRow) -> str:
        return operators.explained(row)


class OperatorComparisonSerializer(serializers.ModelSerializer):
    """Counts, the first deviating row in execution order, and where the deviation starts."""

    first_deviating = serializers.SerializerMethodField()
    suspect = serializers.SerializerMethodField()

    class Meta:
        model = Comparison
        fields = ["id", "artifact", "mode", "rows", "deviating", "nonfinite", "unmatched",
                  "first_deviating", "suspect", "problem", "reader_version", "indexed_at"]
        read_only_fields = fields

    def get_first_deviating(self, comparison: Comparison
                            ) -> OperatorRowSerializer(allow_null=True):
        return self._marked(comparison, "first")

    def get_suspect(self, comparison: Comparison) -> OperatorRowSerializer(allow_null=True):
        return self._marked(comparison, "suspect")

    def _marked(self, comparison: Comparison, name: str) -> dict | None:
        known = self.context.setdefault("marked", {})
        if comparison.pk not in known:
            many = isinstance(self.parent, serializers.ListSerializer)
            known.update(operators.marked_of(self.parent.instance if many else [comparison]))
        row = known[comparison.pk][name]
        return OperatorRowSerializer(row).data if row else None


class OperatorRunSerializer(serializers.Serializer):
    """An operator in one comparison; `worst` is null where the run did not execute it."""

    comparison = serializers.IntegerField(source="comparison.pk")
    artifact = serializers.IntegerField(source="comparison.artifact_id")
    job = serializers.IntegerField(source="comparison.artifact.job_id", allow_null=True)
    tensors = serializers.SerializerMethodField()
    deviating = serializers.IntegerField()
    worst = OperatorRowSerializer(allow_null=True)

    def get_tensors(self, run: operators.OperatorRun) -> int:
        return len(run.rows)


class AllowedDifferenceSerializer(NamesEngagement):
    engagement = serializers.PrimaryKeyRelatedField(queryset=Engagement.objects.all())
    state = serializers.CharField(read_only=True)

    class Meta:
        model = AllowedDifference
        fields = ["id", "engagement", "sheet", "item", "is_any_value", "bench_value", "npu_value",
                  "reason", "state", "proposed_by", "proposed_at", "reviewed_by", "reviewed_at",
                  "withdrawn_by", "withdrawn_at"]
        read_only_fields = fields[8:]
        validators = []  # proposing twice answers with the entry that is there


class ConfigDifferenceSerializer(serializers.Serializer):
    sheet = serializers.CharField()
    item = serializers.CharField()
    bench = serializers.CharField()
    npu = serializers.CharField()
    level = serializers.CharField()
    state = serializers.ChoiceField(choices=[allowlist.ALLOWED, allowlist.PROPOSED, allowlist.OPEN,
                                             allowlist.MUST_MATCH])
    relative = serializers.DictField(child=serializers.FloatField(allow_null=True),
                                     allow_null=True)


class ConfigCheckSerializer(serializers.ModelSerializer):
    """`outcome` after the reviewed allow-list; the tool's own answers are not believed."""

    outcome = serializers.SerializerMethodField()
    sentence = serializers.SerializerMethodField()
    differences = serializers.SerializerMethodField()

    class Meta:
        model = StoredReading
        fields = ["id", "artifact", "outcome", "sentence", "differences", "read_at"]
        read_only_fields = fields

    def get_outcome(self, reading: StoredReading) -> Outcome:
        return allowlist.judged(reading.values, self._compared(reading)).outcome

    def get_sentence(self, reading: StoredReading) -> str:
        return verdict_rows.config_sentence(
            allowlist.judged(reading.values, self._compared(reading)))

    def get_differences(self, reading: StoredReading) -> ConfigDifferenceSerializer(many=True):
        return ConfigDifferenceSerializer(self._compared(reading), many=True).data

    def _compared(self, reading: StoredReading) -> list[allowlist.Difference]:
        entries = self.context["allow_lists"][reading.engagement_id]
        return allowlist.compared(reading.values, entries)
