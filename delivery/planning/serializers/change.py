"""Change requests as the API shows them."""

from rest_framework import serializers

from delivery.planning.changes.transitions import TRANSITIONS
from delivery.planning.models import (
    AddedCriterion,
    ChangeRequest,
    CriterionEffect,
    PriceEffect,
    ScheduleEffect,
    ScopeEffect,
)
from delivery.planning.serializers.control import EditedSerializer
from engagements.web.allowed_moves import AllowedMovesField
from engagements.web.engagement_codes import NamesEngagement


class ScopeEffectSerializer(serializers.ModelSerializer):
    """`code` to `parameters_billion` are facts of a model to be added."""

    class Meta:
        model = ScopeEffect
        fields = ["id", "action", "model", "stage", "code", "name", "name_en", "scope",
                  "parameters_billion"]
        validators = []


class ScheduleEffectSerializer(serializers.ModelSerializer):
    class Meta:
        model = ScheduleEffect
        fields = ["id", "task", "days_before", "days_after"]
        read_only_fields = ["days_before"]


class CriterionEffectSerializer(serializers.ModelSerializer):
    class Meta:
        model = CriterionEffect
        fields = ["id", "criterion", "threshold_before", "threshold_after"]
        read_only_fields = ["threshold_before"]


class AddedCriterionSerializer(serializers.ModelSerializer):
    """`code` is a model of the engagement, or one that the change adds."""

    class Meta:
        model = AddedCriterion
        fields = ["id", "code", "definition", "stage", "threshold", "baseline", "artifact"]


class PriceEffectSerializer(serializers.ModelSerializer):
    """What is left out stays as on the line, else as listed."""

    class Meta:
        model = PriceEffect
        fields = ["id", "action", "line", "price", "quantity", "months", "unit_price"]


class RejectionSerializer(serializers.Serializer):
    reason = serializers.CharField()


class ChangeResultSerializer(serializers.Serializer):
    result = serializers.CharField()


class ChangeRequestSerializer(NamesEngagement, EditedSerializer):
    scope_effects = ScopeEffectSerializer(many=True, read_only=True)
    schedule_effects = ScheduleEffectSerializer(many=True, read_only=True)
    criterion_effects = CriterionEffectSerializer(many=True, read_only=True)
    added_criteria = AddedCriterionSerializer(many=True, read_only=True)
    price_effects = PriceEffectSerializer(many=True, read_only=True)
    allowed_moves = AllowedMovesField(TRANSITIONS)

    class Meta:
        model = ChangeRequest
        fields = ["id", "engagement", "number", "title", "category", "state", "requested_by",
                  "reason", "before", "after", "effect_on_scope", "effect_on_schedule",
                  "effect_on_price", "effect_on_quality", "effect_on_criteria", "measures", "quote",
                  "ends_on", "created_by", "created_at",
                  "firm_approved_by", "firm_approved_at", "customer_approved_by",
                  "customer_approved_at", "rejected_by", "rejection", "applied_at",
                  "result", "result_by", "result_at", "new_criteria", "new_quote",
                  "new_baseline", "new_estimate",
                  "scope_effects", "schedule_effects", "criterion_effects", "added_criteria",
                  "price_effects", "submitted_at",
                  "content_hash", "allowed_moves", "lock_version", "seen"]
        read_only_fields = ["number", "state", "created_by", "created_at", "firm_approved_by",
                            "firm_approved_at", "customer_approved_by", "customer_approved_at",
                            "rejected_by", "rejection", "applied_at", "result", "result_by",
                            "result_at", "new_criteria",
                            "new_quote", "new_baseline", "new_estimate", "submitted_at",
                            "content_hash", "lock_version"]
        validators = []
