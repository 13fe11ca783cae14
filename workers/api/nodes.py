"""REST endpoints of nodes and log-ins. Each write is one service call."""

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins
from rest_framework.decorators import action
from rest_framework.response import Response

from engagements.access import Can, require
from engagements.models import Engagement
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating, destroying, updating
from workers import queries, rule_checks, services
from workers.api import node_serializers
from workers.api.archive_schema import ARCHIVE, FORMAT
from workers.api.file_serializers import FolderSerializer
from workers.api.serializers import OutcomeSerializer
from workers.dispatch import disks
from workers.jobs import folder_archives, input_choices
from workers.jobs.archive_answers import archive_answer
from workers.models import Node, NodeLogin
from workers.services import key_installation, node_bulk, node_disks, node_edits, node_logins

PATH = [OpenApiParameter("path", str, required=True, description="from / on"),
        OpenApiParameter("engagement", str, description="code: its log-in is used")]


class NodeViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, mixins.DestroyModelMixin,
                  ScopedViewSet):
    """Nodes. A change of the address leads back to the confirmation of the host key."""

    http_method_names = ["get", "post", "patch", "delete", "head", "options"]
    queryset = Node.objects.prefetch_related("cards")
    serializer_class = node_serializers.NodeSerializer
    filterset_fields = ["name", "state", "is_practice"]
    perform_create = creating(services.enrol_node)
    perform_update = updating(node_edits.edit_node, "node")
    confirm = RowAction(services.confirm_host_key, "node",
                        "Pin the offered host key by its fingerprint.",
                        node_serializers.ConfirmSerializer)
    refetch = RowAction(
        services.fetch_new_host_key, "node",
        "Fetch the host key anew; it must be confirmed before the node is used.")
    retire = RowAction(services.retire_node, "node",
                       "Out of use for good; what ran there stays. Its keys are erased.")
    install_key = RowAction(
        key_installation.install_key, "node",
        "Log in with a password once and let the desk's key in; the password is not stored.",
        node_serializers.PasswordSerializer, url_path="install-key")

    @extend_schema(request=node_serializers.MaintenanceSerializer)
    @action(detail=True, methods=["post"])
    def maintenance(self, request, pk=None):
        """Drain the node (running jobs go on, none starts), or take it back."""
        asked = self.validated(node_serializers.MaintenanceSerializer)
        return self.shown(services.set_maintenance(
            actor=request.user, node=self.get_object(), is_on=asked["on"],
            until=asked.get("until"), reason=asked.get("reason", ""),
            stops_jobs_at=asked.get("stops_jobs_at")))

    perform_destroy = destroying(services.delete_node, "node")

    @extend_schema(request=None, responses=node_serializers.TrialSerializer)
    @action(detail=True, methods=["post"], url_path="try")
    def try_login(self, request, pk=None):
        """Log in and run nothing."""
        return Response({"shell_seconds": node_edits.try_login(
            actor=request.user, access=self.get_object())})

    @extend_schema(responses=node_serializers.QueueSerializer)
    @action(detail=True)
    def queue(self, request, pk=None):
        """Who runs on the node until when, and who waits in which place for what."""
        [found] = queries.queues_of([self.get_object()], request.user, timezone.now())
        return Response(node_serializers.QueueSerializer(found).data)

    @extend_schema(responses=node_serializers.ContactSerializer(many=True), filters=False)
    @action(detail=True, pagination_class=None)
    def contacts(self, request, pk=None):
        """The last hundred changes of the node's reachability, newest first."""
        return Response(node_serializers.ContactSerializer(
            self.get_object().contacts.all()[:100], many=True).data)

    @extend_schema(responses=OutcomeSerializer)
    @action(detail=True)
    def rules(self, request, pk=None):
        """The rules over what was last read of the node."""
        return Response(OutcomeSerializer(rule_checks.of_node(self.get_object())).data)


    @extend_schema(request=node_serializers.NodeBulkSerializer,
                   responses=node_serializers.NodeOutcomeSerializer(many=True))
    @action(detail=False, methods=["post"], pagination_class=None, filterset_fields=[])
    def bulk(self, request):
        """The same change on many nodes, with what became of it on each."""
        asked = self.validated(node_serializers.NodeBulkSerializer)
        nodes = self.get_queryset().filter(pk__in=asked.pop("nodes"))
        rows = node_bulk.ACTIONS[asked.pop("action")](
            actor=request.user, nodes=nodes, **asked)
        return Response(node_serializers.NodeOutcomeSerializer(rows, many=True).data)

    @extend_schema(responses=node_serializers.DiskSerializer)
    @action(detail=True, filterset_fields=[])
    def disk(self, request, pk=None):
        """What is free on the disk of the job folders, for how long, and what fills it."""
        node = self.get_object()
        return Response(node_serializers.DiskSerializer({
            "used_mb": node.scratch_used_mb, "free_mb": node.scratch_free_mb,
            "full_at": node.disk_full_at, "is_full": node.is_full,
            "forecast": disks.forecast_sentence(node, timezone.now()),
            "contents": disks.contents(node, request.user)}).data)

    measure_disk = RowAction(node_disks.measure_disk, "node", "Look at the disk now.",
                             url_path="disk/measure")

    @extend_schema(request=node_serializers.CleanUpSerializer,
                   responses=node_serializers.CleanUpRowSerializer(many=True))
    @action(detail=True, methods=["post"], url_path="disk/clean-up", pagination_class=None)
    def clean_up(self, request, pk=None):
        """Remove folders of ended jobs by a rule, the oldest fifty; a dry run says which."""
        asked = self.validated(node_serializers.CleanUpSerializer)
        is_dry_run, node = asked.pop("dry_run"), self.get_object()
        require(request.user, Can.OPERATE)
        rule = disks.Rule(**asked)
        rows = disks.dry_run(node, rule, request.user) if is_dry_run else [
            {"job": job, "why_kept": ""} for job in node_disks.clean_up(
                actor=request.user, node=node, rule=rule)]
        return Response(node_serializers.CleanUpRowSerializer(rows, many=True).data)

    @extend_schema(responses=FolderSerializer, parameters=PATH, extensions={"x-refusals": [409]})
    @action(detail=True, pagination_class=None, filterset_fields=[])
    def files(self, request, pk=None):
        """What a folder below `file_roots` holds; links that lead out of them are refused."""
        node = self.get_object()
        folder = input_choices.browse(request.user, node, *self._asked())
        rows = input_choices.rows_of(node, folder)
        return Response(FolderSerializer({
            "path": folder.path, "is_cut": folder.is_cut, "entries": rows}).data)

    @extend_schema(responses=ARCHIVE, parameters=[*PATH, FORMAT])
    @action(detail=True, filterset_fields=[])
    def archive(self, request, pk=None):
        """A folder or file below `file_roots` as a tar archive or as zip, as the node sends it."""
        node, (engagement, path) = self.get_object(), self._asked()
        pieces = folder_archives.of_node(request.user, node, engagement, path)
        return archive_answer(pieces, path.rstrip("/").rpartition("/")[2], node,
                              wanted=request.query_params.get("as", ""))

    def _asked(self) -> tuple[Engagement | None, str]:
        asked = self.request.query_params
        engagement = get_object_or_404(
            Engagement.objects.visible_to(self.request.user), code=asked["engagement"]
        ) if asked.get("engagement") else None
        return engagement, asked.get("path", "")


class NodeLoginViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, ScopedViewSet):
    """Log-ins of engagements at shared nodes."""

    http_method_names = ["get", "post", "patch", "head", "options"]
    queryset = NodeLogin.objects.select_related("node", "engagement")
    serializer_class = node_serializers.NodeLoginSerializer
    filterset_fields = ["node", "engagement"]
    perform_create = creating(node_logins.add_login)
    withdraw = RowAction(node_logins.withdraw_login, "login",
                         "Erase the key; later jobs use the node's own log-in.")

    def perform_update(self, serializer):
        data, login = serializer.validated_data, serializer.instance
        serializer.instance = node_logins.change_login(
            actor=self.request.user, login=login, username=data.get("username", login.username),
            private_key=data.get("private_key"), passphrase=data.get("passphrase", ""),
            certificate=data.get("certificate", ""))

    @extend_schema(request=None, responses=node_serializers.TrialSerializer)
    @action(detail=True, methods=["post"], url_path="try")
    def try_login(self, request, pk=None):
        """Log in and run nothing."""
        return Response({"shell_seconds": node_edits.try_login(
            actor=request.user, access=self.get_object())})


routes = [
    ("nodes", NodeViewSet, "node"),
    ("node-logins", NodeLoginViewSet, "node-login"),
]
