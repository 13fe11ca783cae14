"""Workbooks of a plan: how it stands today, and as it was agreed."""

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action

from delivery.planning.document_files import planning_file
from engagements.web.file_responses import (
    LANGUAGE,
    IgnoreAcceptHeader,
    attached,
    chosen_language,
    schema_of,
)
from engagements.web.form_actions import XLSX

VERSION = OpenApiParameter("version", OpenApiTypes.INT, OpenApiParameter.PATH)


class PlanWorkbook:
    """Mixed into the viewset of plans."""

    @extend_schema(responses=schema_of(XLSX))
    @action(detail=True, content_negotiation_class=IgnoreAcceptHeader)
    def xlsx(self, request, pk=None):
        """The plan with its computed dates as a workbook."""
        from delivery.planning.plan.plan_xlsx import plan_xlsx  # openpyxl: not at start

        plan = self.get_object()
        return attached(plan_xlsx(plan), XLSX, f"{plan.engagement.code}-plan.xlsx", plan)

    @extend_schema(parameters=[LANGUAGE, VERSION], responses=schema_of(XLSX))
    @action(detail=True, content_negotiation_class=IgnoreAcceptHeader,
            url_path=r"baselines/(?P<version>\d+)/xlsx")
    def baseline_xlsx(self, request, pk=None, version=None):
        """The stored workbook of a baseline; 409 until it is stored."""
        baseline = get_object_or_404(self.get_object().baselines, version=version)
        language = chosen_language(request)
        return attached(planning_file(baseline, language), XLSX,
                        f"{baseline.file_name}-{language}.xlsx", baseline)
