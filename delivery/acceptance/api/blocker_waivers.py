"""API of waivers of what holds up the final acceptance."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status

from delivery.acceptance import services
from delivery.acceptance.models import BlockerWaiver
from engagements.serializers import VisibleEngagement
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet


class BlockerWaiverSerializer(serializers.ModelSerializer):
    """`checks` holds code, label and sentence of what it lets pass."""

    engagement = serializers.SlugRelatedField("code", read_only=True)
    drafted_by = serializers.SlugRelatedField("username", read_only=True)
    signed_by = serializers.SlugRelatedField("username", read_only=True)
    revoked_by = serializers.SlugRelatedField("username", read_only=True)

    class Meta:
        model = BlockerWaiver
        fields = ["id", "engagement", "reason", "checks", "drafted_by", "drafted_at", "signed_by",
                  "signed_at", "content_hash", "revoked_by", "revoked_at"]
        read_only_fields = fields


class NewBlockerWaiverSerializer(serializers.Serializer):
    """Without `checks` it lets pass all that holds up the final acceptance now."""

    engagement = VisibleEngagement()
    reason = serializers.CharField(max_length=2000)
    checks = serializers.ListField(child=serializers.CharField(max_length=240), required=False,
                                   default=list)


class BlockerWaiverViewSet(ScopedViewSet):
    """Waivers of what holds up the final acceptance: a manager drafts, the customer signs."""

    serializer_class = BlockerWaiverSerializer
    queryset = BlockerWaiver.objects.select_related("engagement", "drafted_by", "signed_by",
                                                    "revoked_by")
    filterset_fields = ["engagement"]
    sign = RowAction(services.sign_blocker_waiver, "waiver", "The customer signs it.")
    revoke = RowAction(services.revoke_blocker_waiver, "waiver",
                       "Withdraw it; what was signed under it stays.")

    @extend_schema(request=NewBlockerWaiverSerializer, responses={201: BlockerWaiverSerializer})
    def create(self, request):
        """Draft a waiver of what holds up the final acceptance."""
        fields = self.validated(NewBlockerWaiverSerializer, context={
            "request": request, "user": request.user})
        return self.shown(services.draft_blocker_waiver(actor=request.user, **fields),
                          status.HTTP_201_CREATED)


routes = [("acceptance-waivers", BlockerWaiverViewSet, "acceptance-waiver")]
