"""REST endpoints of change requests. Each write is one service call."""

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.planning import serializers
from delivery.planning.changes import change_facts
from delivery.planning.changes.transitions import DUTIES
from delivery.planning.document_files import planning_file
from delivery.planning.models import ChangeRequest
from delivery.planning.services import added_criteria, change_drafts, changes, scope_effects
from engagements.web.file_responses import PdfAction
from engagements.web.missing_people import MissingPeopleAction
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
    serializer_class = serializers.ChangeRequestSerializer
    filterset_fields = ["engagement", "state", "category"]
    perform_create = creating(changes.create_change, "seen")
    perform_update = updating(changes.update_change, "change", "engagement")

    def _done(self, service, serializer=None):
        fields = self.validated(serializer) if serializer else {}
        service(actor=self.request.user, change=self.get_object(), **fields)
        return self.fresh()

    @extend_schema(request=serializers.ScopeEffectSerializer)
    @action(detail=True, methods=["post"])
    def scope_effect(self, request, pk=None):
        """A model or a stage that comes in or falls out."""
        return self._done(scope_effects.set_scope_effect, serializers.ScopeEffectSerializer)

    @extend_schema(request=None, responses={(200, "application/json"): OpenApiTypes.OBJECT})
    @action(detail=True, methods=["post"])
    def price_scope(self, request, pk=None):
        """Take the days of what comes in and falls out over into lines of the quote."""
        return Response({"unpriced": scope_effects.price_scope(
            actor=request.user, change=self.get_object())})

    @extend_schema(request=serializers.ScheduleEffectSerializer)
    @action(detail=True, methods=["post"])
    def schedule_effect(self, request, pk=None):
        """A task's new length."""
        return self._done(change_drafts.set_schedule_effect, serializers.ScheduleEffectSerializer)

    @extend_schema(request=serializers.CriterionEffectSerializer)
    @action(detail=True, methods=["post"])
    def criterion_effect(self, request, pk=None):
        """A signed criterion's new threshold."""
        return self._done(change_drafts.set_criterion_effect, serializers.CriterionEffectSerializer)

    @extend_schema(request=serializers.AddedCriterionSerializer)
    @action(detail=True, methods=["post"])
    def added_criterion(self, request, pk=None):
        """A criterion that comes in, also of a model that the change adds."""
        return self._done(added_criteria.add_criterion, serializers.AddedCriterionSerializer)

    @extend_schema(request=serializers.PriceEffectSerializer)
    @action(detail=True, methods=["post"])
    def price_effect(self, request, pk=None):
        """A line of the quote that is added, changed or removed."""
        return self._done(change_drafts.set_price_effect, serializers.PriceEffectSerializer)

    @extend_schema(parameters=EFFECT, request=None,
                   responses={200: serializers.ChangeRequestSerializer})
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

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def submit(self, request, pk=None):
        """Put the change to both sides."""
        return self._done(changes.submit_change)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def approve(self, request, pk=None):
        """Approve for one's side; the second approval puts it in force."""
        return self._done(changes.approve_change)

    @extend_schema(request=serializers.RejectionSerializer)
    @action(detail=True, methods=["post"])
    def reject(self, request, pk=None):
        """Reject, with the reason."""
        return self._done(changes.reject_change, serializers.RejectionSerializer)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def withdraw(self, request, pk=None):
        """Its author takes a submitted change back."""
        return self._done(changes.withdraw_change)

    @extend_schema(request=serializers.ChangeResultSerializer)
    @action(detail=True, methods=["post"])
    def result(self, request, pk=None):
        """Follow-up and result of a change in force."""
        return self._done(changes.record_result, serializers.ChangeResultSerializer)
