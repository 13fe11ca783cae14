"""The PDF of a paper of project control, and the workbook of a plan."""

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action

from engagements.doors import XLSX
from engagements.file_answers import (
    LANGUAGE,
    PDF,
    AnyAccepted,
    attached,
    chosen_language,
    schema_of,
)


class Paper:
    """Mixed into a viewset whose rows are printed; `render` takes row and language, gives bytes."""

    render = None

    @extend_schema(parameters=[LANGUAGE], responses=schema_of(PDF))
    @action(detail=True, content_negotiation_class=AnyAccepted)
    def pdf(self, request, pk=None):
        """The row as a paper."""
        row, language = self.get_object(), chosen_language(request)
        name = f"{str(row).split(' ')[0]}-{language}.pdf"
        return attached(type(self).render(row, language), PDF, name, row)


class PlanWorkbook:
    """Mixed into the viewset of plans."""

    @extend_schema(responses=schema_of(XLSX))
    @action(detail=True, content_negotiation_class=AnyAccepted)
    def xlsx(self, request, pk=None):
        """The plan with its computed dates as a workbook."""
        from delivery.planning.spreadsheet import plan_xlsx  # openpyxl: not at start

        plan = self.get_object()
        return attached(plan_xlsx(plan), XLSX, f"{plan.engagement.code}-plan.xlsx", plan)
