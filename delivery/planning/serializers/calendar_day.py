"""The firm's own calendar as the API shows and takes it."""

from rest_framework import serializers

from delivery.planning.models import CalendarDay


class CalendarDaySerializer(serializers.ModelSerializer):
    class Meta:
        model = CalendarDay
        fields = ["id", "day", "is_worked", "name"]


class CalendarDaysSerializer(serializers.Serializer):
    """Days from the first to the last; without a last day the first alone."""

    first = serializers.DateField()
    last = serializers.DateField(required=False, allow_null=True)
    is_worked = serializers.BooleanField()
    name = serializers.CharField(max_length=40, required=False, allow_blank=True)


class CalendarYearSerializer(serializers.Serializer):
    """What the working days of a year follow from: the firm's table over the package, the package
    alone, or, where neither knows the make-up days, Monday to Friday less the holidays by law."""

    year = serializers.IntegerField()
    counted_by = serializers.ChoiceField(["firm", "package", "law"])
    days = serializers.IntegerField()
