"""The inbox as the API shows it."""

from rest_framework import serializers


class InboxItemSerializer(serializers.Serializer):
    """`urgency`: 0 overdue, 1 due within a week, 2 others wait, 3 broken, 4 open.

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
