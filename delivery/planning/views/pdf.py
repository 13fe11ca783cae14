"""Minutes, weekly reports, change orders and timesheets as PDF."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_GET

from delivery.planning import pdf_documents
from delivery.planning.models import ChangeRequest, Meeting, Timesheet, WeeklyReport
from engagements.errors import DeskError

BY_KIND = {"minutes": (Meeting, pdf_documents.minutes_pdf), "weekly": (WeeklyReport,
                                                                       pdf_documents.weekly_pdf),
           "change": (ChangeRequest, pdf_documents.change_pdf),
           "timesheet": (Timesheet, pdf_documents.timesheet_pdf)}
PAGE_OF = {"minutes": "planning:meeting", "weekly": "planning:weekly",
           "change": "planning:change", "timesheet": "planning:timesheet"}


@require_GET
def document_pdf(request, kind, pk, language):
    """A document of a row that the user may see; where it cannot be made, its page says why."""
    model, render = BY_KIND[kind]
    row = get_object_or_404(
        model.objects.visible_to(request.user).select_related("engagement__customer"), pk=pk)
    try:
        data = render(row, language)
    except DeskError as error:
        messages.error(request, error.message)
        return redirect(PAGE_OF[kind], pk)
    name = f"{str(row).split(' ')[0]}-{language}.pdf"
    return HttpResponse(data, content_type="application/pdf",
                        headers={"Content-Disposition": f'inline; filename="{name}"'})
