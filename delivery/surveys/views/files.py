"""Pages of the workbook: export, upload with a preview, apply."""

from typing import TYPE_CHECKING

from django.contrib import messages
from django.core import signing
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.surveys import services
from delivery.surveys.forms import UploadForm
from delivery.surveys.services import Change
from delivery.surveys.views.surveys import survey_of
from engagements.errors import DeskError
from engagements.text.text_joining import listed
from engagements.web.form_actions import XLSX, attempt_form

if TYPE_CHECKING:
    from delivery.surveys.workbook_import import Reading

PREVIEW_SECONDS = 3600


@require_GET
def workbook(request, code, language):
    from delivery.surveys.workbook_export import survey_xlsx  # openpyxl: not at start

    survey = survey_of(request, code)
    return HttpResponse(survey_xlsx(survey, language), content_type=XLSX, headers={
        "Content-Disposition":
            f'attachment; filename="survey-{survey.pk}-{language}.xlsx"'})


@require_http_methods(["GET", "POST"])
def upload(request, code):
    """Choose a workbook; see what it would change before anything is written."""
    from delivery.surveys.workbook_import import read_upload  # openpyxl: not at start

    survey = survey_of(request, code)
    services.require_filling(request.user, survey.engagement)
    form = UploadForm(request.POST or None, request.FILES or None)
    reading = None
    if form.is_valid():
        reading = attempt_form(form, lambda: read_upload(survey, form.cleaned_data["file"]))
    return render(request, "delivery/surveys/upload.html", {
        "survey": survey, "engagement": survey.engagement, "form": form, "reading": reading,
        "active": "survey", "signed": _sign(request, survey, reading) if reading else ""})


def _sign(request, survey, reading: "Reading") -> str:
    """The previewed differences, so that what is applied is what was shown."""
    rows = [[d.change.name, d.change.raw, d.change.revision] for d in reading.differences]
    return signing.dumps({"survey": survey.pk, "user": request.user.pk, "rows": rows},
                         salt="survey-upload", compress=True)


@require_POST
def upload_apply(request, code):
    survey = survey_of(request, code)
    try:
        facts = signing.loads(request.POST.get("signed", ""), salt="survey-upload",
                              max_age=PREVIEW_SECONDS)
        if (facts["survey"], facts["user"]) != (survey.pk, request.user.pk):
            raise signing.BadSignature
        saved = services.save_answers(actor=request.user, survey=survey,
                                      changes=[Change(*row) for row in facts["rows"]])
    except signing.BadSignature:
        messages.error(request, _("The preview has expired. Upload the workbook again."))
        return redirect("surveys:upload", code)
    except DeskError as error:
        messages.error(request, error.message)
        return redirect("surveys:overview", code)
    _tell(request, saved)
    return redirect("surveys:overview", code)


def _tell(request, saved) -> None:
    messages.success(request, ngettext("%(n)d answer imported.",
                                       "%(n)d answers imported.", len(saved.names))
                     % {"n": len(saved.names)})
    if saved.conflicts or saved.errors:
        names = [c.cell.question.localized_label for c in saved.conflicts] + list(saved.errors)
        messages.warning(request, _("Left unchanged because they were edited "
                                    "here in the meantime: %(names)s.") % {"names": listed(names)})
