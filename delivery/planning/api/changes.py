"""REST endpoints of change requests. Each write is one service call."""

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.planning.changes import change_facts
from delivery.planning.changes.transitions import DUTIES
from delivery.planning.document_files import planning_file
from delivery.planning.models import ChangeRequest
from delivery.planning.serializers.change import (
    AddedCriterionSerializer,
    ChangeRequestSerializer,
    ChangeResultSerializer,
    CriterionEffectSerializer,
    PriceEffectSerializer,
    RejectionSerializer,
    ScheduleEffectSerializer,
    ScopeEffectSerializer,
)
from delivery.planning.services import added_criteria, change_drafts, changes, scope_effects
from engagements.web.file_responses import PdfAction
from engagements.web.missing_people import MissingPeopleAction
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating, updating

ROWS = {"scope": "scope_effects", "schedule": "schedule_effects", "price": "price_effects",
        "criterion": "criterion_effects", "added": "added_criteria"}
EFFECT = [OpenApiParameter("kind", enum=list(ROWS), location=OpenApiParameter.PATH),
          OpenApiParameter("effect", OpenApiTypes.INT, OpenApiParameter.PATH)]


class ChangeRequestViewSet(PdfAction, MissingPeopleAction, mixins.CreateModelMixin,
                           mixins.UpdateModelMixin, ScopedViewSet):
    duty_rule = DUTIES
    render = planning_file
    queryset = ChangeRequest.objects.select_related("engagement").prefetch_related(
        "scope_effects", "schedule_effects", "criterion_effects", "added_criteria",
        "price_effects")
    serializer_class = ChangeRequestSerializer
    filterset_fields = ["engagement", "state", "category"]
    perform_create = creating(changes.create_change, "seen")
    perform_update = updating(changes.update_change, "change", "engagement")

    scope_effect = RowAction(
        scope_effects.set_scope_effect, "change",
        "A model or a stage that comes in or falls out.", ScopeEffectSerializer)
    schedule_effect = RowAction(change_drafts.set_schedule_effect, "change",
                                "A task's new length.", ScheduleEffectSerializer)
    criterion_effect = RowAction(change_drafts.set_criterion_effect, "change",
                                 "A signed criterion's new threshold.", CriterionEffectSerializer)
    added_criterion = RowAction(
        added_criteria.add_criterion, "change",
        "A criterion that comes in, also of a model that the change adds.",
        AddedCriterionSerializer)
    price_effect = RowAction(
        change_drafts.set_price_effect, "change",
        "A line of the quote that is added, changed or removed.", PriceEffectSerializer)
    submit = RowAction(changes.submit_change, "change", "Put the change to both sides.")
    approve = RowAction(changes.approve_change, "change",
                        "Approve for one's side; the second approval puts it in force.")
    reject = RowAction(changes.reject_change, "change", "Reject, with the reason.",
                       RejectionSerializer)
    withdraw = RowAction(changes.withdraw_change, "change",
                         "Its author takes a submitted change back.")
    result = RowAction(changes.record_result, "change",
                       "Follow-up and result of a change in force.", ChangeResultSerializer)

    @extend_schema(request=None, responses={(200, "application/json"): OpenApiTypes.OBJECT})
    @action(detail=True, methods=["post"])
    def price_scope(self, request, pk=None):
        """Take the days of what comes in and falls out over into lines of the quote."""
        return Response({"unpriced": scope_effects.price_scope(
            actor=request.user, change=self.get_object())})

    @extend_schema(parameters=EFFECT, request=None,
                   responses={200: ChangeRequestSerializer})
    @action(detail=True, methods=["delete"],
            url_path=rf"effects/(?P<kind>{'|'.join(ROWS)})/(?P<effect>\d+)")
    def remove_effect(self, request, pk=None, kind=None, effect=None):
        """Take an effect out of a draft."""
        found = get_object_or_404(getattr(self.get_object(), ROWS[kind]), pk=effect)
        change_drafts.remove_effect(actor=request.user, effect=found)
        return self.fresh()

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.OBJECT})
    @action(detail=True)
    def facts(self, request, pk=None):
        """Scope, schedule, price and criteria before and after; frozen once submitted."""
        return Response(change_facts.shown_facts(self.get_object()))
