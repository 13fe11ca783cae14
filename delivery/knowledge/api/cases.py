"""REST endpoints of solved cases. Each write is one service call."""

from django.db.models import Prefetch
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins

from delivery.knowledge import queries
from delivery.knowledge.models import CaseEvidence, SolvedCase
from delivery.knowledge.serializers import (
    CaseApprovalSerializer,
    FurtherJobSerializer,
    RetirementSerializer,
    SolvedCaseSerializer,
)
from delivery.knowledge.services import cases as services
from engagements.web.row_action import RowAction
from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating, updating
from toolreaders.number_parsing import whole_number
from workers.models import Job

ASKED = [
    OpenApiParameter("q", OpenApiTypes.STR, description="Words of the case"),
    OpenApiParameter("retired", OpenApiTypes.STR, enum=["yes"],
                     description="The retired ones instead of those in force"),
    OpenApiParameter("approved", OpenApiTypes.STR, enum=["no"],
                     description="Only those whose text nobody has approved"),
    OpenApiParameter("job", OpenApiTypes.INT,
                     description="Those in force whose signature this failed job shows"),
]


@extend_schema_view(list=extend_schema(parameters=ASKED))
class SolvedCaseViewSet(mixins.CreateModelMixin, mixins.UpdateModelMixin, ScopedViewSet):
    """Solved problems: signature, cause and cure, for the firm's people: those of their
    engagements, and those in force whose text somebody approved for all."""

    queryset = SolvedCase.objects.all()
    serializer_class = SolvedCaseSerializer
    filterset_fields = ["error_code", "diagnosis", "tool"]
    query_parameters = ("q", "retired", "approved", "job")
    approve = RowAction(
        services.approve_case, "case",
        "Share the case with all engagements, with the text that you read; not by a token.",
        CaseApprovalSerializer)
    retire = RowAction(services.retire_case, "case",
                       "Propose it no longer; it stays readable within its engagement.",
                       RetirementSerializer)
    restore = RowAction(services.restore_case, "case", "Propose a retired case again.")
    evidence = RowAction(services.add_evidence, "case", "Note a further job with the case.",
                         FurtherJobSerializer)
    _add = creating(services.add_case, "seen")
    _change = updating(services.update_case, "case", "job", "issue", "verdict", "cured_by")

    def perform_create(self, serializer):
        self._add(serializer)
        serializer.instance = self._counted(serializer.instance)

    def perform_update(self, serializer):
        self._change(serializer)
        serializer.instance = self._counted(serializer.instance)

    def _counted(self, case: SolvedCase) -> SolvedCase:
        """The case as `get_queryset` gives it: with its counts and the evidence one may see."""
        return self.get_queryset().get(pk=case.pk)

    def get_queryset(self):
        user = self.request.user
        rows = super().get_queryset().noted().prefetch_related(Prefetch(
            "evidence", CaseEvidence.objects.visible_to(user), to_attr="visible_evidence"))
        return self._asked(rows) if self.action == "list" else rows

    def _asked(self, rows):
        asked, user = self.request.query_params, self.request.user
        if "job" in asked:
            job = get_object_or_404(Job.objects.visible_to(user),
                                    pk=whole_number(asked["job"]) or 0)
            rows = rows.filter(pk__in=[match.case.pk for match in queries.matches_of(job, user)])
        return queries.filtered_cases(rows, asked)


routes = [("solved-cases", SolvedCaseViewSet, "solved-case")]
