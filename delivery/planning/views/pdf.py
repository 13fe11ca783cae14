"""Minutes, weekly reports, change orders and timesheets as PDF."""

from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_GET

from delivery.documents.views.file_answers import answer_file
from delivery.planning.document_files import KINDS, planning_file


@require_GET
def document_pdf(request, kind, pk, language):
    """A document of a row that the user may see; where there is none, its page says why."""
    printed = KINDS[kind]
    row = get_object_or_404(
        printed.model.objects.visible_to(request.user).select_related("engagement__customer"),
        pk=pk)
    return answer_file(request, lambda: planning_file(row, language), target=row,
                       name=f"{str(row).split(' ')[0]}-{language}.pdf",
                       page=reverse(printed.page, args=[pk]))
