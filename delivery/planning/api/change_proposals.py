"""REST endpoints of change proposals. Each write is one service call."""

from rest_framework import mixins, status

from delivery.planning.models import ChangeProposal
from delivery.planning.serializers.change import ChangeRequestSerializer
from delivery.planning.serializers.change_proposal import (
    ChangeProposalSerializer,
    ConversionSerializer,
    ProposalAnswerSerializer,
    ProposalReasonSerializer,
)
from delivery.planning.services import change_proposals as services
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating


class ChangeProposalViewSet(mixins.CreateModelMixin, ScopedViewSet):
    """What people of the customer want changed."""

    queryset = ChangeProposal.objects.select_related("engagement")
    serializer_class = ChangeProposalSerializer
    filterset_fields = ["engagement", "state", "category", "model"]
    perform_create = creating(services.raise_proposal)
    convert = RowAction(
        services.convert_proposal, "proposal",
        "Draft the change request that the proposal asks for.", ConversionSerializer,
        answers=ChangeRequestSerializer, code=status.HTTP_201_CREATED)
    answer = RowAction(services.answer_proposal, "proposal",
                       "Answer a proposal that needs no change.", ProposalAnswerSerializer)
    decline = RowAction(services.decline_proposal, "proposal",
                        "Decline, with a reason that the customer reads.",
                        ProposalReasonSerializer)
    withdraw = RowAction(services.withdraw_proposal, "proposal",
                         "Its author takes an unanswered proposal back.")
