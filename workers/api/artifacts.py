"""REST endpoints of stored files."""

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser

from engagements.audit import download_log
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from workers import services
from workers.api import serializers
from workers.models import Artifact


class ArtifactViewSet(ScopedViewSet):
    is_job_work = True  # API tokens for jobs reach it
    queryset = Artifact.objects.select_related("reading_request").prefetch_related("readings")
    serializer_class = serializers.ArtifactSerializer
    filterset_fields = ["engagement", "model", "job", "name", "sha256"]
    read_again = RowAction(
        services.read_again, "artifact",
        "Have a worker read the file with today's readers; readings of older versions stay.\n\n"
        "Ask for the file until its `reading_state` is no longer `being_read`.",
        url_path="read-again")

    @extend_schema(responses={(200, "*/*"): OpenApiTypes.BINARY})
    @action(detail=True)
    def download(self, request, pk=None):
        artifact = self.get_object()
        return download_log.of(FileResponse(
            artifact.file.open("rb"), as_attachment=True,
            filename=artifact.name.replace("/", "_")), artifact)

    @extend_schema(request=serializers.UploadSerializer,
                   responses={201: serializers.ArtifactSerializer})
    @action(detail=False, methods=["post"], parser_classes=[MultiPartParser])
    def upload(self, request):
        """Store a file; a worker reads it by its content.

        The answer comes as soon as the file is stored, with `reading_state` `being_read`: ask for
        the file until it is `read` or `refused`.
        """
        stored = services.upload_artifact(
            actor=request.user, **self.validated(serializers.UploadSerializer))
        return self.shown(self.get_queryset().get(pk=stored.pk), status.HTTP_201_CREATED)


routes = [("artifacts", ArtifactViewSet, "artifact")]
