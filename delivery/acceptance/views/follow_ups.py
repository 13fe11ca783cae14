"""Steps on conditions, issues of the trial run and warranty claims; each is one service call."""

from django.contrib import messages
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from delivery.acceptance import services
from delivery.acceptance.forms import (
    ConditionReportForm,
    FollowUpForm,
    NewDateForm,
    RepairForm,
    StepForm,
    TrialIssueForm,
)
from delivery.acceptance.models import Condition, FollowUp, WarrantyClaim
from delivery.acceptance.models.follow_up import reported_issues
from delivery.acceptance.views import review, warranty
from delivery.acceptance.views.lookups import review_of
from delivery.acceptance.web import download
from delivery.planning.models import ProjectIssue
from engagements.models import Engagement
from engagements.models.visibility import in_engagements_of
from engagements.web.form_actions import attempt_form


def _conditions(user):
    return Condition.objects.visible_to(user).select_related("review__document__engagement")


def _issues(user):
    return reported_issues().filter(in_engagements_of(user)).select_related("engagement")


def _claims(user):
    return WarrantyClaim.objects.visible_to(user).select_related("engagement", "model")


def _page_of(row) -> str:
    if isinstance(row, Condition):
        return reverse("acceptance:review", args=[row.review.document_id]) + f"#condition-{row.pk}"
    anchor = "issue" if isinstance(row, ProjectIssue) else "claim"
    return reverse("acceptance:warranty", args=[row.engagement.code]) + f"#{anchor}-{row.pk}"


def _step(rows, service, row_name: str, success, form_class=FollowUpForm):
    """The view of a step on one of the rows that the user sees; refused, it stands at its row."""
    def view(request, pk):
        row = get_object_or_404(rows(request.user), pk=pk)
        form = form_class(request.POST, request.FILES, row=row, action=request.path)
        if form.is_valid() and attempt_form(form, lambda: service(
                actor=request.user, **{row_name: row}, **form.cleaned_data)):
            messages.success(request, success)
            return redirect(_page_of(row))
        if isinstance(row, Condition):
            return review.page(request, review_of(request, row.review.document_id), 400,
                               refused=form)
        return warranty.page(request, row.engagement, 400, refused=form)

    return require_POST(view)


condition_report = _step(_conditions, services.report_condition, "condition", gettext_lazy(
    "Reported; awaiting the customer's confirmation."), ConditionReportForm)
condition_close = _step(_conditions, services.close_condition, "condition",
                        gettext_lazy("Issue closed."))
condition_send_back = _step(_conditions, services.send_back_condition, "condition",
                            gettext_lazy("Sent back; the team is notified."), NewDateForm)
condition_reopen = _step(_conditions, services.reopen_condition, "condition",
                         gettext_lazy("Reopened; the team is notified."), NewDateForm)
issue_comment = _step(_issues, services.comment_issue, "issue", gettext_lazy("Comment added."))
issue_resolve = _step(_issues, services.resolve_issue, "issue", gettext_lazy("Issue closed."))
claim_take = _step(_claims, services.take_claim, "claim", gettext_lazy("You work on it now."),
                   StepForm)
claim_repair = _step(_claims, services.report_repair, "claim", gettext_lazy(
    "Reported; awaiting the customer's confirmation."), RepairForm)
claim_close = _step(_claims, services.close_claim, "claim", gettext_lazy("The claim is closed."),
                    StepForm)
claim_send_back = _step(_claims, services.send_back_claim, "claim",
                        gettext_lazy("Sent back; the team is notified."))


@require_POST
def trial_issue(request, code):
    engagement = get_object_or_404(Engagement.objects.visible_to(request.user), code=code)
    form = TrialIssueForm(request.POST, request.FILES, engagement=engagement)
    if form.is_valid() and attempt_form(form, lambda: services.report_trial_issue(
            actor=request.user, engagement=engagement, **form.cleaned_data)):
        messages.success(request, _("Reported; the team is notified."))
        return redirect("acceptance:warranty", code)
    return warranty.page(request, engagement, 400, issue_form=form)


@require_GET
def follow_up_file(request, pk):
    found = get_object_or_404(FollowUp.objects.visible_to(request.user).exclude(file=""), pk=pk)
    return download(found.file, found.file_name)
