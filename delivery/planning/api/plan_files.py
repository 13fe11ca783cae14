"""The workbook of a plan."""

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action

from engagements.web.file_responses import IgnoreAcceptHeader, attached, schema_of
from engagements.web.form_actions import XLSX


class PlanWorkbook:
    """Mixed into the viewset of plans."""

    @extend_schema(responses=schema_of(XLSX))
    @action(detail=True, content_negotiation_class=IgnoreAcceptHeader)
    def xlsx(self, request, pk=None):
        """The plan with its computed dates as a workbook."""
        from delivery.planning.plan.plan_xlsx import plan_xlsx  # openpyxl: not at start

        plan = self.get_object()
        return attached(plan_xlsx(plan), XLSX, f"{plan.engagement.code}-plan.xlsx", plan)
