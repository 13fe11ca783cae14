"""REST endpoints of claims under the warranty."""

from rest_framework import mixins, serializers

from delivery.acceptance import services
from delivery.acceptance.models import WarrantyClaim
from delivery.acceptance.models.follow_up import reported_issues
from delivery.planning.models import ProjectIssue
from engagements.models import Engagement, MigratedModel
from engagements.models.visibility import in_engagements_of
from engagements.web.engagement_codes import NamesEngagement
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating
from engagements.web.visible_field import VisibleField
from workers.models import Job


class WarrantyClaimSerializer(NamesEngagement):
    engagement = VisibleField(queryset=Engagement.objects.all())
    model = VisibleField(queryset=MigratedModel.objects.all(), required=False, allow_null=True)
    owner = serializers.StringRelatedField()
    file = serializers.FileField(required=False, write_only=True, allow_null=True)

    class Meta:
        model = WarrantyClaim
        fields = ["id", "engagement", "number", "model", "description", "found_on", "file",
                  "is_covered", "owner", "raised_at", "report", "regression", "reported_at",
                  "closed_at"]
        read_only_fields = ["number", "is_covered", "raised_at", "report", "regression",
                            "reported_at", "closed_at"]
        validators = []


class RepairSerializer(serializers.Serializer):
    """What was repaired, and the run that shows it."""

    report = serializers.CharField(max_length=400)
    regression = VisibleField(queryset=Job.objects.all())


class FollowUpSerializer(serializers.Serializer):
    """What is said, with a file (PDF, PNG or JPEG)."""

    text = serializers.CharField(max_length=2000, required=False, default="", allow_blank=True)
    file = serializers.FileField(required=False, default=None, allow_null=True)


class TrialIssueSerializer(NamesEngagement):
    engagement = VisibleField(queryset=Engagement.objects.all())
    model = VisibleField(queryset=MigratedModel.objects.all(), required=False, allow_null=True)
    file = serializers.FileField(required=False, write_only=True, allow_null=True)

    class Meta:
        model = ProjectIssue
        fields = ["id", "engagement", "number", "model", "description", "level", "file",
                  "raised_on", "due_on", "closed_on"]
        read_only_fields = ["number", "raised_on", "due_on", "closed_on"]
        validators = []


class TrialIssueViewSet(mixins.CreateModelMixin, ScopedViewSet):
    """Issues that the customer reports in the trial run."""

    queryset = reported_issues().select_related("engagement", "model")
    serializer_class = TrialIssueSerializer
    filterset_fields = ["engagement", "level"]
    perform_create = creating(services.report_trial_issue)
    comment = RowAction(services.comment_issue, "issue", "Say something about the issue.",
                        FollowUpSerializer)
    resolve = RowAction(services.resolve_issue, "issue", "The customer says that it is settled.",
                        FollowUpSerializer)

    def get_queryset(self):
        """Those of the engagements that the user sees."""
        return self.queryset.filter(in_engagements_of(self.request.user)).order_by("-pk")


class WarrantyClaimViewSet(mixins.CreateModelMixin, ScopedViewSet):
    """Defects claimed after the final acceptance."""

    queryset = WarrantyClaim.objects.select_related("engagement", "model", "owner")
    serializer_class = WarrantyClaimSerializer
    filterset_fields = ["engagement", "model", "is_covered"]
    perform_create = creating(services.raise_claim)
    repair = RowAction(services.report_repair, "claim",
                       "Say what was repaired and which run shows it.", RepairSerializer)
    close = RowAction(services.close_claim, "claim", "The customer confirms the repair.")
    take = RowAction(services.take_claim, "claim", "Somebody of the team works on it from now on.")
    send_back = RowAction(services.send_back_claim, "claim",
                          "The customer does not confirm the repair.", FollowUpSerializer,
                          url_path="send-back")


routes = [("trial-issues", TrialIssueViewSet, "trial-issue"),
          ("warranty-claims", WarrantyClaimViewSet, "warranty-claim")]
