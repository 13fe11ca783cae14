"""REST endpoints of claims under the warranty."""

from rest_framework import mixins, serializers

from delivery.acceptance import services
from delivery.acceptance.models import WarrantyClaim
from engagements.models import Engagement, MigratedModel
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating
from engagements.web.visible_field import VisibleField
from workers.models import Job


class WarrantyClaimSerializer(serializers.ModelSerializer):
    engagement = VisibleField(queryset=Engagement.objects.all())
    model = VisibleField(queryset=MigratedModel.objects.all(), required=False, allow_null=True)

    class Meta:
        model = WarrantyClaim
        fields = ["id", "engagement", "number", "model", "description", "found_on", "is_covered",
                  "raised_at", "report", "regression", "reported_at", "closed_at"]
        read_only_fields = ["number", "is_covered", "raised_at", "report", "regression",
                            "reported_at", "closed_at"]
        validators = []


class RepairSerializer(serializers.Serializer):
    """What was repaired, and the run that shows it."""

    report = serializers.CharField(max_length=400)
    regression = VisibleField(queryset=Job.objects.all())


class WarrantyClaimViewSet(mixins.CreateModelMixin, ScopedViewSet):
    """Defects claimed after the final acceptance."""

    queryset = WarrantyClaim.objects.select_related("engagement", "model")
    serializer_class = WarrantyClaimSerializer
    filterset_fields = ["engagement", "model", "is_covered"]
    perform_create = creating(services.raise_claim)
    repair = RowAction(services.report_repair, "claim",
                       "Say what was repaired and which run shows it.", RepairSerializer)
    close = RowAction(services.close_claim, "claim", "The customer confirms the repair.")


routes = [("warranty-claims", WarrantyClaimViewSet, "warranty-claim")]
