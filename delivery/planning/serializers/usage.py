"""What days cost and were used for, as the API shows it."""

from rest_framework import serializers

from delivery.planning.models import GradeCost

DAYS = {"max_digits": 9, "decimal_places": 2}
YUAN = {"max_digits": 18, "decimal_places": 2, "allow_null": True}


class ThreePointSerializer(serializers.Serializer):
    """Person-days of a grade or a stage."""

    label = serializers.CharField()
    low = serializers.DecimalField(**DAYS)
    likely = serializers.DecimalField(**DAYS)
    high = serializers.DecimalField(**DAYS)


class EstimateTotalsSerializer(serializers.Serializer):
    by_grade = ThreePointSerializer(many=True)
    by_stage = ThreePointSerializer(many=True)


class CalibrationSerializer(serializers.Serializer):
    """Estimated and worked days of an item type over passed stages; `ratio` is worked/estimated."""

    item = serializers.CharField()
    label = serializers.CharField()
    estimated = serializers.DecimalField(**DAYS)
    actual = serializers.DecimalField(**DAYS)
    samples = serializers.IntegerField()
    ratio = serializers.DecimalField(**DAYS, allow_null=True)


class GradeDaysSerializer(serializers.Serializer):
    """Person-days of a grade; `rest` is planned less used."""

    grade = serializers.CharField()
    label = serializers.CharField()
    quoted = serializers.DecimalField(**DAYS)
    planned = serializers.DecimalField(**DAYS)
    used = serializers.DecimalField(**DAYS)
    confirmed = serializers.DecimalField(**DAYS)
    rest = serializers.DecimalField(**DAYS)


class EngagementMarginSerializer(serializers.Serializer):
    """In CNY without tax; `missing` names grades without a cost, figures are null then.
    `is_actual`: the engagement is over, and what was planned and not used no longer counts."""

    fee = serializers.DecimalField(**YUAN)
    spent = serializers.DecimalField(**YUAN)
    expected = serializers.DecimalField(**YUAN)
    left = serializers.DecimalField(**YUAN)
    percent = serializers.DecimalField(**YUAN)
    missing = serializers.ListField(child=serializers.CharField())
    is_actual = serializers.BooleanField()


class UsageSerializer(serializers.Serializer):
    """`margin` only for managers."""

    grades = GradeDaysSerializer(many=True)
    margin = EngagementMarginSerializer(allow_null=True)


class GradeCostSerializer(serializers.ModelSerializer):
    class Meta:
        model = GradeCost
        fields = ["grade", "day_cost", "valid_from"]
        validators = []  # a day that has a cost gets the new one
        extra_kwargs = {"valid_from": {"required": False}}


class WeekCopySerializer(serializers.Serializer):
    """Any day of the week that is filled."""

    day = serializers.DateField()


class CopiedSerializer(serializers.Serializer):
    """How many half-days were booked."""

    copied = serializers.IntegerField()
