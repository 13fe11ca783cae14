"""API of evidence bundles."""

from django.http import FileResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.evidence import services
from delivery.evidence.models import EvidenceBundle
from delivery.evidence.serializers import BundleSerializer, NewBundleSerializer
from delivery.reports.models import Document
from engagements.audit import download_log
from engagements.web.scoped_viewset import ScopedViewSet


class BundleViewSet(ScopedViewSet):
    """Stored evidence bundles."""

    serializer_class = BundleSerializer
    queryset = EvidenceBundle.objects.all()
    filterset_fields = ["document", "engagement__code"]

    @extend_schema(request=NewBundleSerializer, responses={201: BundleSerializer})
    def create(self, request):
        """Store the evidence bundle of an issued document."""
        fields = self.validated(NewBundleSerializer)
        document = get_object_or_404(Document.objects.visible_to(request.user),
                                     pk=fields["document"].pk)
        bundle = services.build_bundle(
            actor=request.user, engagement=document.engagement, document=document,
            withheld=fields["withheld"])
        return Response(BundleSerializer(bundle).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    @action(detail=True, methods=["get"])
    def file(self, request, pk=None):
        """The zip."""
        found = self.get_object()
        return download_log.of(FileResponse(
            found.file.open("rb"), as_attachment=True, content_type="application/zip",
            filename=f"bundle-{pk}.zip"), found.document)


routes = [("bundles", BundleViewSet, "bundle")]
