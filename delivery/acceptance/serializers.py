"""Reviews and evidence bundles as the API shows them."""

from rest_framework import serializers

from delivery.acceptance.models import (
    Condition,
    EvidenceBundle,
    Review,
    ReviewComment,
    Signature,
)


class ConditionSerializer(serializers.ModelSerializer):
    class Meta:
        model = Condition
        fields = ["description", "owner", "due_on", "closed_at"]
        read_only_fields = ["closed_at"]


class CommentSerializer(serializers.ModelSerializer):
    author = serializers.StringRelatedField()

    class Meta:
        model = ReviewComment
        fields = ["author", "text", "at"]
        read_only_fields = ["author", "at"]


class ReviewSignatureSerializer(serializers.ModelSerializer):
    signer = serializers.StringRelatedField()

    class Meta:
        model = Signature
        fields = ["signer", "name", "capacity", "signed_hash", "at"]
        read_only_fields = ["signer", "signed_hash", "at"]


class ReviewSerializer(serializers.ModelSerializer):
    conditions = ConditionSerializer(many=True, read_only=True)
    comments = CommentSerializer(many=True, read_only=True)
    signatures = ReviewSignatureSerializer(many=True, read_only=True)

    class Meta:
        model = Review
        fields = ["id", "document", "decision", "reason", "decided_at", "opened_at",
                  "conditions", "comments", "signatures"]
        read_only_fields = fields


class DecisionSerializer(serializers.Serializer):
    """The customer's decision."""

    decision = serializers.ChoiceField(Review.Decision.choices)
    reason = serializers.CharField(required=False, default="", allow_blank=True)
    conditions = ConditionSerializer(many=True, required=False, default=list)


class BundleSerializer(serializers.ModelSerializer):
    class Meta:
        model = EvidenceBundle
        fields = ["id", "document", "size", "sha256", "is_practice", "created_at"]
        read_only_fields = fields
