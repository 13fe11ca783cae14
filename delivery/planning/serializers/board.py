"""The board as the API shows it."""

from rest_framework import serializers


class BoardRowSerializer(serializers.Serializer):
    """`record` is the stage that the model stands in, none when all are done; `age` in days."""

    engagement = serializers.CharField(source="model.engagement.code")
    model = serializers.IntegerField(source="model.pk")
    code = serializers.CharField(source="model.code")
    record = serializers.IntegerField(source="current.pk", default=None, allow_null=True)
    stage = serializers.CharField(source="current.stage", default="")
    state = serializers.CharField(source="current.state", default="")
    age = serializers.IntegerField(allow_null=True)
    waits_for = serializers.ListField(child=serializers.CharField())
    holds_up = serializers.CharField(source="blocks")
    is_blocked = serializers.BooleanField()
