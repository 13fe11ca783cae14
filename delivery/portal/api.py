"""REST endpoints across the apps: the search box and the audit log."""

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.portal.inbox.api import InboxViewSet
from delivery.portal.search import global_search
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.models import AuditEntry


class FoundSerializer(serializers.Serializer):
    """`sort` is what it is; `state` its code, `label` the state in words."""

    sort = serializers.CharField()
    url = serializers.CharField()
    title = serializers.CharField()
    detail = serializers.CharField()
    state = serializers.CharField()
    label = serializers.CharField()


class SearchViewSet(viewsets.ViewSet):
    @extend_schema(responses=FoundSerializer(many=True), parameters=[
        OpenApiParameter("q", OpenApiTypes.STR)])
    def list(self, request):
        """What fits the words among what the user may see; without words the newest."""
        text = request.query_params.get("q", "").strip()
        found = (global_search.search(request.user, text) if text
                 else global_search.newest(request.user))
        hits = [{"sort": sort.title, **vars(hit)} for sort, rows in found for hit in rows]
        return Response(FoundSerializer(hits, many=True).data)


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


routes = [
    ("desk", InboxViewSet, "desk"),
    ("search", SearchViewSet, "search"),
    ("audit-entries", AuditViewSet, "audit-entry"),
]
