"""The audit log as a REST endpoint."""

import django_filters
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.portal.audit.entry_details import withhold
from delivery.portal.audit.log_check import check_log
from delivery.portal.audit.views import by_agent, export_of
from engagements.access import Can, require
from engagements.errors import WrongState
from engagements.models import AuditArchive, AuditEntry
from engagements.web.engagement_codes import NamesEngagement
from engagements.web.file_responses import IgnoreAcceptHeader, schema_of
from engagements.web.scoped_viewset import ScopedViewSet


class AuditEntrySerializer(NamesEngagement):
    is_withheld = serializers.BooleanField(read_only=True)

    class Meta:
        model = AuditEntry
        fields = ["id", "at", "actor", "action", "target_type", "target_id", "target_label",
                  "engagement", "data", "rows", "previous_hash", "entry_hash", "is_withheld"]

    def to_representation(self, instance):
        withhold(self.context["request"].user, [instance])
        return super().to_representation(instance)


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


class AuditFilterSet(django_filters.FilterSet):
    """`agent`: entries of what an agent did, by its number."""

    agent = django_filters.NumberFilter(method="filter_agent")

    class Meta:
        model = AuditEntry
        fields = ["action", "actor", "engagement", "target_type", "target_id"]

    def filter_agent(self, entries, _name, value):
        return entries.filter(by_agent(int(value)))


class AuditViewSet(ScopedViewSet):
    """The audit log, newest first; for administrators, managers and auditors."""

    queryset = AuditEntry.objects.all()
    serializer_class = AuditEntrySerializer
    filterset_class = AuditFilterSet

    def get_queryset(self):
        require(self.request.user, Can.AUDIT)
        return super().get_queryset()

    @extend_schema(responses=schema_of("application/x-ndjson"))
    @action(detail=False, pagination_class=None, content_negotiation_class=IgnoreAcceptHeader)
    def export(self, request):
        """The entries that fit, each with its hash and the one before, and what leads from them to
        the root over the whole log: a file that `verify.pyz` recomputes."""
        asked = {name: value for name, value in request.query_params.items() if value}
        return export_of(request.user, self.filter_queryset(self.get_queryset()), asked)

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
