"""Reviews, decisions, comments and signatures as the API shows them."""

from rest_framework import serializers

from assessments.models import Criterion
from delivery.acceptance.models import (
    Condition,
    Identification,
    ModelDecision,
    NoticeProof,
    Receipt,
    Review,
    ReviewComment,
    Signature,
    Signer,
)
from delivery.acceptance.models.review import CHOSEN
from delivery.acceptance.review.transitions import TRANSITIONS
from delivery.reports.models import Document
from engagements.models import User
from engagements.web.allowed_moves import AllowedMovesField


class ConditionSerializer(serializers.ModelSerializer):
    model = serializers.SlugRelatedField("code", read_only=True)
    owner_user = serializers.SlugRelatedField("username", read_only=True)

    class Meta:
        model = Condition
        fields = ["id", "model", "description", "owner", "owner_user", "due_on", "effect", "report",
                  "reported_at", "closed_at"]
        read_only_fields = ["report", "reported_at", "closed_at"]


class NewConditionSerializer(serializers.Serializer):
    """An outstanding issue; `model` is a model's code, empty for the whole document; `owner_user`
    an account of either side, `owner` a name where there is none."""

    description = serializers.CharField(max_length=400)
    model = serializers.CharField(max_length=24, required=False, default="", allow_blank=True)
    owner_user = serializers.CharField(max_length=150, required=False, default="",
                                       allow_blank=True)
    owner = serializers.CharField(max_length=80, required=False, default="", allow_blank=True)
    due_on = serializers.DateField()
    effect = serializers.ChoiceField(Condition.Effect.choices, default=Condition.Effect.BLOCKS)


class SharedComments(serializers.ListSerializer):
    """Without what the team notes for itself, unless the visitor is of the team."""

    def to_representation(self, data) -> list[dict]:
        is_outside = self.context["request"].user.is_reviewer
        return super().to_representation([row for row in data.all()
                                          if not (is_outside and row.is_internal)])


class CommentSerializer(serializers.ModelSerializer):
    """A remark; `answers` is the one that began the exchange, `is_internal` only the team sees."""

    author = serializers.StringRelatedField()
    resolved_by = serializers.StringRelatedField()

    class Meta:
        model = ReviewComment
        list_serializer_class = SharedComments
        fields = ["id", "author", "text", "at", "model", "criterion", "answers", "is_internal",
                  "resolved_at", "resolved_by"]
        read_only_fields = fields


class NewCommentSerializer(serializers.Serializer):
    """A remark on the whole, a model, a criterion of the document; or an answer to one."""

    text = serializers.CharField()
    model = serializers.CharField(max_length=24, required=False, help_text="its code")
    criterion = serializers.PrimaryKeyRelatedField(queryset=Criterion.objects.all(),
                                                   required=False)
    answers = serializers.PrimaryKeyRelatedField(queryset=ReviewComment.objects.all(),
                                                 required=False)
    is_internal = serializers.BooleanField(required=False, default=False)


class ResolveSerializer(serializers.Serializer):
    comment = serializers.PrimaryKeyRelatedField(queryset=ReviewComment.objects.all())


class ReceiptSerializer(serializers.ModelSerializer):
    received_by = serializers.StringRelatedField()

    class Meta:
        model = Receipt
        fields = ["is_complete", "remark", "received_by", "at"]
        read_only_fields = fields


class DeliverableSerializer(serializers.Serializer):
    """One line of the check-list with its newest receipt."""

    key = serializers.CharField()
    title = serializers.CharField()
    version = serializers.CharField()
    sha256 = serializers.CharField()
    url = serializers.CharField(help_text="where it is downloaded; empty for what is not a file")
    is_received = serializers.BooleanField()
    receipt = ReceiptSerializer(allow_null=True)


class NewReceiptSerializer(serializers.Serializer):
    keys = serializers.ListField(child=serializers.CharField(max_length=120), max_length=200,
                                 required=False, default=list)
    is_complete = serializers.BooleanField(required=False, default=True)
    remark = serializers.CharField(max_length=400, required=False, default="", allow_blank=True)
    missing = serializers.DictField(
        child=serializers.CharField(max_length=400), required=False, default=dict,
        help_text="of further items, by key, what is missing or wrong")


class OpenReviewSerializer(serializers.Serializer):
    document = serializers.PrimaryKeyRelatedField(queryset=Document.objects.none())

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        request = self.context.get("request")
        if request:
            self.fields["document"].queryset = Document.objects.visible_to(request.user)


class SignersSerializer(serializers.Serializer):
    """Who signs, in order; empty lets any reviewer sign alone."""

    users = serializers.ListField(child=serializers.SlugRelatedField(
        "username", queryset=User.objects.filter(is_active=True)), max_length=20)
    capacities = serializers.ListField(
        child=serializers.CharField(max_length=80, allow_blank=True), max_length=20,
        required=False, default=list, help_text="of each of them, in the same order")


class NoticeProofSerializer(serializers.ModelSerializer):
    """Proof that the customer was given notice; `file` is the receipt."""

    file = serializers.FileField(required=False, write_only=True)

    class Meta:
        model = NoticeProof
        fields = ["id", "channel", "addressee", "reference", "delivered_on", "file", "file_name",
                  "sha256", "at"]
        read_only_fields = ["file_name", "sha256", "at"]


class RetestSideSerializer(serializers.Serializer):
    outcome = serializers.CharField()
    label = serializers.CharField()
    figure = serializers.CharField()
    threshold = serializers.CharField()
    sentence = serializers.CharField()
    jobs = serializers.ListField(child=serializers.IntegerField())
    artifact = serializers.IntegerField(allow_null=True)
    criterion = serializers.IntegerField()


class RetestRowSerializer(serializers.Serializer):
    """One criterion: what the document said, and what is judged now."""

    model = serializers.CharField()
    name = serializers.CharField()
    is_rejected = serializers.BooleanField()
    is_changed = serializers.BooleanField()
    old = RetestSideSerializer(allow_null=True)
    new = RetestSideSerializer(allow_null=True)


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
        fields = ["id", "signer", "name", "capacity", "power", "signed_hash", "file_hashes",
                  "mark", "scan_sha256", "at"]
        read_only_fields = fields


class SignerSerializer(serializers.ModelSerializer):
    user = serializers.StringRelatedField()

    class Meta:
        model = Signer
        fields = ["user", "position", "capacity", "state", "reason", "answered_at"]
        read_only_fields = fields


class ReviewSerializer(serializers.ModelSerializer):
    conditions = ConditionSerializer(many=True, read_only=True)
    comments = CommentSerializer(many=True, read_only=True)
    actions = AllowedMovesField(TRANSITIONS)
    notice_proofs = NoticeProofSerializer(many=True, read_only=True)
    signatures = ReviewSignatureSerializer(many=True, read_only=True)
    signers = SignerSerializer(many=True, read_only=True)
    model_decisions = ModelDecisionSerializer(many=True, read_only=True)

    class Meta:
        model = Review
        fields = ["id", "document", "phase", "decision", "reason", "retest_on", "decided_at",
                  "opened_at", "due_on", "trial_ends_on", "model_decisions", "conditions",
                  "comments", "signers", "signatures", "notice_proofs", "terms", "actions"]
        read_only_fields = fields


class DecisionSerializer(serializers.Serializer):
    """The customer's decision, of the whole and, where they differ, of single models."""

    decision = serializers.ChoiceField(CHOSEN)
    reason = serializers.CharField(required=False, default="", allow_blank=True)
    retest_on = serializers.DateField(required=False, default=None, allow_null=True)
    conditions = NewConditionSerializer(many=True, required=False, default=list)
    models = ModelDecisionSerializer(many=True, required=False, default=list)


class IdentifySerializer(serializers.Serializer):
    """Who wants to sign; a one-time code goes to the account's e-mail address, or that of its
    authenticator app, or its passkey, is asked for."""

    name = serializers.CharField(max_length=80, required=False, default="", allow_blank=True)
    capacity = serializers.CharField(max_length=80, required=False, default="", allow_blank=True)
    agrees = serializers.BooleanField(help_text="to the terms of signing")
    way = serializers.ChoiceField(Identification.Way.choices, default=Identification.Way.MAIL)


class SignSerializer(serializers.Serializer):
    """The code or the passkey's answer, and the form of the signature."""

    code = serializers.CharField(max_length=12, required=False, default="", allow_blank=True)
    passkey = serializers.JSONField(
        required=False, default=None, allow_null=True,
        help_text="PublicKeyCredential of the authenticator, as its toJSON() gives it")
    mark = serializers.ChoiceField(Signature.Mark.choices, default=Signature.Mark.TYPED)
    strokes = serializers.JSONField(required=False, default=list)
    scan = serializers.FileField(required=False, default=None, allow_null=True)


class PasskeyRequestSerializer(serializers.Serializer):
    """What the signer's authenticators are asked; null where another way was begun, or none."""

    request = serializers.JSONField(help_text="for navigator.credentials.get, bytes in base64url")


class DelegateSerializer(serializers.Serializer):
    """The colleague who signs instead, by username."""

    user = serializers.SlugRelatedField("username", queryset=User.objects.filter(is_active=True))
    reason = serializers.CharField(max_length=400)


class DeclineSerializer(serializers.Serializer):
    reason = serializers.CharField(max_length=400)
