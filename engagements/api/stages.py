"""REST endpoints of stages, their gates and waivers."""

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from engagements import serializers, services
from engagements.access import Can, require
from engagements.gates import evaluate, seen_by
from engagements.models import StageRecord, StageWaiver


class StageRecordViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = StageRecord.objects.prefetch_related("checklist", "transitions")
    serializer_class = serializers.StageRecordSerializer
    filterset_fields = ["model", "model__engagement", "stage", "state"]

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)

    @extend_schema(request=serializers.StageMoveSerializer)
    @action(detail=True, methods=["post"])
    def move(self, request, pk=None):
        """Make one move of the table; some need a comment as their reason."""
        serializer = serializers.StageMoveSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        services.move_stage(actor=request.user, record=self.get_object(),
                            **serializer.validated_data)
        return Response(self.get_serializer(self.get_object()).data)

    @extend_schema(request=serializers.BulkMoveSerializer,
                   responses=serializers.BulkMovedSerializer)
    @action(detail=False, methods=["post"])
    def bulk_move(self, request):
        """The same move with many stages; what cannot move is named with its reason."""
        serializer = serializers.BulkMoveSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        wanted = dict(serializer.validated_data)
        keys = set(wanted.pop("records"))
        records = list(StageRecord.objects.visible_to(request.user).filter(pk__in=keys))
        if len(records) != len(keys):
            raise Http404
        done = services.move_stages(actor=request.user, records=records, **wanted)
        return Response(serializers.BulkMovedSerializer({
            "moved": [row.record_id for row in done.moved], "refused": done.refused}).data)

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
        serializer = serializers.TickSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        item = get_object_or_404(record.checklist, pk=serializer.validated_data["item"])
        services.tick_item(actor=request.user, item=item,
                           is_done=serializer.validated_data["is_done"],
                           evidence=serializer.validated_data["evidence"])
        return Response(self.get_serializer(self.get_object()).data)

    @extend_schema(request=serializers.WaiverDraftSerializer,
                   responses={201: serializers.StageWaiverSerializer})
    @action(detail=True, methods=["post"])
    def waiver(self, request, pk=None):
        """Draft a waiver of what is missing; somebody else signs it."""
        record = self.get_object()
        serializer = serializers.WaiverDraftSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        made = services.draft_stage_waiver(actor=request.user, record=record,
                                           **serializer.validated_data)
        return Response(serializers.StageWaiverSerializer(made).data, status=201)


class StageWaiverViewSet(viewsets.ReadOnlyModelViewSet):
    queryset = StageWaiver.objects.all()
    serializer_class = serializers.StageWaiverSerializer
    filterset_fields = ["record", "record__model", "record__model__engagement"]

    def get_queryset(self):
        return super().get_queryset().visible_to(self.request.user)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def sign(self, request, pk=None):
        """Sign it; not by who drafted it."""
        return Response(self.get_serializer(services.sign_stage_waiver(
            actor=request.user, waiver=self.get_object())).data)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def revoke(self, request, pk=None):
        """Withdraw it before it was used."""
        return Response(self.get_serializer(services.revoke_stage_waiver(
            actor=request.user, waiver=self.get_object())).data)


routes = [
    ("stages", StageRecordViewSet, "stage"),
    ("stage-waivers", StageWaiverViewSet, "stage-waiver"),
]
