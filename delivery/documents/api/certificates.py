"""API of the certificates of the firm's people."""

from django.http import FileResponse, Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser

from delivery.documents.models import StaffCertificate
from delivery.documents.services.staff_certificates import add_certificate, remove_certificate
from engagements.audit import download_log
from engagements.web.json_parser import BoundedJSONParser
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating, destroying


class StaffCertificateSerializer(serializers.ModelSerializer):
    file = serializers.FileField(write_only=True, required=False)
    state = serializers.ChoiceField(["valid", "expiring", "expired"], read_only=True)

    class Meta:
        model = StaffCertificate
        fields = ["id", "person", "kind", "title", "number", "issued_on", "valid_until", "file",
                  "file_name", "sha256", "state", "recorded_at"]
        read_only_fields = ["file_name", "sha256", "recorded_at"]
        validators = []


class StaffCertificateViewSet(mixins.CreateModelMixin, mixins.DestroyModelMixin, ScopedViewSet):
    """Qualifications of the firm's people; one's own are added, by administrators anybody's."""

    queryset = StaffCertificate.objects.select_related("person")
    serializer_class = StaffCertificateSerializer
    parser_classes = [MultiPartParser, BoundedJSONParser]
    filterset_fields = ["person", "kind"]
    perform_create = creating(add_certificate)
    perform_destroy = destroying(remove_certificate, "certificate")

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    @action(detail=True)
    def file(self, request, pk=None):
        """The scan as it was stored."""
        row = self.get_object()
        if not row.file:
            raise Http404
        return download_log.of(FileResponse(
            row.file.open("rb"), as_attachment=True, filename=row.file_name,
            content_type="application/octet-stream"), row)


routes = [("staff-certificates", StaffCertificateViewSet, "staff-certificate")]
