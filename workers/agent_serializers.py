"""Agents as the API shows and takes them, and as their page's forms do."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engagements.access import Can, allowed
from engagements.models import Agent, ApiToken, Engagement
from engagements.services.agents import CLAIMED, MOST_DAYS
from engagements.web.visible_field import VisibleField
from workers.services.agent_hours import hours_of


class HoursSerializer(serializers.Serializer):
    """`engagement_left`: of the limit of all agents of the engagement; null where it has none."""

    used, reserved, left = (serializers.DecimalField(9, 2) for _ in range(3))
    engagement_left = serializers.DecimalField(9, 2, allow_null=True)


class AgentSerializer(serializers.ModelSerializer):
    """Its hours are card hours: `used` by jobs that have ended, `reserved` by those that have not;
    the customer does not see them."""

    engagement = serializers.SlugRelatedField("code", read_only=True)
    owner_name = serializers.CharField(source="owner.get_full_name", read_only=True)
    is_in_force = serializers.BooleanField(read_only=True)
    hours = serializers.SerializerMethodField()

    class Meta:
        model = Agent
        fields = ["id", "name", "owner", "owner_name", "engagement", *CLAIMED,
                  "hours_limit", "hours_per_day", "hours", "created_at", "expires_at", "ended_at",
                  "is_in_force"]

    @extend_schema_field(HoursSerializer(allow_null=True))
    def get_hours(self, agent) -> dict | None:
        if not allowed(self.context["request"].user, Can.VIEW_INTERNAL):
            return None
        return HoursSerializer(hours_of(agent)).data


class NewAgentSerializer(serializers.ModelSerializer):
    engagement = VisibleField(queryset=Engagement.objects.all())
    days = serializers.IntegerField(min_value=1, max_value=MOST_DAYS, default=30)
    audience = serializers.ChoiceField(ApiToken.Audience.choices, default=ApiToken.Audience.API,
                                       help_text="What its key is for; it is refused elsewhere.")

    class Meta:
        model = Agent
        fields = ["engagement", "name", "days", "audience", "hours_limit", "hours_per_day",
                  *CLAIMED]


class MadeAgentSerializer(serializers.Serializer):
    """The key of a new agent; it is stored nowhere."""

    token = serializers.CharField()
    made = AgentSerializer()


class HoursLimitsSerializer(serializers.ModelSerializer):
    class Meta:
        model = Agent
        fields = ["hours_limit", "hours_per_day"]
        extra_kwargs = {name: {"required": True} for name in fields}


class EngagementHoursSerializer(serializers.ModelSerializer):
    engagement = VisibleField(queryset=Engagement.objects.all(), write_only=True)

    class Meta:
        model = Engagement
        fields = ["engagement", "agent_hours_limit"]
        extra_kwargs = {"agent_hours_limit": {"required": True}}
