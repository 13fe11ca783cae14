from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from engagements.models import (
    ApiToken,
    ChecklistItem,
    Customer,
    Engagement,
    Membership,
    MigratedModel,
    StageComment,
    StageRecord,
    StageTransition,
    StageWaiver,
    User,
)
from engagements.services.migrated_models import MODEL_FACTS, require_model_code
from engagements.stages import TRANSITIONS, Scope, StageMove
from engagements.web.allowed_moves import AllowedMovesField
from engagements.web.engagement_codes import NamesEngagement


class CustomerSerializer(serializers.ModelSerializer):
    class Meta:
        model = Customer
        fields = "__all__"


class EngagementSerializer(serializers.ModelSerializer):
    class Meta:
        model = Engagement
        fields = ["id", "code", "name", "name_en", "customer", "contract_number", "scope",
                  "description", "description_en", "state", "starts_on", "ends_on", "created_at",
                  "ended_at", "end_reason", "settlement"]
        read_only_fields = ["state", "created_at", "ended_at", "end_reason", "settlement"]


class ClosingConditionSerializer(serializers.Serializer):
    """What has to be done before the closing; `url` is the page on which it is mended."""

    code = serializers.CharField()
    label = serializers.CharField()
    is_met = serializers.BooleanField()
    sentence = serializers.CharField()
    url = serializers.CharField()


class CloseEngagementSerializer(serializers.Serializer):
    note = serializers.CharField(label=_("Note"), required=False, allow_blank=True, default="",
                                 max_length=2000)


class CancelSerializer(serializers.Serializer):
    reason = serializers.CharField(label=_("Reason"), max_length=2000)
    settlement = serializers.CharField(
        label=_("Settlement"), max_length=4000,
        help_text=_("What was done, what is paid and what still is to be paid."))


class LoseSerializer(serializers.Serializer):
    cause = serializers.ChoiceField(Engagement.LossCause.choices, label=_("Why it was lost"))
    reason = serializers.CharField(label=_("Reason"), max_length=2000)


class ReopenSerializer(serializers.Serializer):
    reason = serializers.CharField(label=_("Reason"), max_length=2000)


class VisibleEngagement(serializers.SlugRelatedField):
    """An engagement by its code, among those that the context's `user` may see."""

    def __init__(self, **kwargs):
        super().__init__("code", queryset=Engagement.objects.all(), **kwargs)

    def get_queryset(self):
        return super().get_queryset().visible_to(self.context["user"])


class MembershipSerializer(NamesEngagement):
    class Meta:
        model = Membership
        fields = ["id", "engagement", "user", "role"]
        validators = []


class MigratedModelSerializer(NamesEngagement):
    class Meta:
        model = MigratedModel
        fields = ["id", "engagement", "code", *MODEL_FACTS, "scope", "position", "lock_version"]
        read_only_fields = ["position", "lock_version"]
        validators = []

    def validate_code(self, code: str) -> str:
        return require_model_code(code)


class ModelFactsSerializer(serializers.ModelSerializer):
    """`seen` is the lock_version that the writer read; without it whatever is there is changed."""

    seen = serializers.IntegerField(required=False, write_only=True)

    class Meta:
        model = MigratedModel
        fields = [*MODEL_FACTS, "seen"]


class ModelScopeSerializer(serializers.Serializer):
    scope = serializers.ChoiceField(choices=Scope.choices)
    reason = serializers.CharField()


class ChecklistItemSerializer(serializers.ModelSerializer):
    class Meta:
        model = ChecklistItem
        fields = ["id", "text", "text_en", "needs_evidence", "evidence", "done_by", "done_at"]


class StageTransitionSerializer(serializers.ModelSerializer):
    class Meta:
        model = StageTransition
        fields = ["move", "from_state", "to_state", "actor", "agent", "at", "comment", "checks"]


class StageRecordSerializer(serializers.ModelSerializer):
    checklist = ChecklistItemSerializer(many=True, read_only=True)
    transitions = StageTransitionSerializer(many=True, read_only=True)
    allowed_moves = AllowedMovesField(TRANSITIONS)
    method_step = serializers.CharField(read_only=True)
    assigned_to = serializers.IntegerField(source="assignment.person_id", default=None,
                                           read_only=True, allow_null=True)

    class Meta:
        model = StageRecord
        fields = ["id", "model", "stage", "method_step", "state", "started_at", "submitted_at",
                  "passed_at", "checklist", "transitions", "allowed_moves", "assigned_to"]


class StageWaiverSerializer(serializers.ModelSerializer):
    class Meta:
        model = StageWaiver
        fields = ["id", "record", "reason", "checks", "drafted_by", "drafted_at", "signed_by",
                  "signed_at", "content_hash", "revoked_by", "revoked_at"]


class WaiverDraftSerializer(serializers.Serializer):
    """`checks`: codes of the gate's checks that it lets pass; without them all that are missing."""

    reason = serializers.CharField()
    checks = serializers.ListField(child=serializers.CharField(), required=False)


class StageMoveSerializer(serializers.Serializer):
    move = serializers.ChoiceField(choices=StageMove.choices)
    comment = serializers.CharField(required=False, default="", allow_blank=True)


class BulkMoveSerializer(StageMoveSerializer):
    records = serializers.ListField(child=serializers.IntegerField(), min_length=1, max_length=1000)


class RefusalSerializer(serializers.Serializer):
    record = serializers.IntegerField(source="record.pk")
    model = serializers.CharField(source="record.model.code")
    sentence = serializers.CharField()


class BulkMovedSerializer(serializers.Serializer):
    moved = serializers.ListField(child=serializers.IntegerField())
    refused = RefusalSerializer(many=True)


class StageAssignmentSerializer(serializers.Serializer):
    person = serializers.PrimaryKeyRelatedField(queryset=User.objects.all(), allow_null=True)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=240)


class StageCommentSerializer(serializers.ModelSerializer):
    class Meta:
        model = StageComment
        fields = ["id", "record", "author", "agent", "at", "text"]
        read_only_fields = ["record", "author", "agent", "at"]


class TickSerializer(serializers.Serializer):
    item = serializers.IntegerField()
    is_done = serializers.BooleanField(default=True)
    evidence = serializers.CharField(max_length=240, default="", allow_blank=True)


class CheckSerializer(serializers.Serializer):
    code = serializers.CharField()
    label = serializers.CharField()
    is_met = serializers.BooleanField()
    sentence = serializers.CharField()
    url = serializers.CharField()
    remedy = serializers.CharField()
    needs = serializers.CharField(allow_blank=True)


class ApiTokenSerializer(NamesEngagement):
    """A token without its key."""

    is_in_force = serializers.BooleanField(read_only=True)

    class Meta:
        model = ApiToken
        fields = ["id", "owner", "name", "key_start", "scope", "engagement", "created_at",
                  "expires_at", "revoked_at", "last_used_at", "last_used_from", "is_in_force"]


class TokenFactsSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=80)
    scope = serializers.ChoiceField(ApiToken.Scope.choices, default=ApiToken.Scope.READ)
    engagement = serializers.PrimaryKeyRelatedField(
        queryset=Engagement.objects.all(), required=False, allow_null=True)
    days = serializers.IntegerField(min_value=1, required=False)


class NewTokenSerializer(TokenFactsSerializer):
    """Without an owner it is one's own."""

    owner = serializers.PrimaryKeyRelatedField(
        queryset=User.objects.filter(is_active=True), required=False)

    def get_fields(self):
        fields = super().get_fields()
        if request := self.context.get("request"):
            fields["engagement"].queryset = Engagement.objects.visible_to(request.user)
        return fields


class LogInSerializer(TokenFactsSerializer):
    username = serializers.CharField(max_length=150)
    password = serializers.CharField(max_length=256, trim_whitespace=False, write_only=True,
                                     style={"input_type": "password"})
    name = serializers.CharField(max_length=80, default="log-in")
    scope = serializers.ChoiceField(ApiToken.Scope.choices, default=ApiToken.Scope.WRITE)


class MadeTokenSerializer(serializers.Serializer):
    """The key of a new token; it is stored nowhere."""

    token = serializers.CharField()
    made = ApiTokenSerializer()


class PersonSerializer(serializers.ModelSerializer):
    password = serializers.CharField(write_only=True, required=False, trim_whitespace=False)

    class Meta:
        model = User
        fields = ["id", "username", "password", "full_name", "full_name_en", "job_title",
                  "job_title_en", "organisation", "organisation_en", "phone", "email",
                  "role", "audits_firm", "access_ends_on", "is_active", "is_service",
                  "last_login"]
        read_only_fields = ["last_login"]
