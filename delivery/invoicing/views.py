"""Pages of the ledger of payment milestones; each view calls one service."""

from django.contrib import messages
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import get_language, ngettext, override
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from delivery.documents.office.streamed_workbook import streamed_workbook
from delivery.invoicing import services
from delivery.invoicing.forms import (
    CreditNoteForm,
    InvoiceForm,
    PaymentForm,
    PaymentsFileForm,
)
from delivery.invoicing.ledger import (
    LedgerState,
    ages_of,
    asked_for,
    entries_of,
    milestones_of,
)
from delivery.invoicing.models import Invoice
from engagements.access import Can, require
from engagements.web.form_actions import XLSX, attempt_form
from engagements.web.paging import page_of

PER_PAGE = 25
BATCH = 200  # milestones whose figures are read together for the workbook


def _found(request):
    """The milestones that the page's filters leave."""
    require(request.user, Can.PRICE)
    return asked_for(request.user, request.GET)


@require_GET
def ledger(request):
    page = page_of(_found(request), request.GET, PER_PAGE)
    return render(request, "delivery/invoicing/ledger.html", {
        "page": page, "entries": entries_of(page), "states": LedgerState.choices,
        "ages": ages_of(request.user), "query": request.GET.urlencode()})


@require_GET
def ledger_xlsx(request):
    """All that the filters leave, for the finance system."""
    headings = [_("Milestone ID"), _("Engagement"), _("Customer"), _("Milestone"), "%",
                _("Currency"), _("Amount incl. tax"), _("Released by"), _("State"),
                _("Invoiced"), _("Paid"), _("Invoices"), _("Payable by"), _("Days overdue")]
    return StreamingHttpResponse(
        streamed_workbook(_("Milestones"), headings, _batches(_found(request), get_language())),
        content_type=XLSX,
        headers={"Content-Disposition": 'attachment; filename="milestones.xlsx"'})


def _batches(milestones, language: str):
    """Rows in the language of the request, which may be over by then."""
    keys = list(milestones.values_list("pk", flat=True))
    for n in range(0, len(keys), BATCH):
        with override(language):
            batch = list(map(_cells, entries_of(milestones.filter(pk__in=keys[n:n + BATCH]))))
        yield batch


def _cells(entry) -> list:
    return [entry.milestone.pk, entry.engagement.code, entry.engagement.customer.localized_name,
            entry.milestone.localized_name, entry.milestone.percent, entry.currency, entry.amount,
            entry.document.number if entry.document else "", str(entry.state.label),
            entry.invoiced, entry.paid, " ".join(map(str, entry.invoices)), entry.due_on,
            entry.days_overdue or None]


@require_http_methods(["GET", "POST"])
def invoice_new(request, pk):
    milestone = get_object_or_404(milestones_of(request.user).select_related(
        "plan__engagement"), pk=pk)
    require(request.user, Can.PRICE)
    entry = entries_of([milestone])[0]
    return _form_page(
        request, InvoiceForm(request.POST or None), _("Invoice for “%(name)s”") % {
            "name": milestone.localized_name}, milestone.plan.engagement,
        lambda fields: services.add_invoice(actor=request.user, milestone=milestone, **fields),
        entry)


@require_http_methods(["GET", "POST"])
def credit_new(request, pk):
    invoice = _invoice(request, pk)
    return _form_page(
        request, CreditNoteForm(request.POST or None),
        _("Credit note for %(number)s") % {"number": invoice}, invoice.engagement,
        lambda fields: services.add_credit_note(actor=request.user, invoice=invoice, **fields))


@require_http_methods(["GET", "POST"])
def payment_new(request, pk):
    invoice = _invoice(request, pk)
    return _form_page(
        request, PaymentForm(request.POST or None),
        _("Payment on %(number)s") % {"number": invoice}, invoice.engagement,
        lambda fields: services.add_payment(actor=request.user, invoice=invoice, **fields))


def _invoice(request, pk) -> Invoice:
    invoice = get_object_or_404(Invoice.objects.visible_to(request.user).select_related(
        "engagement", "milestone"), pk=pk)
    require(request.user, Can.PRICE)
    return invoice


def _form_page(request, form, title, engagement, act, entry=None):
    place = f"{reverse('invoicing:ledger')}?engagement={engagement.code}"
    if form.is_valid() and attempt_form(form, lambda: act(form.cleaned_data)):
        return redirect(place)
    return render(request, "delivery/invoicing/form.html", {
        "form": form, "title": title, "cancel_url": place, "entry": entry,
        "engagement": engagement, "submit_label": _("Save")})


@require_http_methods(["GET", "POST"])
def payments_import(request):
    require(request.user, Can.PRICE)
    form = PaymentsFileForm(request.POST or None, request.FILES or None)
    made = attempt_form(form, lambda: (services.import_payments(
        actor=request.user, upload=form.cleaned_data["file"]),)) if form.is_valid() else None
    if made:
        messages.success(request, ngettext("%(n)d payment recorded.", "%(n)d payments recorded.",
                                           len(made[0])) % {"n": len(made[0])})
        return redirect("invoicing:ledger")
    return render(request, "delivery/invoicing/form.html", {
        "form": form, "title": _("Payments from the finance system"),
        "cancel_url": reverse("invoicing:ledger"), "submit_label": _("Import")})
