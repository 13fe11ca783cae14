"""Reports of accredited laboratories as the API shows them."""

from rest_framework import serializers

from delivery.acceptance.models import ThirdPartyReport
from engagements.serializers import VisibleEngagement


class ThirdPartyReportSerializer(serializers.ModelSerializer):
    """A laboratory's report; `sha256` is of its file, which the artifact holds."""

    engagement = serializers.SlugRelatedField("code", read_only=True)
    sha256 = serializers.CharField(source="artifact.sha256", read_only=True)
    recorded_by = serializers.SlugRelatedField("username", read_only=True)

    class Meta:
        model = ThirdPartyReport
        fields = ["id", "engagement", "laboratory", "cnas_number", "cma_number", "report_number",
                  "issued_on", "scope", "artifact", "sha256", "recorded_by", "at",
                  "withdrawn_at", "withdrawal"]
        read_only_fields = fields


class NewThirdPartyReportSerializer(serializers.Serializer):
    engagement = VisibleEngagement()
    laboratory = serializers.CharField(max_length=160)
    cnas_number = serializers.CharField(max_length=40, required=False, default="",
                                        allow_blank=True)
    cma_number = serializers.CharField(max_length=40, required=False, default="",
                                       allow_blank=True)
    report_number = serializers.CharField(max_length=80)
    issued_on = serializers.DateField()
    scope = serializers.CharField(max_length=4000)
    file = serializers.FileField()
