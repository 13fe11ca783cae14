"""Templates of jobs: chosen and saved on the job form, managed on a page of their own."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from engagements.access import Can, allowed, require
from engagements.models import User
from engagements.web.form_actions import attempt, attempt_form
from engagements.web.paging import page_of
from toolreaders.number_parsing import whole_number
from workers import kinds
from workers.forms.jobs import JobForm
from workers.jobs import job_template_values
from workers.kinds import JobKind
from workers.models import JobTemplate
from workers.services import job_templates as services

OFFERED = 12  # on the job form; all of them are on the page of templates


def of_kind(user: User, kind: JobKind | None) -> list[JobTemplate]:
    """Templates that the form of a kind offers."""
    if kind is None:
        return []
    return list(JobTemplate.objects.visible_to(user).filter(kind=kind.code)[:OFFERED])


def asked(request: HttpRequest, kind: JobKind | None) -> JobTemplate | None:
    """The template that the address names; 404 for none of the kind."""
    if kind is None or (key := whole_number(request.GET.get("template"))) is None:
        return None
    return get_object_or_404(JobTemplate.objects.visible_to(request.user).select_related("runtime"),
                             pk=key, kind=kind.code)


def initial(template: JobTemplate | None, kind: JobKind | None) -> dict:
    """The job form's values of a template."""
    if template is None or kind is None:
        return {}
    return {**job_template_values.values_of(template, kind),
            "runtime": job_template_values.runtime_of(template)}


def form_after_saving(request: HttpRequest, form: JobForm,
                      form_with: Callable[..., JobForm]) -> JobForm:
    """Keep the form's values as a template; the form to go on with, which holds them still.

    A field that is empty yet keeps no template from being saved; a wrong one does.
    """
    form.is_valid()
    if any(form[name].data for name in form.errors if name in form.fields):
        return form
    if attempt_form(form, lambda: services.save_template(
            actor=request.user, name=request.POST.get("template_name", ""), kind=form.kind.code,
            parameters=form.parameters(), runtime=form.cleaned_data.get("runtime"))):
        messages.success(request, _("The template is saved."))
        return form_with(initial={name: form[name].value() for name in form.fields})
    return form


@require_GET
def templates(request):
    """All templates, or those of a kind, with what they hold."""
    require(request.user, Can.VIEW_INTERNAL)
    rows = JobTemplate.objects.visible_to(request.user).select_related("runtime", "created_by")
    if code := request.GET.get("kind"):
        rows = rows.filter(kind=code)
    page = page_of(rows, request.GET, 30)
    return render(request, "workers/job_templates.html", {
        "page": page, "rows": [(row, _shown(row)) for row in page],
        "may_manage": allowed(request.user, Can.MANAGE) or allowed(request.user, Can.OPERATE)})


def _shown(template: JobTemplate) -> list[tuple[str, str]]:
    """Labels and values for people."""
    declared = {p.name: p for kind in kinds.all_kinds() if kind.code == template.kind
                for p in kind.parameters}
    return [(declared[name].label, declared[name].shown(value)) if name in declared
            else (name, value) for name, value in template.parameters.items()]


def _template(request: HttpRequest, pk: int) -> JobTemplate:
    return get_object_or_404(JobTemplate.objects.visible_to(request.user), pk=pk)


@require_POST
def rename(request, pk):
    template = _template(request, pk)
    attempt(request, lambda: services.rename_template(
        actor=request.user, template=template, name=request.POST.get("name", "")), _("Saved."))
    return redirect("workers:job_templates")


@require_POST
def delete(request, pk):
    template = _template(request, pk)
    attempt(request, lambda: services.delete_template(actor=request.user, template=template),
            _("The template is deleted."))
    return redirect("workers:job_templates")
