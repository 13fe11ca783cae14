"""The inbox of the person who asks and the next steps of an engagement, as REST endpoints."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.response import Response

from delivery.next_steps import engagement_steps, inbox_items
from delivery.next_steps.serializers import InboxItemSerializer, NextStepSerializer
from engagements.models import Engagement
from engagements.web.scoped_viewset import DeclaredEndpoint
from engagements.web.strict_filters import KnownParameters


class LimitSerializer(serializers.Serializer):
    """How many items are asked for, and of whom."""

    limit = serializers.IntegerField(min_value=1, max_value=200, default=60)
    also = serializers.BooleanField(
        default=False, help_text="what I can take although it is asked of others, too")


class InboxViewSet(DeclaredEndpoint, viewsets.ViewSet):
    query_parameters = ("limit", "also")

    @extend_schema(responses=InboxItemSerializer(many=True), parameters=[LimitSerializer])
    def list(self, request):
        """What waits for me: the most urgent first, as many as `limit` says."""
        asked = self.validated(LimitSerializer, data=request.query_params)
        items = inbox_items(request.user, limit=asked["limit"], also=asked["also"])
        return Response(InboxItemSerializer(items, many=True).data)


class NextStepViewSet(KnownParameters, viewsets.ViewSet):
    @extend_schema(parameters=[OpenApiParameter("engagement_code", str, OpenApiParameter.PATH)],
                   responses=NextStepSerializer(many=True))
    def list(self, request, engagement_code: str):
        """How the engagement goes on: each step, who can take it, and whom it lacks."""
        engagement = get_object_or_404(
            Engagement.objects.visible_to(request.user), code=engagement_code)
        return Response(NextStepSerializer(
            engagement_steps(engagement, request.user), many=True,
            context={"user": request.user}).data)


routes = [
    ("desk", InboxViewSet, "desk"),
    (r"engagements/(?P<engagement_code>[^/.]+)/next-steps", NextStepViewSet, "next-step"),
]
