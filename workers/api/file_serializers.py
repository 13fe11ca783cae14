"""Serializers of inputs and further logs of jobs, and of folders of nodes."""

from rest_framework import serializers

from engagements.web.exposure import ForTheFirm
from workers.models import JobInput, JobLog


class JobInputSerializer(ForTheFirm, serializers.ModelSerializer):
    """What a parameter names elsewhere, and how it came to the job's node."""

    class Meta:
        model = JobInput
        for_the_firm = ("reference", "place")
        fields = ["slot", "reference", "name", "way", "files", "size", "arrived", "digest", "place"]


class JobLogSerializer(serializers.ModelSerializer):
    """A further log; its text is at `log/?log=` with its id."""

    class Meta:
        model = JobLog
        fields = ["id", "name", "log_stored"]


class FollowUpSerializer(serializers.Serializer):
    kind = serializers.CharField()
    parameters = serializers.DictField()


class FolderEntrySerializer(serializers.Serializer):
    """`reference` names it in parameters of jobs; empty where its name allows none."""

    name = serializers.CharField(source="entry.name")
    kind = serializers.ChoiceField(["folder", "file", "link", "other"], source="entry.kind")
    size = serializers.IntegerField(source="entry.size")
    modified_at = serializers.DateTimeField(source="entry.modified_at")
    path = serializers.CharField()
    reference = serializers.CharField()


class FolderSerializer(serializers.Serializer):
    path = serializers.CharField()
    is_cut = serializers.BooleanField(help_text="whether it holds more than these")
    entries = FolderEntrySerializer(many=True)
