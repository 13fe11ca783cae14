"""Pages that change a draft. Each form brings the revision its writer saw."""

from django.contrib import messages
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from delivery.quotes import services
from delivery.quotes.forms import (
    ConditionsForm,
    CopyForm,
    LineForm,
    MilestoneFormSet,
    QuoteLineForm,
    ResourcesForm,
    StaffFormSet,
    TermsForm,
)
from delivery.quotes.models import Quote, QuoteLine
from delivery.quotes.payment import milestone_rows, staffing_rows
from delivery.quotes.views.quotes import found_quote
from engagements.access import Can, require
from engagements.errors import DeskError
from engagements.web.form_actions import attempt, attempt_form, show_errors
from toolreaders.number_parsing import whole_number


def _priced_quote(request, pk) -> Quote:
    """A quote for those who price; 403 for others, 404 for who does not see it."""
    quote = found_quote(request, pk)
    require(request.user, Can.PRICE, quote.engagement)
    return quote


def _add(request, pk, form_class, service):
    quote = _priced_quote(request, pk)
    form = form_class(request.POST, day=quote.quote_date)
    if form.is_valid():
        attempt(request, lambda: service(actor=request.user, quote=quote, **form.cleaned_data),
                _("Added."))
    else:
        show_errors(request, form)
    return redirect("quotes:quote", pk)


@require_POST
def line_add(request, pk):
    return _add(request, pk, LineForm, services.add_line)


@require_POST
def resources_add(request, pk):
    return _add(request, pk, ResourcesForm, services.add_resources)


@require_POST
def line_remove(request, pk, line):
    found = get_object_or_404(QuoteLine, pk=line, quote=found_quote(request, pk))
    attempt(request, lambda: services.remove_line(
        actor=request.user, line=found, revision=_revision(request)), _("Removed."))
    return redirect("quotes:quote", pk)


@require_http_methods(["GET", "POST"])
def line_new(request, pk):
    quote = _priced_quote(request, pk)
    form = QuoteLineForm(request.POST or None, day=quote.quote_date,
                         initial={"revision": quote.revision, "months": 1})
    if form.is_valid() and attempt_form(form, lambda: services.add_free_line(
            actor=request.user, quote=quote, **form.cleaned_data)):
        return redirect("quotes:quote", pk)
    return _form_page(request, quote, form, _("Custom line"))


@require_http_methods(["GET", "POST"])
def line_edit(request, pk, line):
    quote = _priced_quote(request, pk)
    found = get_object_or_404(QuoteLine, pk=line, quote=quote)
    form = QuoteLineForm(request.POST or None, instance=found, day=quote.quote_date,
                         initial={"revision": quote.revision})
    if form.is_valid() and attempt_form(form, lambda: services.update_line(
            actor=request.user, line=found, **form.cleaned_data)):
        return redirect("quotes:quote", pk)
    return _form_page(request, quote, form, found.localized_name)


@require_http_methods(["GET", "POST"])
def terms(request, pk):
    quote = _priced_quote(request, pk)
    form = TermsForm(request.POST or None, instance=quote, initial={"revision": quote.revision})
    if form.is_valid() and attempt_form(form, lambda: services.update_quote(
            actor=request.user, quote=quote, **form.cleaned_data)):
        return redirect("quotes:quote", pk)
    return _form_page(request, quote, form, _("Discount, validity and notes"))


@require_http_methods(["GET", "POST"])
def conditions(request, pk):
    quote = _priced_quote(request, pk)
    form = ConditionsForm(request.POST or None, quote=quote)
    if form.is_valid() and attempt_form(form, lambda: services.update_quote(
            actor=request.user, quote=quote, revision=form.cleaned_data["revision"],
            conditions=form.conditions())):
        return redirect("quotes:quote", pk)
    return _form_page(request, quote, form, _("Written conditions"))


@require_http_methods(["GET", "POST"])
def copy(request, pk):
    quote = _priced_quote(request, pk)
    form = CopyForm(request.POST or None, user=request.user)
    if form.is_valid():
        made = attempt_form(form, lambda: services.copy_quote(
            actor=request.user, quote=quote, **form.cleaned_data))
        if made:
            messages.success(request, _("A draft with these lines and terms was created; please "
                                        "check prices and conditions."))
            return redirect("quotes:quote", made.pk)
    return _form_page(request, quote, form, _("Copy to another engagement"), _("Copy"))


def _form_page(request, quote, form, title, submit_label=None):
    return render(request, "delivery/quotes/form.html", {
        "form": form, "quote": quote, "title": title, "submit_label": submit_label or _("Save")})


@require_http_methods(["GET", "POST"])
def payment(request, pk):
    """Milestones and staffing plan: two tables, one save."""
    quote = _priced_quote(request, pk)
    data = request.POST or None
    milestones = MilestoneFormSet(data, initial=quote.payment_terms, prefix="pay")
    staff = StaffFormSet(data, initial=quote.staffing, prefix="staff")
    problem, revision = "", quote.revision
    if data is not None and milestones.is_valid() and staff.is_valid():
        try:
            services.update_quote(
                actor=request.user, quote=quote, revision=_revision(request),
                payment_terms=milestone_rows(milestones.cleaned_data),
                staffing=staffing_rows(staff.cleaned_data))
            return redirect("quotes:quote", pk)
        except DeskError as error:
            problem, revision = error.message, error.details.get("revision", revision)
    return render(request, "delivery/quotes/payment.html", {
        "quote": quote, "milestones": milestones, "staff": staff, "problem": problem,
        "revision": revision})


def _revision(request) -> int | None:
    return whole_number(request.POST.get("revision"))
