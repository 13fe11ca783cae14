"""The search box as a REST endpoint."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.response import Response

from delivery.portal.search import global_search
from engagements.web.strict_filters import KnownParameters


class FoundSerializer(serializers.Serializer):
    """`sort` is what it is; `state` its code, `label` the state in words."""

    sort = serializers.CharField()
    url = serializers.CharField()
    title = serializers.CharField()
    detail = serializers.CharField()
    state = serializers.CharField()
    label = serializers.CharField()


class SearchViewSet(KnownParameters, viewsets.ViewSet):
    query_parameters = ("q",)

    @extend_schema(responses=FoundSerializer(many=True), parameters=[
        OpenApiParameter("q", OpenApiTypes.STR)])
    def list(self, request):
        """What fits the words among what the user may see; without words the newest."""
        text = request.query_params.get("q", "").strip()
        hits = [{"sort": source.title, **vars(hit)}
                for source, found in global_search.search_or_newest(request.user, text)
                for hit in found]
        return Response(FoundSerializer(hits, many=True).data)
