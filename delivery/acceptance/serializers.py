"""Reviews, signatures and evidence bundles as the API shows them."""

from rest_framework import serializers

from delivery.acceptance.models import (
    Condition,
    EvidenceBundle,
    ModelDecision,
    Review,
    ReviewComment,
    Signature,
    Signer,
)
from delivery.acceptance.models.review import CHOSEN


class ConditionSerializer(serializers.ModelSerializer):
    model = serializers.SlugRelatedField("code", read_only=True)

    class Meta:
        model = Condition
        fields = ["id", "model", "description", "owner", "due_on", "effect", "report",
                  "reported_at", "closed_at"]
        read_only_fields = ["report", "reported_at", "closed_at"]


class NewConditionSerializer(serializers.Serializer):
    """An outstanding issue; `model` is a model's code, empty for the whole document."""

    description = serializers.CharField(max_length=400)
    model = serializers.CharField(max_length=24, required=False, default="", allow_blank=True)
    owner = serializers.CharField(max_length=80)
    due_on = serializers.DateField()
    effect = serializers.ChoiceField(Condition.Effect.choices, default=Condition.Effect.BLOCKS)


class CommentSerializer(serializers.ModelSerializer):
    author = serializers.StringRelatedField()

    class Meta:
        model = ReviewComment
        fields = ["author", "text", "at"]
        read_only_fields = ["author", "at"]


class ModelDecisionSerializer(serializers.ModelSerializer):
    """The decision on one model, named by its code."""

    model = serializers.CharField(source="model.code", max_length=24)

    class Meta:
        model = ModelDecision
        fields = ["model", "decision", "reason"]

    def to_internal_value(self, data) -> dict:
        found = super().to_internal_value(data)
        return {**found, "model": found["model"]["code"]}


class ReviewSignatureSerializer(serializers.ModelSerializer):
    signer = serializers.StringRelatedField()

    class Meta:
        model = Signature
        fields = ["signer", "name", "capacity", "signed_hash", "file_hashes", "mark",
                  "scan_sha256", "at"]
        read_only_fields = fields


class SignerSerializer(serializers.ModelSerializer):
    user = serializers.StringRelatedField()

    class Meta:
        model = Signer
        fields = ["user", "position", "state", "reason", "answered_at"]
        read_only_fields = fields


class ReviewSerializer(serializers.ModelSerializer):
    conditions = ConditionSerializer(many=True, read_only=True)
    comments = CommentSerializer(many=True, read_only=True)
    signatures = ReviewSignatureSerializer(many=True, read_only=True)
    signers = SignerSerializer(many=True, read_only=True)
    model_decisions = ModelDecisionSerializer(many=True, read_only=True)

    class Meta:
        model = Review
        fields = ["id", "document", "phase", "decision", "reason", "retest_on", "decided_at",
                  "opened_at", "due_on", "trial_ends_on", "model_decisions", "conditions",
                  "comments", "signers", "signatures"]
        read_only_fields = fields


class DecisionSerializer(serializers.Serializer):
    """The customer's decision, of the whole and, where they differ, of single models."""

    decision = serializers.ChoiceField(CHOSEN)
    reason = serializers.CharField(required=False, default="", allow_blank=True)
    retest_on = serializers.DateField(required=False, default=None, allow_null=True)
    conditions = NewConditionSerializer(many=True, required=False, default=list)
    models = ModelDecisionSerializer(many=True, required=False, default=list)


class IdentifySerializer(serializers.Serializer):
    """Who wants to sign; a one-time code goes to the account's e-mail address."""

    name = serializers.CharField(max_length=80)
    capacity = serializers.CharField(max_length=80)
    agrees = serializers.BooleanField(help_text="to the terms of signing")


class SignSerializer(serializers.Serializer):
    """The code and the form of the signature."""

    code = serializers.CharField(max_length=12)
    mark = serializers.ChoiceField(Signature.Mark.choices, default=Signature.Mark.TYPED)
    strokes = serializers.JSONField(required=False, default=list)
    scan = serializers.FileField(required=False, default=None, allow_null=True)


class DeclineSerializer(serializers.Serializer):
    reason = serializers.CharField(max_length=400)


class BundleSerializer(serializers.ModelSerializer):
    class Meta:
        model = EvidenceBundle
        fields = ["id", "document", "size", "sha256", "is_practice", "withheld", "created_at"]
        read_only_fields = fields
