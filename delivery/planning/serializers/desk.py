"""What waits for a person as the API shows them."""

from rest_framework import serializers


class WaitingSerializer(serializers.Serializer):
    """`urgency`: 0 overdue, 1 others wait, 2 broken, 3 open."""

    urgency = serializers.IntegerField()
    kind = serializers.CharField()
    label = serializers.CharField()
    title = serializers.CharField()
    engagement = serializers.CharField()
    url = serializers.CharField()
    since = serializers.DateTimeField(allow_null=True)
    due = serializers.DateField(allow_null=True)
