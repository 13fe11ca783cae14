"""REST endpoints of the deliverables that the contract owes."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.reports import services
from delivery.reports.models import Deliverable
from delivery.reports.serializers import OwedDeliverableSerializer
from engagements.serializers import VisibleEngagement
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating, updating
from engagements.web.visible_field import VisibleField
from workers.models import Artifact


class ProofSerializer(serializers.Serializer):
    """One of a stored file, a commit with its repository, or the digest of an image."""

    artifact = VisibleField(queryset=Artifact.objects.all(), required=False, default=None,
                            allow_null=True)
    repository = serializers.CharField(max_length=240, default="", allow_blank=True)
    commit = serializers.CharField(max_length=64, default="", allow_blank=True)
    image_digest = serializers.CharField(max_length=80, default="", allow_blank=True)


class AgreedSerializer(serializers.Serializer):
    engagement = VisibleEngagement(help_text="project code")


class DeliverableViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, ScopedViewSet):
    """What the contract owes, and what fulfils it."""

    queryset = Deliverable.objects.select_related("engagement", "artifact")
    serializer_class = OwedDeliverableSerializer
    filterset_fields = ["engagement", "model", "owner", "due_stage"]
    perform_create = creating(services.add_deliverable, "seen")
    perform_update = updating(services.update_deliverable, "deliverable", "engagement")
    fulfil = RowAction(services.fulfil_deliverable, "deliverable", "Name what fulfils it.",
                       ProofSerializer)
    reopen = RowAction(services.reopen_deliverable, "deliverable", "Marked as outstanding again.")

    @extend_schema(request=AgreedSerializer, responses={201: OwedDeliverableSerializer(many=True)})
    @action(detail=False, methods=["post"], pagination_class=None, filterset_fields=[])
    def agreed(self, request):
        """List what the survey agreed on; what is listed already stays."""
        fields = self.validated(AgreedSerializer, context={
            "request": request, "user": request.user})
        made = services.list_agreed(actor=request.user, **fields)
        return Response(self.get_serializer(made, many=True).data,
                        status=status.HTTP_201_CREATED)


routes = [("deliverables", DeliverableViewSet, "deliverable")]
