"""REST endpoints of stored files."""

from django.http import FileResponse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser

from engagements.audit import download_log
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from workers import services
from workers.api import serializers
from workers.artifacts import provenance
from workers.models import Artifact


class ArtifactViewSet(ScopedViewSet):
    is_job_work = True  # API tokens for jobs reach it
    queryset = Artifact.objects.select_related("reading_request").prefetch_related("readings")
    query_parameters = ("include",)
    included = frozenset(serializers.ArtifactSerializer.Meta.on_demand)
    serializer_class = serializers.ArtifactSerializer
    filterset_fields = ["engagement", "model", "job", "name", "sha256"]
    read_again = RowAction(
        services.read_again, "artifact",
        "Have a worker read the file with today's readers; readings of older versions stay.\n\n"
        "Ask for the file until its `reading_state` is no longer `being_read`.",
        url_path="read-again")

    correct_purpose = RowAction(
        services.correct_purpose, "artifact",
        "Correct what the file was declared for; verdicts that rest on it are computed anew.",
        serializers.PurposeSerializer, url_path="purpose")

    @extend_schema(parameters=[OpenApiParameter(
        "include", enum=serializers.ArtifactSerializer.Meta.on_demand, explode=False, many=True,
        description="What lists leave out because it is long; a single file has it.")])
    def list(self, request, *args, **kwargs):
        """Stored files; without their readings unless these are asked for."""
        asked = set(filter(None, request.query_params.get("include", "").split(",")))
        if unknown := sorted(asked - set(serializers.ArtifactSerializer.Meta.on_demand)):
            raise ValidationError({"include": [_("Files have no “%(name)s” to include.") % {
                "name": name} for name in unknown]})
        self.included = asked
        return super().list(request, *args, **kwargs)

    def get_queryset(self):
        rows = super().get_queryset()
        return rows if self.included else rows.prefetch_related(None)

    def get_serializer(self, *args, **options):
        serializer = super().get_serializer(*args, **options)
        shown = getattr(serializer, "child", serializer)
        for name in ArtifactViewSet.included - self.included:
            shown.fields.pop(name)
        return serializer

    def paginate_queryset(self, queryset):
        page = super().paginate_queryset(queryset)
        known = provenance.of_each(page)
        for artifact in page:
            artifact.known = known[artifact.pk]
        return page

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
