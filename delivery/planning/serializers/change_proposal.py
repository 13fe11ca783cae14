"""Change proposals as the API shows them."""

from rest_framework import serializers

from delivery.planning.changes.proposal_transitions import TRANSITIONS
from delivery.planning.models import ChangeProposal, ChangeRequest
from engagements.web.allowed_moves import AllowedMovesField
from engagements.web.engagement_codes import NamesEngagement

SOURCES = ("title", "category", "requested_by", "reason", "after")


class ChangeProposalSerializer(NamesEngagement):
    allowed_moves = AllowedMovesField(TRANSITIONS)

    class Meta:
        model = ChangeProposal
        fields = ["id", "engagement", "number", "title", "category", "model", "description",
                  "reason", "wanted_by", "state", "created_by", "created_at", "answer",
                  "answered_by", "answered_at", "change", "allowed_moves"]
        read_only_fields = ["number", "state", "created_by", "created_at", "answer",
                            "answered_by", "answered_at", "change"]
        validators = []


class ConversionSerializer(serializers.ModelSerializer):
    """What is left out comes from the proposal."""

    class Meta:
        model = ChangeRequest
        fields = [*SOURCES, "before", "effect_on_scope", "effect_on_schedule", "effect_on_price",
                  "effect_on_quality", "effect_on_criteria", "measures", "quote"]
        extra_kwargs = {name: {"required": False} for name in SOURCES}


class ProposalAnswerSerializer(serializers.Serializer):
    answer = serializers.CharField(max_length=4000)


class ProposalReasonSerializer(serializers.Serializer):
    reason = serializers.CharField(max_length=4000)
