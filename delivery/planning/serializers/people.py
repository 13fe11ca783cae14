"""People over all engagements as the API shows them."""

from rest_framework import serializers

from delivery.planning.models import Absence, MarginFloor, Skill
from delivery.planning.serializers.usage import DAYS
from engagements.models import User


class WeekSerializer(serializers.Serializer):
    """Person-days of the week from its Monday; `over` is planned beyond the days there."""

    start = serializers.DateField()
    working = serializers.IntegerField()
    planned = serializers.IntegerField()
    booked = serializers.DecimalField(**DAYS)
    absent = serializers.IntegerField()
    free = serializers.DecimalField(**DAYS)
    over = serializers.IntegerField()


class PersonWeeksSerializer(serializers.Serializer):
    username = serializers.CharField(source="person.username")
    name = serializers.CharField(source="person")
    skills = serializers.SerializerMethodField()
    weeks = WeekSerializer(many=True)

    def get_skills(self, row) -> list[str]:
        return [skill.name for skill in row.skills]


class BookedSerializer(serializers.Serializer):
    engagement = serializers.CharField()
    model = serializers.CharField()
    item = serializers.CharField()
    days = serializers.DecimalField(**DAYS)


class _OfPerson(serializers.ModelSerializer):
    """Without a person one's own."""

    person = serializers.SlugRelatedField("username", queryset=User.objects.filter(
        is_active=True), required=False)


class AbsenceSerializer(_OfPerson):
    last = serializers.DateField(required=False)

    class Meta:
        model = Absence
        fields = ["id", "person", "first", "last", "kind", "note"]
        validators = []


class SkillSerializer(_OfPerson):
    class Meta:
        model = Skill
        fields = ["id", "person", "name", "certificate", "valid_until"]
        validators = []


class MarginFloorSerializer(serializers.ModelSerializer):
    class Meta:
        model = MarginFloor
        fields = ["percent"]
