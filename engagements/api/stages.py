"""REST endpoints of stages, their gates and waivers."""

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.response import Response

from engagements import serializers, services
from engagements.access import Can, require
from engagements.gates import evaluate, seen_by
from engagements.models import StageRecord, StageWaiver
from engagements.stage_activity import with_activity
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet


class StageRecordViewSet(ScopedViewSet):
    queryset = StageRecord.objects.select_related("model", "assignment").prefetch_related(
        "checklist", "transitions", "waivers")
    serializer_class = serializers.StageRecordSerializer
    filterset_fields = ["model", "model__engagement", "stage", "state"]
    move = RowAction(services.move_stage, "record",
                     "Make one move of the table; some need a comment as their reason.",
                     serializers.StageMoveSerializer)
    waiver = RowAction(services.draft_stage_waiver, "record",
                       "Draft a waiver of what is missing; somebody else signs it.",
                       serializers.WaiverDraftSerializer,
                       answers=serializers.StageWaiverSerializer, code=201)

    def get_queryset(self):
        return with_activity(super().get_queryset())

    @extend_schema(request=serializers.BulkMoveSerializer,
                   responses=serializers.BulkMovedSerializer)
    @action(detail=False, methods=["post"])
    def bulk_move(self, request):
        """The same move with many stages; what cannot move is named with its reason."""
        wanted = self.validated(serializers.BulkMoveSerializer)
        keys = set(wanted.pop("records"))
        records = list(StageRecord.objects.visible_to(request.user).filter(pk__in=keys))
        if len(records) != len(keys):
            raise Http404
        done = services.move_stages(actor=request.user, records=records, **wanted)
        return Response(serializers.BulkMovedSerializer({
            "moved": [row.record_id for row in done.moved], "refused": done.refused}).data)

    @extend_schema(request=serializers.StageAssignmentSerializer)
    @action(detail=True, methods=["post"])
    def assign(self, request, pk=None):
        """Give the stage to a person of the team, or to nobody."""
        services.assign_stages(actor=request.user, records=[self.get_object()],
                               **self.validated(serializers.StageAssignmentSerializer))
        return self.fresh()

    @extend_schema(methods=["GET"], responses=serializers.StageCommentSerializer(many=True))
    @extend_schema(methods=["POST"], request=serializers.StageCommentSerializer,
                   responses={201: serializers.StageCommentSerializer})
    @action(detail=True, methods=["get", "post"], filterset_fields=None)
    def comments(self, request, pk=None):
        """Comments of the firm's people, the newest first; add one."""
        record = self.get_object()
        if request.method == "POST":
            made = services.comment_on_stage(actor=request.user, record=record,
                                             **self.validated(serializers.StageCommentSerializer))
            return Response(serializers.StageCommentSerializer(made).data, status=201)
        require(request.user, Can.VIEW_INTERNAL, record.engagement)
        page = self.paginate_queryset(record.comments.all())
        return self.get_paginated_response(
            serializers.StageCommentSerializer(page, many=True).data)

    @extend_schema(responses=serializers.CheckSerializer(many=True))
    @action(detail=True, pagination_class=None, filterset_fields=None)
    def gate(self, request, pk=None):
        """What the gate checks say now."""
        results = seen_by(evaluate(self.get_object()), request.user)
        return Response([result.as_dict() for result in results])

    @extend_schema(request=serializers.TickSerializer)
    @action(detail=True, methods=["post"])
    def tick(self, request, pk=None):
        """Confirm a checklist item, or take it back."""
        record = self.get_object()
        require(request.user, Can.WORK, record.engagement)
        fields = self.validated(serializers.TickSerializer)
        item = get_object_or_404(record.checklist, pk=fields.pop("item"))
        services.tick_item(actor=request.user, item=item, **fields)
        return self.fresh()


class StageWaiverViewSet(ScopedViewSet):
    queryset = StageWaiver.objects.all()
    serializer_class = serializers.StageWaiverSerializer
    filterset_fields = ["record", "record__model", "record__model__engagement"]
    sign = RowAction(services.sign_stage_waiver, "waiver", "Sign it; not by who drafted it.")
    revoke = RowAction(services.revoke_stage_waiver, "waiver", "Withdraw it before it was used.")


routes = [
    ("stages", StageRecordViewSet, "stage"),
    ("stage-waivers", StageWaiverViewSet, "stage-waiver"),
]
