"""What waits for the person who asks."""

from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.response import Response

from delivery.planning import serializers
from delivery.portal.inbox import waiting


class InboxViewSet(viewsets.ViewSet):
    @extend_schema(responses=serializers.WaitingSerializer(many=True))
    def list(self, request):
        """My desk: the most urgent first."""
        return Response(serializers.WaitingSerializer(waiting(request.user), many=True).data)
