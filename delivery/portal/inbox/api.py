"""What waits for the person who asks."""

from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.response import Response

from delivery.portal.inbox import waiting
from delivery.portal.inbox.serializers import InboxItemSerializer


class InboxViewSet(viewsets.ViewSet):
    @extend_schema(responses=InboxItemSerializer(many=True))
    def list(self, request):
        """My desk: the most urgent first."""
        return Response(InboxItemSerializer(waiting(request.user), many=True).data)
