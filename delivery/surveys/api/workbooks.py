"""REST endpoints of the workbook: download, upload with errors by cell."""

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response

from delivery.surveys import serializers, services
from engagements.web.file_responses import (
    LANGUAGE,
    IgnoreAcceptHeader,
    attached,
    chosen_language,
    schema_of,
)
from engagements.web.form_actions import XLSX


class WorkbookActions:
    """Mixed into the viewset of surveys."""

    @extend_schema(parameters=[LANGUAGE], responses=schema_of(XLSX))
    @action(detail=True, content_negotiation_class=IgnoreAcceptHeader)
    def workbook(self, request, pk=None):
        """The survey as a workbook to fill in."""
        from delivery.surveys.workbook_export import survey_xlsx  # openpyxl: not at start

        survey, language = self.get_object(), chosen_language(request)
        return attached(survey_xlsx(survey, language), XLSX,
                        f"survey-{survey.pk}-{language}.xlsx", survey)

    @extend_schema(request={"multipart/form-data": serializers.WorkbookUploadSerializer},
                   responses=serializers.WorkbookReadingSerializer)
    @workbook.mapping.post
    def workbook_upload(self, request, pk=None):
        """What a filled-in workbook would change; with `apply` it is written.

        Cells with errors are named and left as they are, the others are written.
        """
        from delivery.surveys.workbook_import import read_upload  # openpyxl: not at start

        survey = self.get_object()
        services.require_filling(request.user, survey.engagement)
        fields = self.validated(serializers.WorkbookUploadSerializer)
        reading = read_upload(survey, fields["file"])
        saved = services.Saved()
        if fields["apply"]:
            saved = services.save_answers(actor=request.user, survey=survey,
                                          changes=[d.change for d in reading.differences])
        return Response({**serializers.WorkbookReadingSerializer({
            "differences": reading.differences, "errors": reading.errors,
            "unchanged": reading.unchanged, "saved": saved.names,
            "conflicts": [c.cell.name for c in saved.conflicts]}).data})

    def get_parsers(self):
        """Files come as forms; everything else as before."""
        is_file = self.request is not None and (self.request.content_type or "").startswith(
            "multipart/")
        return [MultiPartParser()] if is_file else super().get_parsers()
