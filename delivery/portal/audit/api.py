"""The audit log as a REST endpoint."""

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.portal.audit.log_check import check_log
from engagements.access import Can, require
from engagements.errors import WrongState
from engagements.models import AuditArchive, AuditEntry
from engagements.web.scoped_viewset import ScopedViewSet


class AuditEntrySerializer(serializers.ModelSerializer):
    class Meta:
        model = AuditEntry
        fields = ["id", "at", "actor", "action", "target_type", "target_id", "target_label",
                  "engagement", "data", "entry_hash"]


class AuditFindingSerializer(serializers.Serializer):
    """`entry` and `problem` name the first place at which the log is not what was written."""

    is_intact = serializers.BooleanField()
    after = serializers.IntegerField()
    entry = serializers.IntegerField(source="entry.pk", default=None, allow_null=True)
    problem = serializers.CharField(default="")


class AuditArchiveSerializer(serializers.ModelSerializer):
    class Meta:
        model = AuditArchive
        fields = ["id", "month", "first_number", "last_number", "previous_hash", "last_hash",
                  "file", "size", "sha256", "made_at"]
        extra_kwargs = {"file": {"use_url": False}}


class AuditArchiveViewSet(ScopedViewSet):
    """Where entries lie that are no longer in the table, the newest first."""

    queryset = AuditArchive.objects.all()
    serializer_class = AuditArchiveSerializer
    filterset_fields = ["month", "archived_engagements__engagement"]

    def get_queryset(self):
        require(self.request.user, Can.AUDIT)
        return super().get_queryset()


class AuditViewSet(ScopedViewSet):
    """The audit log, newest first; for administrators and managers."""

    queryset = AuditEntry.objects.all()
    serializer_class = AuditEntrySerializer
    filterset_fields = ["action", "actor", "engagement", "target_type", "target_id"]

    def get_queryset(self):
        require(self.request.user, Can.AUDIT)
        return super().get_queryset()

    @extend_schema(responses=AuditFindingSerializer, filters=False)
    @action(detail=False, pagination_class=None)
    def check(self, request):
        """Walk the log: hashes, order, seals and its end. 409 where it is too long for an answer;
        behind an entry that `manage.py verify --audit` has reached it begins there (`after`)."""
        require(request.user, Can.AUDIT)
        done = check_log()
        if not done.is_done:
            raise WrongState(_("The log is too long to be checked here: run "
                               "manage.py verify --audit."))
        found = done.finding
        facts = {"is_intact": found is None, "after": done.after}
        return Response(AuditFindingSerializer({**facts, **(vars(found) if found else {})}).data)
