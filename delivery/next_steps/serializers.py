"""Inbox and next steps as the API shows them."""

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers


class InboxItemSerializer(serializers.Serializer):
    """`urgency`: 0 overdue, 1 due within a week, 2 others wait, 3 broken, 4 open,
    5 asked of others, who may take it too.

    `reason` says why in words; `count` is how many rows an item stands for.
    """

    urgency = serializers.IntegerField()
    kind = serializers.CharField()
    label = serializers.CharField()
    title = serializers.CharField()
    engagement = serializers.CharField()
    url = serializers.CharField()
    reason = serializers.CharField()
    count = serializers.IntegerField()
    since = serializers.DateTimeField(allow_null=True)
    due = serializers.DateField(allow_null=True)


@extend_schema_serializer(component_name="StepPerson")
class PersonSerializer(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField(source="__str__")
    role = serializers.CharField()


class NextStepSerializer(serializers.Serializer):
    """A step of an engagement. `people` can take it; without any, `missing` says whom it needs.

    `is_mine`: whether the person who asks is among them.
    """

    code = serializers.CharField()
    label = serializers.CharField()
    title = serializers.CharField()
    url = serializers.CharField()
    urgency = serializers.IntegerField()
    reason = serializers.CharField()
    count = serializers.IntegerField()
    since = serializers.DateTimeField(allow_null=True)
    due = serializers.DateField(allow_null=True)
    people = PersonSerializer(many=True)
    missing = serializers.CharField()
    is_mine = serializers.SerializerMethodField()

    def get_is_mine(self, step) -> bool:
        return step.is_for(self.context["user"])
