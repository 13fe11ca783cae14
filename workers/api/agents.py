"""REST endpoints of agents."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.response import Response

from engagements.errors import NotAllowed
from engagements.models import Agent
from engagements.services import agents as agent_services
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from workers.agent_serializers import (
    AgentSerializer,
    EngagementHoursSerializer,
    HoursLimitsSerializer,
    MadeAgentSerializer,
    NewAgentSerializer,
)
from workers.services import agents


class AgentViewSet(ScopedViewSet):
    """Programs that work in an engagement in their owner's name."""

    queryset = Agent.objects.select_related("owner", "engagement")
    serializer_class = AgentSerializer
    filterset_fields = ["engagement", "owner"]
    stop = RowAction(agents.stop_agent, "agent",
                     "End it, its keys and its jobs; by its owner or a manager.")
    hours = RowAction(agent_services.set_hours, "agent", "Set its limits of card hours.",
                      HoursLimitsSerializer)

    @extend_schema(request=NewAgentSerializer, responses={201: MadeAgentSerializer})
    def create(self, request):
        """An agent of one's own. The answer holds its key, which is never shown again."""
        agent, key = agent_services.create_agent(
            actor=request.user, **self.validated(NewAgentSerializer))
        shown = MadeAgentSerializer({"token": key, "made": agent},
                                    context=self.get_serializer_context())
        return Response(shown.data, status=status.HTTP_201_CREATED)

    @extend_schema(request=EngagementHoursSerializer, responses=EngagementHoursSerializer)
    @action(detail=False, methods=["post"], url_path="engagement-hours")
    def engagement_hours(self, request):
        """Set what all agents of an engagement may use together; null for no such limit."""
        return Response(EngagementHoursSerializer(agent_services.set_engagement_hours(
            actor=request.user, **self.validated(EngagementHoursSerializer))).data)

    @extend_schema(responses=AgentSerializer, filters=False)
    @action(detail=False, pagination_class=None, filterset_fields=[])
    def me(self, request):
        """The agent whose key signed in; 403 for anybody else."""
        if request.user.agent is None:
            raise NotAllowed("This key is no agent's.")
        return self.shown(get_object_or_404(self.get_queryset(), pk=request.user.agent.pk))


routes = [("agents", AgentViewSet, "agent")]
