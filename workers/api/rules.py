"""REST endpoints of validation rules and source scans."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from engagements.access import Can, require
from engagements.web.scoped_viewset import DeclaredEndpoint
from engagements.web.strict_filters import KnownParameters
from workers.api.serializers import ReadingSerializer, SourceUploadSerializer
from workers.models import StoredReading
from workers.rules.rule_list import filtered_rules
from workers.services import scans


class RuleSerializer(serializers.Serializer):
    code = serializers.CharField()
    version = serializers.CharField()
    severity = serializers.CharField()
    scope = serializers.CharField()
    source = serializers.CharField()
    needs = serializers.ListField(child=serializers.CharField())
    text = serializers.CharField()
    action = serializers.CharField()


class RuleViewSet(KnownParameters, viewsets.ViewSet):
    """The validation rules, in the language of the request."""

    serializer_class = RuleSerializer
    query_parameters = ("family", "severity", "q")

    @extend_schema(responses=RuleSerializer(many=True), parameters=[
        OpenApiParameter("family", str), OpenApiParameter("severity", str),
        OpenApiParameter("q", str)])
    def list(self, request):
        require(request.user, Can.VIEW_INTERNAL)
        return Response(RuleSerializer(filtered_rules(request.query_params), many=True).data)


class ScanViewSet(DeclaredEndpoint, viewsets.ReadOnlyModelViewSet):
    """Source scans; `values` holds totals, effort in person-days and findings."""

    queryset = StoredReading.objects.none()
    serializer_class = ReadingSerializer

    def get_queryset(self):
        if getattr(self, "swagger_fake_view", False):
            return super().get_queryset()
        require(self.request.user, Can.VIEW_INTERNAL)
        return scans.scans_visible_to(self.request.user)

    @extend_schema(request=SourceUploadSerializer, responses={201: ReadingSerializer})
    @action(detail=False, methods=["post"], parser_classes=[MultiPartParser])
    def upload(self, request):
        """Scan a source archive."""
        return self.shown(scans.scan_upload(
            actor=request.user, **self.validated(SourceUploadSerializer)), status.HTTP_201_CREATED)

    @extend_schema(responses={(200, "text/x-diff"): OpenApiTypes.STR})
    @action(detail=True)
    def patch_file(self, request, pk=None):
        """The automatic-migration patch for `patch -p1`."""
        return HttpResponse(scans.migration_patch(self.get_object().artifact),
                            content_type="text/x-diff; charset=utf-8")


routes = [
    ("rules", RuleViewSet, "rule"),
    ("source-scans", ScanViewSet, "source-scan"),
]
