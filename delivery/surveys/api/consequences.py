"""REST endpoints of what follows from the answers. Each write is one service call."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.surveys import serializers, services
from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.consequences import compare
from delivery.surveys.consequences.baselines import draft_links
from delivery.surveys.readiness import readiness
from engagements.access import Can, require


class ConsequenceActions:
    """Mixed into the viewset of surveys; for the firm only."""

    def _internal(self):
        require(self.request.user, Can.VIEW_INTERNAL)
        return self.get_object()

    @extend_schema(responses=serializers.ReadinessSerializer)
    @action(detail=True)
    def readiness(self, request, pk=None):
        """The score and what it consists of."""
        return Response(serializers.ReadinessSerializer(readiness(Sheet(self._internal()))).data)

    @extend_schema(responses=serializers.DraftBaselineSerializer(many=True))
    @action(detail=True, pagination_class=None, filterset_fields=None)
    def draft_baselines(self, request, pk=None):
        """Draft baselines, and how far each is: pending, submitted (recorded) or passed."""
        survey = self._internal()
        rows = [{"model": draft["applied"].model.code, **draft}
                for draft in draft_links(compare(Sheet(survey)), survey)]
        return Response(serializers.DraftBaselineSerializer(rows, many=True).data)

    @extend_schema(responses=serializers.ConsequenceSerializer(many=True))
    @action(detail=True, pagination_class=None, filterset_fields=None)
    def consequences(self, request, pk=None):
        """What follows from the answers."""
        rows = compare(Sheet(self._internal()))
        return Response(serializers.ConsequenceSerializer(rows, many=True).data)

    @extend_schema(request=serializers.TakeOverSerializer,
                   responses=serializers.TakenOverSerializer)
    @consequences.mapping.post
    def take_over(self, request, pk=None):
        """Take over the rows with these tokens, or all open ones: all of them or none."""
        survey, wanted = self._internal(), self.validated(serializers.TakeOverSerializer)
        return Response({"codes": services.apply_consequences(
            actor=request.user, survey=survey, tokens=wanted.get("tokens"))})

    @extend_schema(responses=serializers.SurveyDecisionSerializer(many=True))
    @action(detail=True, pagination_class=None, filterset_fields=None)
    def decisions(self, request, pk=None):
        """Decisions on going ahead, newest first."""
        found = self._internal().decisions.all()
        return Response(serializers.SurveyDecisionSerializer(found, many=True).data)

    @extend_schema(request=serializers.SurveyDecisionSerializer,
                   responses={201: serializers.SurveyDecisionSerializer})
    @decisions.mapping.post
    def decide(self, request, pk=None):
        """Decide on going ahead."""
        made = services.decide(actor=request.user, survey=self._internal(),
                               **self.validated(serializers.SurveyDecisionSerializer))
        return Response(serializers.SurveyDecisionSerializer(made).data,
                        status=status.HTTP_201_CREATED)
