"""The board as the API shows it."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import viewsets
from rest_framework.response import Response

from delivery.planning import serializers
from delivery.planning.board import board
from engagements.access import Can, require

FILTERS = ("q", "engagement", "stage", "state", "days", "blocked")


class BoardViewSet(viewsets.ViewSet):
    @extend_schema(responses=serializers.BoardRowSerializer(many=True), parameters=[
        OpenApiParameter(name, OpenApiTypes.STR) for name in FILTERS])
    def list(self, request):
        """Models and the stage each stands in, the longest waiting first."""
        require(request.user, Can.VIEW_INTERNAL)
        rows = board(request.user, request.query_params)
        return Response(serializers.BoardRowSerializer(rows, many=True).data)
