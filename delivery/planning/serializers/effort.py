"""Estimates and time as the API shows them."""

from decimal import Decimal

from rest_framework import serializers

from delivery.planning.models import EffortEstimate, EffortLine, TimeEntry, Timesheet
from delivery.planning.time.transitions import TRANSITIONS
from engagements.web.allowed_moves import AllowedMovesField
from engagements.web.engagement_codes import NamesEngagement


class EffortLineSerializer(serializers.ModelSerializer):
    basis = serializers.ListField(child=serializers.CharField(), source="basis_sentences",
                                  read_only=True)
    computed = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = EffortLine
        fields = ["id", "model", "stage", "item", "grade", "low", "likely", "high", "computed",
                  "basis", "reason"]
        read_only_fields = ["computed", "basis"]
        validators = []


class EffortEstimateSerializer(NamesEngagement):
    lines = EffortLineSerializer(many=True, read_only=True)
    total = serializers.SerializerMethodField()

    class Meta:
        model = EffortEstimate
        fields = ["id", "engagement", "version", "state", "lock_version", "created_by",
                  "created_at", "approved_by", "approved_at", "total", "lines"]
        read_only_fields = ["version", "state", "lock_version", "created_by", "created_at",
                            "approved_by", "approved_at"]
        validators = []  # the service says what is open

    def get_total(self, estimate) -> dict[str, str]:
        lines = estimate.lines.all()
        return {name: str(sum((getattr(line, name) for line in lines), Decimal(0)))
                for name in ("low", "likely", "high")}


class NewLineSerializer(serializers.ModelSerializer):
    """`seen` is the `lock_version` you read; without it the newest is changed."""

    seen = serializers.IntegerField(required=False, allow_null=True)
    reason = serializers.CharField(max_length=240)

    class Meta:
        model = EffortLine
        fields = ["model", "stage", "item", "grade", "low", "likely", "high", "reason", "seen"]
        validators = []


class AdjustSerializer(NewLineSerializer):
    """`seen` is the `lock_version` you read; without it the newest is changed."""

    line = serializers.IntegerField()

    class Meta(NewLineSerializer.Meta):
        fields = ["line", "low", "likely", "high", "reason", "seen"]


class TimeEntrySerializer(NamesEngagement):
    """`is_free_day` says that a weekend or public holiday was worked; else it is refused."""

    is_free_day = serializers.BooleanField(write_only=True, required=False, default=False)

    class Meta:
        model = TimeEntry
        fields = ["id", "engagement", "person", "work_date", "half", "item", "grade", "model",
                  "stage", "note", "is_free_day", "timesheet", "corrects", "is_taken_back",
                  "is_counted"]
        read_only_fields = ["timesheet", "corrects", "is_taken_back", "is_counted"]
        extra_kwargs = {"person": {"required": False}}
        validators = []


class TimeCorrectionSerializer(serializers.ModelSerializer):
    """What is left out stays as it was confirmed, but for model and stage."""

    reason = serializers.CharField(max_length=240)
    is_taken_back = serializers.BooleanField(default=False)

    class Meta:
        model = TimeEntry
        fields = ["item", "grade", "model", "stage", "reason", "is_taken_back"]
        extra_kwargs = {"item": {"required": False}, "grade": {"required": False}}
        validators = []


class TimesheetSerializer(NamesEngagement):
    """`month` is any day of it; `facts` is what both sides confirm."""

    allowed_moves = AllowedMovesField(TRANSITIONS)

    class Meta:
        model = Timesheet
        fields = ["id", "engagement", "month", "number", "state", "facts", "content_hash",
                  "confirmed_by", "confirmed_at", "answered_by", "answered_at", "rejection",
                  "withdrawal", "allowed_moves"]
        read_only_fields = ["number", "state", "facts", "content_hash", "confirmed_by",
                            "confirmed_at", "answered_by", "answered_at", "rejection",
                            "withdrawal"]
        validators = []


class TimesheetAnswerSerializer(serializers.Serializer):
    is_confirmed = serializers.BooleanField()
    reason = serializers.CharField(required=False, default="", allow_blank=True)
