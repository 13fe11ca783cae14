"""REST endpoints of change proposals. Each write is one service call."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.response import Response

from delivery.planning import serializers
from delivery.planning.models import ChangeProposal
from delivery.planning.services import change_proposals as services
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating


class ChangeProposalViewSet(mixins.CreateModelMixin, ScopedViewSet):
    """What people of the customer want changed."""

    queryset = ChangeProposal.objects.select_related("engagement")
    serializer_class = serializers.ChangeProposalSerializer
    filterset_fields = ["engagement", "state", "category", "model"]
    perform_create = creating(services.raise_proposal)

    def _done(self, service, serializer=None):
        fields = self.validated(serializer) if serializer else {}
        service(actor=self.request.user, proposal=self.get_object(), **fields)
        return self.fresh()

    @extend_schema(request=serializers.ConversionSerializer,
                   responses={201: serializers.ChangeRequestSerializer})
    @action(detail=True, methods=["post"])
    def convert(self, request, pk=None):
        """Draft the change request that the proposal asks for."""
        change = services.convert_proposal(
            actor=request.user, proposal=self.get_object(),
            **self.validated(serializers.ConversionSerializer))
        shown = serializers.ChangeRequestSerializer(change, context={"request": request})
        return Response(shown.data, status=status.HTTP_201_CREATED)

    @extend_schema(request=serializers.ProposalAnswerSerializer)
    @action(detail=True, methods=["post"])
    def answer(self, request, pk=None):
        """Answer a proposal that needs no change."""
        return self._done(services.answer_proposal, serializers.ProposalAnswerSerializer)

    @extend_schema(request=serializers.ProposalReasonSerializer)
    @action(detail=True, methods=["post"])
    def decline(self, request, pk=None):
        """Decline, with a reason that the customer reads."""
        return self._done(services.decline_proposal, serializers.ProposalReasonSerializer)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def withdraw(self, request, pk=None):
        """Its author takes an unanswered proposal back."""
        return self._done(services.withdraw_proposal)
