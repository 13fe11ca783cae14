"""The inbox of the person who asks and the next steps of an engagement, as REST endpoints."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.response import Response

from delivery.next_steps import engagement_steps, inbox_items
from delivery.next_steps.serializers import InboxItemSerializer, NextStepSerializer
from engagements.models import Engagement


class InboxViewSet(viewsets.ViewSet):
    @extend_schema(responses=InboxItemSerializer(many=True))
    def list(self, request):
        """What waits for me: the most urgent first."""
        return Response(InboxItemSerializer(inbox_items(request.user), many=True).data)


class NextStepViewSet(viewsets.ViewSet):
    @extend_schema(responses=NextStepSerializer(many=True))
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
