"""Solved cases as the API shows them."""

from rest_framework import serializers

from assessments.models import Verdict
from delivery.knowledge.models import CaseEvidence, SolvedCase
from delivery.planning.models import ProjectIssue
from engagements.web.engagement_codes import NamesEngagement
from engagements.web.visible_field import VisibleField
from workers.models import Job


class CaseEvidenceSerializer(NamesEngagement):
    class Meta:
        model = CaseEvidence
        fields = ["id", "engagement", "shows", "job", "issue", "verdict", "added_by", "added_at"]
        read_only_fields = fields


class SolvedCaseSerializer(NamesEngagement):
    """`evidence` holds what the reader may see; `engagements_seen` counts all.

    `seen` is the `lock_version` you read; without it the newest is changed. A new case names one
    of `job`, `issue` and `verdict`.
    """

    is_seen_elsewhere = True
    seen = serializers.IntegerField(required=False, allow_null=True, write_only=True)
    versions = serializers.DictField(child=serializers.CharField(max_length=80), required=False)
    job = VisibleField(queryset=Job.objects.all(), required=False, write_only=True)
    issue = VisibleField(queryset=ProjectIssue.objects.all(), required=False, write_only=True)
    verdict = VisibleField(queryset=Verdict.objects.all(), required=False, write_only=True)
    cured_by = VisibleField(queryset=Job.objects.all(), required=False, write_only=True)
    engagements_seen = serializers.IntegerField(read_only=True, default=0)
    cures = serializers.IntegerField(read_only=True, default=0)
    evidence = CaseEvidenceSerializer(many=True, read_only=True, source="visible_evidence",
                                      default=())

    class Meta:
        model = SolvedCase
        fields = ["id", "engagement", "title", "diagnosis", "error_code", "operator", "tool",
                  "log_pattern", "versions", "cause", "cure", "is_practice", "approved_by",
                  "approved_at", "approved_hash", "retired_at", "retired_reason", "recorded_at",
                  "engagements_seen", "cures", "evidence", "job", "issue", "verdict", "cured_by",
                  "lock_version", "seen"]
        read_only_fields = ["engagement", "is_practice", "approved_by", "approved_at",
                            "approved_hash", "retired_at", "retired_reason", "recorded_at",
                            "lock_version"]


class CaseApprovalSerializer(serializers.Serializer):
    """`seen` is the `lock_version` of the text that you read."""

    seen = serializers.IntegerField()


class RetirementSerializer(serializers.Serializer):
    reason = serializers.CharField(max_length=240)


class FurtherJobSerializer(serializers.Serializer):
    """A job that failed shows the problem again, one that succeeded the cure."""

    job = VisibleField(queryset=Job.objects.all())
