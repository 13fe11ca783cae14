"""The inbox of the person who asks, as a REST endpoint."""

from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.response import Response

from delivery.portal.inbox import inbox_items
from delivery.portal.inbox.serializers import InboxItemSerializer


class InboxViewSet(viewsets.ViewSet):
    @extend_schema(responses=InboxItemSerializer(many=True))
    def list(self, request):
        """What waits for me: the most urgent first."""
        return Response(InboxItemSerializer(inbox_items(request.user), many=True).data)
