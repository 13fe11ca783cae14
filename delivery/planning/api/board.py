"""The board as the API shows it."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import viewsets

from delivery.planning import board
from delivery.planning.serializers.board import BoardRowSerializer
from engagements.access import Can, require
from engagements.models import ModelProgress
from engagements.web.strict_filters import PAGES, KnownParameters

FILTERS = ("q", "engagement", "stage", "state", "days", "blocked")


class BoardViewSet(KnownParameters, viewsets.GenericViewSet):
    query_parameters = PAGES.union(FILTERS)
    queryset = ModelProgress.objects.none()  # names the kind of row; `board` finds the rows

    @extend_schema(responses=BoardRowSerializer(many=True), parameters=[
        OpenApiParameter(name, OpenApiTypes.STR) for name in FILTERS])
    def list(self, request):
        """Models and the stage each stands in, the longest waiting first."""
        require(request.user, Can.VIEW_INTERNAL)
        page = self.paginate_queryset(board.matching(request.user, request.query_params))
        rows = BoardRowSerializer(board.rows_of(page), many=True)
        return self.get_paginated_response(rows.data)
