"""Plans as the API shows them."""

from rest_framework import serializers

from delivery.planning.models import (
    Dependency,
    Milestone,
    Plan,
    PlanBaseline,
    PlannedVersion,
    Task,
)
from delivery.planning.plan.planned_items import ITEMS
from engagements.models import Engagement
from engagements.web.engagement_codes import NamesEngagement
from engagements.web.visible_field import VisibleField


class DependencySerializer(serializers.ModelSerializer):
    class Meta:
        model = Dependency
        fields = ["id", "before", "after", "lag"]
        validators = []


class TaskSerializer(serializers.ModelSerializer):
    """`seen` is the `lock_version` you read; without it the newest is changed."""

    seen = serializers.IntegerField(required=False, allow_null=True, write_only=True)
    precursors = DependencySerializer(many=True, read_only=True)

    class Meta:
        model = Task
        fields = ["id", "plan", "model", "stage", "title", "title_en", "days", "not_before",
                  "owner", "started_on", "finished_on", "lock_version", "seen", "precursors"]
        read_only_fields = ["lock_version"]


class PlannedVersionSerializer(NamesEngagement):
    engagement = VisibleField(queryset=Engagement.objects.all())
    item = serializers.ChoiceField([(item, item) for item in ITEMS])
    set_by = serializers.CharField(read_only=True)

    class Meta:
        model = PlannedVersion
        fields = ["id", "engagement", "item", "value", "set_by", "set_at"]
        read_only_fields = ["set_at"]
        validators = []


class ScheduledSerializer(serializers.Serializer):
    """A task's computed dates; `slack` and `slip` in working days, `state` passed, in_progress or
    not_started."""

    task = serializers.IntegerField(source="task.pk")
    title = serializers.CharField(source="task")
    start = serializers.DateField()
    finish = serializers.DateField()
    late_start = serializers.DateField()
    late_finish = serializers.DateField()
    slack = serializers.IntegerField(source="dates.slack")
    state = serializers.CharField()
    is_critical = serializers.BooleanField()
    baseline_start = serializers.DateField(allow_null=True)
    baseline_finish = serializers.DateField(allow_null=True)
    slip = serializers.IntegerField()


class MilestoneSerializer(serializers.ModelSerializer):
    class Meta:
        model = Milestone
        fields = ["id", "name", "name_en", "percent", "trigger", "task"]


class PlanSerializer(NamesEngagement):
    milestones = MilestoneSerializer(many=True, read_only=True)

    class Meta:
        model = Plan
        fields = ["id", "engagement", "starts_on", "milestones"]
        validators = []
        extra_kwargs = {"engagement": {"validators": []}}


class PlanBaselineSerializer(serializers.ModelSerializer):
    class Meta:
        model = PlanBaseline
        fields = ["id", "version", "reason", "tasks", "taken_by", "taken_at"]
        read_only_fields = ["version", "tasks", "taken_by", "taken_at"]
