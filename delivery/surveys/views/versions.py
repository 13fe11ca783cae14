"""The page on which a begun survey is taken over to a newer version of the questionnaire."""

from django.http import Http404
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from delivery.surveys import services
from delivery.surveys.answer_values import show_value
from delivery.surveys.services.publishing import current_questionnaire
from delivery.surveys.services.version_transfer import transfer
from delivery.surveys.views.surveys import survey_of
from engagements.access import Can, require
from engagements.web.form_actions import attempt


@require_http_methods(["GET", "POST"])
def newer_version(request, code):
    """What the newest version changes; POST takes the survey over."""
    survey, target = survey_of(request, code), current_questionnaire()
    require(request.user, Can.WORK, survey.engagement)
    if request.method == "POST":
        seen = request.POST.get("version", "")
        if not (seen.isdecimal() and len(seen) < 6):
            raise Http404
        attempt(request, lambda: services.move_to_version(
            actor=request.user, survey=survey, version=int(seen)),
                _("The survey now uses the latest questions; its answers were kept."))
        return redirect("surveys:overview", code)
    found = transfer(survey, target)
    for answer in found.aside:
        answer.shown = show_value(answer.question, answer.value)
    return render(request, "delivery/surveys/newer_version.html", {
        "engagement": survey.engagement, "survey": survey, "active": "survey",
        "transfer": found, "may_move": survey.state == survey.State.DRAFT
        and survey.questionnaire_id != target.pk})
