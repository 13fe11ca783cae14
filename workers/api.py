"""REST doors of nodes, jobs and files. Each write is one service call."""

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from engagements import downloads
from engagements.models import Engagement, MigratedModel
from workers import catalogue, judging, kinds, livelog, rule_api, serializers, services
from workers.chain_api import chain_routes
from workers.models import Artifact, Job, Node


class NodeViewSet(mixins.CreateModelMixin, viewsets.ReadOnlyModelViewSet):
    queryset = Node.objects.prefetch_related("cards")
    serializer_class = serializers.NodeSerializer
    filterset_fields = ["name", "state", "is_practice"]

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)

    def perform_create(self, serializer):
        serializer.instance = services.enrol_node(
            actor=self.request.user, **serializer.validated_data)

    @extend_schema(request=serializers.ConfirmSerializer)
    @action(detail=True, methods=["post"])
    def confirm(self, request, pk=None):
        """Pin the offered host key by its fingerprint."""
        door = serializers.ConfirmSerializer(data=request.data)
        door.is_valid(raise_exception=True)
        node = services.confirm_host_key(actor=request.user, node=self.get_object(),
                                         **door.validated_data)
        return Response(self.get_serializer(node).data)


    @extend_schema(responses=serializers.OutcomeSerializer)
    @action(detail=True)
    def rules(self, request, pk=None):
        """The rules over what was last read of the node."""
        return Response(serializers.OutcomeSerializer(judging.of_node(self.get_object())).data)


class KindViewSet(viewsets.ViewSet):
    """The job kinds with the JSON schema of their parameters."""

    serializer_class = serializers.KindSerializer
    lookup_field = "code"
    lookup_value_regex = "[a-z0-9_.]+"

    @extend_schema(responses=serializers.KindSerializer(many=True))
    def list(self, request):
        return Response([serializers.kind_facts(kind) for kind in kinds.all_kinds()])

    @extend_schema(responses=serializers.KindSerializer)
    def retrieve(self, request, code=None):
        """One kind."""
        return Response(serializers.kind_facts(catalogue.known_kind(code)))


class JobViewSet(mixins.CreateModelMixin, viewsets.ReadOnlyModelViewSet):
    queryset = Job.objects.all()
    serializer_class = serializers.JobSerializer
    filterset_fields = ["kind", "state", "engagement", "model", "stage", "node"]

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)

    def perform_create(self, serializer):
        data = serializer.validated_data
        serializer.instance = services.queue_job(
            actor=self.request.user, kind=data["kind"], parameters=data.get("parameters"),
            engagement=data.get("engagement"), model=data.get("model"),
            stage=data.get("stage", ""), node=data.get("node"))

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def cancel(self, request, pk=None):
        job = services.cancel_job(actor=request.user, job=self.get_object())
        return Response(self.get_serializer(job).data)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def retry(self, request, pk=None):
        job = services.retry_job(actor=request.user, job=self.get_object())
        return Response(self.get_serializer(job).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses=serializers.LogSerializer,
                   parameters=[OpenApiParameter("offset", int)])
    @action(detail=True)
    def log(self, request, pk=None):
        """The log's text from a byte offset."""
        offset = request.query_params.get("offset", "0")
        text, end = livelog.read(self.get_object(), int(offset) if offset.isdigit() else 0)
        return Response({"text": text, "next_offset": end})


class ArtifactViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = Artifact.objects.prefetch_related("readings")
    serializer_class = serializers.ArtifactSerializer
    filterset_fields = ["engagement", "model", "job", "name", "sha256"]

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    @action(detail=True)
    def download(self, request, pk=None):
        artifact = self.get_object()
        return downloads.of(FileResponse(
            artifact.file.open("rb"), as_attachment=True,
            filename=artifact.name.replace("/", "_")), artifact)

    @extend_schema(request=serializers.UploadSerializer)
    @action(detail=False, methods=["post"], parser_classes=[MultiPartParser])
    def upload(self, request):
        """Store a file and read it by its content."""
        door = serializers.UploadSerializer(data=request.data)
        door.fields["engagement"].queryset = Engagement.objects.visible_to(request.user)
        door.fields["model"].queryset = MigratedModel.objects.visible_to(request.user)
        door.is_valid(raise_exception=True)
        artifact = services.upload_artifact(actor=request.user, **door.validated_data)
        return Response(self.get_serializer(artifact).data, status=status.HTTP_201_CREATED)


routes = [
    ("nodes", NodeViewSet, "node"),
    ("job-kinds", KindViewSet, "job-kind"),
    ("jobs", JobViewSet, "job"),
    ("artifacts", ArtifactViewSet, "artifact"),
    *chain_routes,
    *rule_api.routes,
]
