"""REST doors of nodes, jobs and files. Each write is one service call."""

from django.http import FileResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, status, viewsets
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from engagements import downloads
from engagements.models import Engagement, MigratedModel
from workers import (
    catalogue,
    judging,
    kinds,
    livelog,
    logins,
    node_editing,
    queries,
    rule_api,
    serializers,
    services,
)
from workers.chain_api import chain_routes
from workers.models import Artifact, Job, Node, NodeLogin

MOST_AT_ONCE = 500  # jobs of one call


class NodeViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin,
                  viewsets.ReadOnlyModelViewSet):
    """Nodes. A change of the address leads back to the confirmation of the host key."""

    http_method_names = ["get", "post", "patch", "head", "options"]
    queryset = Node.objects.prefetch_related("cards")
    serializer_class = serializers.NodeSerializer
    filterset_fields = ["name", "state", "is_practice"]

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)

    def perform_create(self, serializer):
        serializer.instance = services.enrol_node(
            actor=self.request.user, **serializer.validated_data)

    def perform_update(self, serializer):
        serializer.instance = node_editing.edit_node(
            actor=self.request.user, node=serializer.instance, **serializer.validated_data)

    @extend_schema(request=serializers.ConfirmSerializer)
    @action(detail=True, methods=["post"])
    def confirm(self, request, pk=None):
        """Pin the offered host key by its fingerprint."""
        door = serializers.ConfirmSerializer(data=request.data)
        door.is_valid(raise_exception=True)
        node = services.confirm_host_key(actor=request.user, node=self.get_object(),
                                         **door.validated_data)
        return Response(self.get_serializer(node).data)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def refetch(self, request, pk=None):
        """Fetch the host key anew; it must be confirmed before the node is used."""
        node = services.fetch_new_host_key(actor=request.user, node=self.get_object())
        return Response(self.get_serializer(node).data)

    @extend_schema(request=serializers.MaintenanceSerializer)
    @action(detail=True, methods=["post"])
    def maintenance(self, request, pk=None):
        """Drain the node (running jobs go on, none starts), or take it back."""
        door = serializers.MaintenanceSerializer(data=request.data)
        door.is_valid(raise_exception=True)
        node = services.set_maintenance(actor=request.user, node=self.get_object(),
                                        is_on=door.validated_data["on"])
        return Response(self.get_serializer(node).data)

    @extend_schema(request=None, responses=serializers.TrialSerializer)
    @action(detail=True, methods=["post"], url_path="try")
    def try_login(self, request, pk=None):
        """Log in and run nothing."""
        return Response({"shell_seconds": node_editing.try_login(
            actor=request.user, access=self.get_object())})

    @extend_schema(responses=serializers.QueueSerializer)
    @action(detail=True)
    def queue(self, request, pk=None):
        """Who runs on the node until when, and who waits in which place for what."""
        found = queries.queue_of(self.get_object(), request.user, timezone.now())
        return Response(serializers.QueueSerializer(found).data)

    @extend_schema(responses=serializers.ContactSerializer(many=True), filters=False)
    @action(detail=True, pagination_class=None)
    def contacts(self, request, pk=None):
        """The last hundred changes of the node's reachability, newest first."""
        return Response(serializers.ContactSerializer(
            self.get_object().contacts.all()[:100], many=True).data)

    @extend_schema(responses=serializers.OutcomeSerializer)
    @action(detail=True)
    def rules(self, request, pk=None):
        """The rules over what was last read of the node."""
        return Response(serializers.OutcomeSerializer(judging.of_node(self.get_object())).data)


class NodeLoginViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin,
                       viewsets.ReadOnlyModelViewSet):
    """Log-ins of engagements at shared nodes."""

    http_method_names = ["get", "post", "patch", "head", "options"]
    queryset = NodeLogin.objects.select_related("node", "engagement")
    serializer_class = serializers.NodeLoginSerializer
    filterset_fields = ["node", "engagement"]

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)

    def perform_create(self, serializer):
        serializer.instance = logins.add_login(
            actor=self.request.user, **serializer.validated_data)

    def perform_update(self, serializer):
        data, login = serializer.validated_data, serializer.instance
        serializer.instance = logins.change_login(
            actor=self.request.user, login=login, username=data.get("username", login.username),
            private_key=data.get("private_key"), passphrase=data.get("passphrase", ""))

    @extend_schema(request=None, responses=serializers.TrialSerializer)
    @action(detail=True, methods=["post"], url_path="try")
    def try_login(self, request, pk=None):
        """Log in and run nothing."""
        return Response({"shell_seconds": node_editing.try_login(
            actor=request.user, access=self.get_object())})

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def withdraw(self, request, pk=None):
        """Erase the key; later jobs use the node's own log-in."""
        login = logins.withdraw_login(actor=request.user, login=self.get_object())
        return Response(self.get_serializer(login).data)


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
        serializer.instance = services.queue_job(
            actor=self.request.user, **_order(serializer.validated_data))

    @extend_schema(request=serializers.JobSerializer(many=True),
                   responses={201: serializers.JobSerializer(many=True)})
    @action(detail=False, methods=["post"], pagination_class=None, filterset_fields=[])
    def batch(self, request):
        """Queue a list of jobs, all of them or none; an error names each that is refused."""
        door = self.get_serializer(data=request.data, many=True, allow_empty=False,
                                   max_length=MOST_AT_ONCE)
        door.is_valid(raise_exception=True)
        jobs = services.queue_jobs(
            actor=request.user, orders=[_order(data) for data in door.validated_data])
        return Response(self.get_serializer(jobs, many=True).data, status=status.HTTP_201_CREATED)

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


def _order(data: dict) -> dict:
    """The arguments of `services.queue_job` from checked data."""
    return {"kind": data["kind"], "parameters": data.get("parameters"),
            "engagement": data.get("engagement"), "model": data.get("model"),
            "stage": data.get("stage", ""), "node": data.get("node")}


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
    ("node-logins", NodeLoginViewSet, "node-login"),
    ("job-kinds", KindViewSet, "job-kind"),
    ("jobs", JobViewSet, "job"),
    ("artifacts", ArtifactViewSet, "artifact"),
    *chain_routes,
    *rule_api.routes,
]
