"""Terms, powers of attorney, outstanding issues and verification as the API shows them."""

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from delivery.acceptance.document_verification import NOT_SHA256, SHA256
from delivery.acceptance.models import AcceptanceTerms, PowerOfAttorney, Review
from engagements.models import User
from engagements.serializers import VisibleEngagement


class TermsSerializer(serializers.ModelSerializer):
    class Meta:
        model = AcceptanceTerms
        fields = ["has_preliminary", "trial_days", "review_days", "is_deemed", "clause",
                  "needs_power", "needs_third_party", "warranty_months"]
        validators = []  # the service says in a sentence what the constraint would only name


class PowerOfAttorneySerializer(serializers.ModelSerializer):
    """A power of attorney; `sha256` is of its scan."""

    engagement = serializers.SlugRelatedField("code", read_only=True)
    user = serializers.SlugRelatedField("username", read_only=True)

    class Meta:
        model = PowerOfAttorney
        fields = ["id", "engagement", "user", "capacity", "granted_by", "valid_from",
                  "valid_until", "file_name", "sha256", "at", "ended_at", "end_reason"]
        read_only_fields = fields


class NewPowerOfAttorneySerializer(serializers.Serializer):
    engagement = VisibleEngagement()
    user = serializers.SlugRelatedField("username", queryset=User.objects.filter(is_active=True))
    capacity = serializers.CharField(max_length=80)
    granted_by = serializers.CharField(max_length=120)
    valid_from = serializers.DateField()
    valid_until = serializers.DateField(required=False, default=None, allow_null=True)
    file = serializers.FileField()


class ReasonGivenSerializer(serializers.Serializer):
    reason = serializers.CharField(max_length=400)


class ConditionReportSerializer(serializers.Serializer):
    """What was done about an outstanding issue."""

    report = serializers.CharField(max_length=400)
    file = serializers.FileField(required=False, default=None, allow_null=True)


class ConditionStepSerializer(serializers.Serializer):
    """Why it is open again, with a file (PDF, PNG or JPEG) and perhaps a new due date."""

    text = serializers.CharField(max_length=2000, required=False, default="", allow_blank=True)
    file = serializers.FileField(required=False, default=None, allow_null=True)
    due_on = serializers.DateField(required=False, default=None, allow_null=True)


class VerificationSerializer(serializers.Serializer):
    number = serializers.CharField(max_length=60)
    hash = serializers.RegexField(SHA256, error_messages={"invalid": NOT_SHA256})


class VerifiedDocumentSerializer(serializers.Serializer):
    """What the public page reveals of an issued document; `decision` is empty until it is signed
    or deemed accepted."""

    number = serializers.CharField()
    version = serializers.IntegerField()
    is_replaced = serializers.BooleanField()
    is_signed = serializers.BooleanField()
    is_practice = serializers.BooleanField()
    decision = serializers.ChoiceField([("", ""), *Review.Decision.choices])


@extend_schema_serializer(many=False)  # its `list` answers with the one there is
class VerificationResultSerializer(serializers.Serializer):
    """`found` is null for any doubt."""

    found = VerifiedDocumentSerializer(allow_null=True)
