"""REST endpoints of the inventory import. Each write is one service call."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from engagements.access import Can, require
from engagements.web.json_parser import BoundedJSONParser
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import destroying
from workers.api import node_serializers
from workers.models import NodeImport
from workers.services import node_imports


class NodeImportViewSet(mixins.DestroyModelMixin, ScopedViewSet):
    """Nodes from an inventory: upload, faults, creation of all or none, first look at each."""

    queryset = NodeImport.objects.prefetch_related("nodes__node")
    serializer_class = node_serializers.NodeImportSerializer
    parser_classes = [BoundedJSONParser, MultiPartParser]
    perform_destroy = destroying(node_imports.discard_import, "source")
    apply = RowAction(node_imports.apply_import, "source",
                      "Enrol all nodes or none, and ask each for its host key.",
                      node_serializers.InventoryKeySerializer)
    again = RowAction(node_imports.look_again, "source",
                      "Ask again the nodes that were not reached.")

    @extend_schema(request={"multipart/form-data": node_serializers.InventoryUploadSerializer},
                   responses={201: node_serializers.NodeImportSerializer})
    def create(self, request):
        """Read an inventory; no node exists yet."""
        require(request.user, Can.OPERATE)
        fields = self.validated(node_serializers.InventoryUploadSerializer)
        upload = fields.pop("file")
        return self.shown(node_imports.start_import(
            actor=request.user, upload=upload, file_name=upload.name, **fields),
            status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=node_serializers.RowTrialSerializer(many=True))
    @action(detail=True, methods=["post"], url_path="try", pagination_class=None)
    def try_rows(self, request, pk=None):
        """Ask each row's address for its host key; nothing is stored."""
        require(request.user, Can.OPERATE)
        rows = node_imports.try_rows(self.get_object())
        return Response(node_serializers.RowTrialSerializer(rows, many=True).data)

    @extend_schema(request=node_serializers.FingerprintsSerializer)
    @action(detail=True, methods=["post"])
    def accept(self, request, pk=None):
        """Say that fingerprints were compared; their keys are pinned."""
        offers = self.validated(node_serializers.FingerprintsSerializer)["fingerprints"]
        node_imports.accept_fingerprints(actor=request.user, source=self.get_object(),
                                         offers=offers)
        return self.fresh()


routes = [("node-imports", NodeImportViewSet, "node-import")]
