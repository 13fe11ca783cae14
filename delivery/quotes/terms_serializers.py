"""Free lines and terms of a draft as the API takes them; margin and history as it shows them."""

from rest_framework import serializers

from delivery.quotes import payment
from delivery.quotes import standard_conditions as conditions
from delivery.quotes.serializers import QuoteLineSerializer
from delivery.quotes.services.drafts import MAX_MILESTONES
from delivery.quotes.snapshot import GRADES
from engagements.models import AuditEntry


class FreeLineSerializer(QuoteLineSerializer):
    """`revision` as seen; without it the newest draft is changed."""

    revision = serializers.IntegerField(required=False, write_only=True)


class MilestoneTermSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=80)
    name_en = serializers.CharField(max_length=80, default="", allow_blank=True)
    percent = serializers.DecimalField(max_digits=5, decimal_places=2, min_value=0, max_value=100)
    days = serializers.IntegerField(min_value=0, max_value=999, default=None, allow_null=True,
                                    help_text="due after the invoice")


class StaffSerializer(serializers.Serializer):
    grade = serializers.ChoiceField(GRADES)
    people = serializers.IntegerField(min_value=1, max_value=99, default=None, allow_null=True)
    days = serializers.DecimalField(max_digits=8, decimal_places=2, min_value=0)


class PaymentSerializer(serializers.Serializer):
    """`revision` as seen; without it the newest draft is changed."""

    payment_terms = MilestoneTermSerializer(many=True, required=False, max_length=MAX_MILESTONES)
    staffing = StaffSerializer(many=True, required=False, max_length=MAX_MILESTONES)
    revision = serializers.IntegerField(required=False)

    def validate_payment_terms(self, rows: list[dict]) -> list[dict]:
        return payment.milestone_rows(rows)

    def validate_staffing(self, rows: list[dict]) -> list[dict]:
        return payment.staffing_rows(rows)


class ConditionSerializer(serializers.Serializer):
    zh = serializers.CharField(max_length=2000, default="", allow_blank=True)
    en = serializers.CharField(max_length=2000, default="", allow_blank=True)


class BlocksSerializer(serializers.Serializer):
    """The written blocks, each in Chinese and English."""

    def get_fields(self):
        return {code: ConditionSerializer(required=False) for code in conditions.TITLES}


class ConditionsSerializer(serializers.Serializer):
    """`revision` as seen; without it the newest draft is changed."""

    conditions = BlocksSerializer()
    revision = serializers.IntegerField(required=False)

    def validate_conditions(self, blocks: dict) -> dict:
        return {code: blocks.get(code, {"zh": "", "en": ""}) for code in conditions.TITLES}


class LineMarginSerializer(serializers.Serializer):
    """`source`: the line's own cost, that of its grade, or none; then cost and margin are null."""

    code = serializers.CharField()
    name = serializers.CharField()
    grade = serializers.CharField()
    net = serializers.DecimalField(max_digits=18, decimal_places=2)
    cost = serializers.DecimalField(max_digits=18, decimal_places=2, allow_null=True)
    margin = serializers.DecimalField(max_digits=18, decimal_places=2, allow_null=True)
    rate = serializers.DecimalField(max_digits=None, decimal_places=None, allow_null=True)
    source = serializers.ChoiceField(["line", "grade", ""])


class MarginSerializer(serializers.Serializer):
    """`unknown` lines have no cost and are left out; `rate` is a fraction of the net amount."""

    net = serializers.DecimalField(max_digits=18, decimal_places=2)
    cost = serializers.DecimalField(max_digits=18, decimal_places=2)
    margin = serializers.DecimalField(max_digits=18, decimal_places=2)
    rate = serializers.DecimalField(max_digits=None, decimal_places=None, allow_null=True)
    unknown = serializers.IntegerField()
    lines = LineMarginSerializer(many=True)


class HistorySerializer(serializers.ModelSerializer):
    class Meta:
        model = AuditEntry
        fields = ["at", "actor", "action", "data"]
