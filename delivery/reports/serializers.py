"""Documents and deliverables as the API shows them."""

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from delivery.documents.models import CompanyProfile
from delivery.quotes.tax_and_discounts import APPROVERS, discount_limit
from delivery.reports import registry
from delivery.reports.models import (
    ApprovalTurn,
    Deliverable,
    Document,
    DocumentFile,
    DocumentStep,
    RenderJob,
    Step,
)
from delivery.reports.transitions import TRANSITIONS
from engagements.access import Can, allowed
from engagements.models import Engagement, Role
from engagements.web.allowed_moves import AllowedMovesField
from engagements.web.engagement_codes import NamesEngagement
from engagements.web.visible_field import VisibleField


class DocumentFileSerializer(serializers.ModelSerializer):
    name = serializers.CharField(source="served_name", read_only=True)

    class Meta:
        model = DocumentFile
        fields = ["id", "language", "format", "name", "size", "sha256", "created_at"]


class DocumentSerializer(serializers.ModelSerializer):
    """`snapshot` holds every fact of the document; `content_hash` is its SHA-256."""

    engagement = serializers.SlugRelatedField("code", read_only=True)
    files = DocumentFileSerializer(many=True, read_only=True)

    class Meta:
        model = Document
        fields = ["id", "engagement", "kind", "number", "version", "state", "content_hash",
                  "is_practice", "replaces", "change_note", "created_at", "issued_at", "files"]
        read_only_fields = fields


class DocumentStepSerializer(serializers.ModelSerializer):
    actor = serializers.CharField(read_only=True)

    class Meta:
        model = DocumentStep
        fields = ["action", "actor", "at", "comment"]


class TurnSerializer(serializers.ModelSerializer):
    """A step of the chain under which the document was submitted."""

    holder = serializers.CharField(read_only=True)
    done_by = serializers.CharField(read_only=True)

    class Meta:
        model = ApprovalTurn
        fields = ["action", "position", "title", "title_en", "role", "holder", "done_by",
                  "done_at"]


class RenderJobSerializer(serializers.ModelSerializer):
    class Meta:
        model = RenderJob
        fields = ["language", "format", "state", "error", "finished_at"]


class DocumentDetailSerializer(DocumentSerializer):
    """With its facts, written passages, files on order, and for the firm the steps of the chain."""

    steps = DocumentStepSerializer(many=True, read_only=True)
    turns = TurnSerializer(many=True, read_only=True)
    orders = RenderJobSerializer(many=True, read_only=True, source="render_jobs")
    allowed_moves = AllowedMovesField(TRANSITIONS)

    class Meta(DocumentSerializer.Meta):
        fields = [*DocumentSerializer.Meta.fields, "words", "steps", "turns", "orders",
                  "allowed_moves", "snapshot"]
        read_only_fields = fields

    def to_representation(self, instance):
        """What reviewers of the firm remarked stays within the firm."""
        shown = super().to_representation(instance)
        if not allowed(self.context["request"].user, Can.VIEW_INTERNAL):
            shown["steps"] = shown["turns"] = []
        return shown


class DraftSerializer(serializers.Serializer):
    """What a draft is made from."""

    engagement = serializers.CharField(help_text="project code")
    kind = serializers.ChoiceField(registry.choices())


class ReasonSerializer(serializers.Serializer):
    """Why a document is corrected, sent back or withdrawn."""

    reason = serializers.CharField(max_length=400)


class ReviewCommentSerializer(serializers.Serializer):
    """What the reviewer remarks."""

    comment = serializers.CharField(max_length=400, required=False, allow_blank=True, default="")


class ColleagueSerializer(serializers.Serializer):
    """To whom a review is handed over, or who co-signs it."""

    colleague = serializers.CharField(help_text="log-in name")
    reason = serializers.CharField(max_length=300, required=False, allow_blank=True, default="")


class ApprovalStepSerializer(serializers.Serializer):
    """A step of a chain; steps of one position co-sign."""

    action = serializers.ChoiceField(Step.Action.choices)
    title = serializers.CharField(max_length=60)
    title_en = serializers.CharField(max_length=60, required=False, allow_blank=True, default="")
    role = serializers.ChoiceField(
        Step._meta.get_field("role").choices, required=False, allow_blank=True, default="",
        help_text="empty: any role that may")
    is_together = serializers.BooleanField(
        write_only=True, required=False, default=False, help_text="co-signs the step before")
    position = serializers.IntegerField(read_only=True)


class ApprovalChainSerializer(serializers.Serializer):
    """The chain of a kind."""

    kind = serializers.CharField(read_only=True)
    is_shipped = serializers.BooleanField(read_only=True)
    steps = ApprovalStepSerializer(many=True)


class DiscountLimitsSerializer(serializers.Serializer):
    """The largest discount per role that approves, as a fraction."""

    def get_fields(self):
        return {role.value: serializers.DecimalField(
            max_digits=6, decimal_places=4, min_value=0, max_value=1, required=False)
            for role in APPROVERS}


@extend_schema_serializer(many=False)  # its `list` answers with the one there is
class CompanySerializer(serializers.ModelSerializer):
    """The firm's name, addresses and bank as every document prints them.

    Administrators also see and set the discount limits.
    """

    limits = DiscountLimitsSerializer(required=False)

    class Meta:
        model = CompanyProfile
        fields = ["name", "name_en", "credit_code", "address", "address_en", "phone", "email",
                  "contact_name", "contact_name_en", "bank", "bank_account", "limits"]

    def to_representation(self, instance):
        shown = super().to_representation(instance)
        if self.context["request"].user.role == Role.ADMINISTRATOR:
            shown["limits"] = DiscountLimitsSerializer(
                {role.value: discount_limit(role) for role in APPROVERS}).data
        return shown


class WordingSerializer(serializers.Serializer):
    """A standard text in both languages; drafts written from now on start with it."""

    code = serializers.CharField(read_only=True)
    zh = serializers.CharField(max_length=8000)
    en = serializers.CharField(max_length=8000, required=False, allow_blank=True, default="")
    is_shipped = serializers.BooleanField(read_only=True)


class PassageSerializer(serializers.Serializer):
    """A written passage in both languages; a line that begins with "- " is an item of a list."""

    code = serializers.CharField()
    zh = serializers.CharField(max_length=8000, allow_blank=True)
    en = serializers.CharField(max_length=8000, allow_blank=True, required=False, default="")


class ObstacleSerializer(serializers.Serializer):
    """What stands in the way of issuing, and the page that cures it."""

    sentence = serializers.CharField()
    url = serializers.CharField()


class DocumentKindSerializer(serializers.Serializer):
    """A kind of document."""

    code = serializers.CharField()
    title = serializers.CharField()
    purpose = serializers.CharField()
    formats = serializers.ListField(child=serializers.CharField())


class OwedDeliverableSerializer(NamesEngagement):
    """`seen` is the `lock_version` you read; `proof` says what fulfils it."""

    engagement = VisibleField(queryset=Engagement.objects.all())
    seen = serializers.IntegerField(required=False, allow_null=True, write_only=True)
    proof = serializers.CharField(read_only=True)

    class Meta:
        model = Deliverable
        fields = ["id", "engagement", "number", "code", "title", "title_en", "model", "rule",
                  "owner", "due_stage", "same_content_reason", "artifact", "repository", "commit",
                  "image_digest",
                  "proof", "delivered_at", "lock_version", "seen"]
        read_only_fields = ["number", "code", "artifact", "repository", "commit", "image_digest",
                            "delivered_at", "lock_version"]
        validators = []
