"""The audit log as a REST endpoint."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.models import AuditEntry


class AuditEntrySerializer(serializers.ModelSerializer):
    class Meta:
        model = AuditEntry
        fields = ["id", "at", "actor", "action", "target_type", "target_id", "target_label",
                  "engagement", "data", "entry_hash"]


class AuditFindingSerializer(serializers.Serializer):
    """`entry` and `problem` name the first place at which the log is not what was written."""

    is_intact = serializers.BooleanField()
    entry = serializers.IntegerField(source="entry.pk", default=None, allow_null=True)
    problem = serializers.CharField(default="")


class AuditViewSet(viewsets.ReadOnlyModelViewSet):
    """The audit log, newest first; for administrators and managers."""

    queryset = AuditEntry.objects.all()
    serializer_class = AuditEntrySerializer
    filterset_fields = ["action", "actor", "engagement", "target_type", "target_id"]

    def get_queryset(self):
        require(self.request.user, Can.AUDIT)
        return super().get_queryset().visible_to(self.request.user)

    @extend_schema(responses=AuditFindingSerializer, filters=False)
    @action(detail=False, pagination_class=None)
    def check(self, request):
        """Walk the whole log: hashes, order, seals and its end."""
        require(request.user, Can.AUDIT)
        found = next(audit_log.findings(), None)
        return Response(AuditFindingSerializer({
            "is_intact": found is None, **(vars(found) if found else {})}).data)
