"""Risks, issues, minutes and weekly reports as the API shows them."""

from rest_framework import serializers

from delivery.planning.control.transitions import TRANSITIONS
from delivery.planning.models import Meeting, ProjectIssue, Risk, Todo, WeeklyReport
from engagements.web.allowed_moves import AllowedMovesField
from engagements.web.engagement_codes import NamesEngagement
from workers.models import Artifact


class EditedSerializer(serializers.ModelSerializer):
    """`seen` is the `lock_version` you read; without it the newest is changed."""

    seen = serializers.IntegerField(required=False, allow_null=True, write_only=True)


class RiskSerializer(NamesEngagement, EditedSerializer):
    score = serializers.IntegerField(read_only=True)

    class Meta:
        model = Risk
        fields = ["id", "engagement", "number", "title", "title_en", "probability", "impact",
                  "score", "response", "response_en", "owner", "review_on", "state",
                  "is_internal", "lock_version", "seen"]
        read_only_fields = ["number", "lock_version"]
        validators = []


class ProjectIssueSerializer(NamesEngagement, EditedSerializer):
    class Meta:
        model = ProjectIssue
        fields = ["id", "engagement", "number", "description", "level", "model", "effect",
                  "affects_final", "raised_on", "owner", "due_on", "closed_on", "lock_version",
                  "seen"]
        read_only_fields = ["number", "lock_version"]
        validators = []


class TodoSerializer(NamesEngagement):
    class Meta:
        model = Todo
        fields = ["id", "engagement", "meeting", "text", "owner", "due_on", "done_at", "done_by"]
        read_only_fields = ["done_at", "done_by"]


class MeetingTodoSerializer(serializers.ModelSerializer):
    class Meta:
        model = Todo
        fields = ["text", "owner", "due_on"]


class MeetingSerializer(NamesEngagement, EditedSerializer):
    todos = MeetingTodoSerializer(many=True, required=False)
    attachments = serializers.PrimaryKeyRelatedField(
        many=True, required=False, queryset=Artifact.objects.all())

    class Meta:
        model = Meeting
        fields = ["id", "engagement", "number", "topic", "held_at", "place", "chair",
                  "participants", "agenda", "discussion", "decisions", "todos", "attachments",
                  "recorded_by", "shared_at", "confirmed_by", "confirmed_at", "lock_version",
                  "seen"]
        read_only_fields = ["number", "recorded_by", "shared_at", "confirmed_by", "confirmed_at",
                            "lock_version"]
        validators = []


class WeekSerializer(serializers.ModelSerializer):
    """A day of the week whose report is drafted."""

    day = serializers.DateField()

    class Meta:
        model = WeeklyReport
        fields = ["engagement", "day"]


class WeeklyReportSerializer(NamesEngagement, EditedSerializer):
    allowed_moves = AllowedMovesField(TRANSITIONS)

    class Meta:
        model = WeeklyReport
        fields = ["id", "engagement", "week_start", "version", "correction", "state", "light",
                  "facts", "summary",
                  "deviations", "next_week", "problems", "customer_duties", "written_by",
                  "frozen_at", "content_hash", "allowed_moves", "lock_version", "seen"]
        read_only_fields = ["engagement", "week_start", "version", "correction", "state",
                            "facts", "written_by",
                            "frozen_at", "content_hash", "lock_version"]
