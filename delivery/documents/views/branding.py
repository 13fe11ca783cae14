"""Pages on which an administrator sets document branding, with a preview beside the form."""

from django.db.models import Q
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.documents.bilingual import LANGUAGES
from delivery.documents.branding.logos import as_uri
from delivery.documents.branding.theme import current
from delivery.documents.branding_sample import sample_page, sample_pdf
from delivery.documents.forms import BrandingForm
from delivery.documents.models import BrandingVersion, CompanyProfile
from delivery.documents.services.branding import proposed, save_branding
from engagements.access import require_administrator
from engagements.errors import DeskError, InvalidInput
from engagements.models import Customer
from engagements.models.engagement import localized
from engagements.web.form_actions import attempt_form
from engagements.web.paging import page_of

SHOWN_VERSIONS = 20
CUSTOMERS_PER_PAGE = 50


@require_GET
def branding_list(request):
    """The firm's theme, and the customers with what they have of their own."""
    require_administrator(request.user)
    company, newest = CompanyProfile.current(), {}
    page = page_of(Customer.objects.all(), request.GET, CUSTOMERS_PER_PAGE)
    rows = BrandingVersion.objects.filter(
        Q(customer=None) | Q(customer__in=[one.pk for one in page])).select_related("made_by")
    for row in rows.order_by("version").defer("logo", "partner_logo"):
        newest[row.customer_id] = row
    return render(request, "delivery/reports/branding_list.html", {
        "company": localized(company.name, company.name_en), "firm": newest.get(None),
        "page": page, "customers": [(one, newest.get(one.pk)) for one in page]})


@require_http_methods(["GET", "POST"])
def firm(request):
    return _edit(request, None)


@require_http_methods(["GET", "POST"])
def customer(request, pk):
    require_administrator(request.user)
    return _edit(request, get_object_or_404(Customer, pk=pk))


def _edit(request, whose: Customer | None):
    require_administrator(request.user)
    stored = current(whose) or BrandingVersion(customer=whose)
    form = _form(request, whose, stored)
    if form.is_valid() and attempt_form(form, lambda: save_branding(
            actor=request.user, customer=whose, **form.for_service())):
        return redirect("reports:branding", whose.pk) if whose else redirect(
            "reports:branding_firm")
    preview = reverse("reports:preview_customer", args=[whose.pk]) if whose else reverse(
        "reports:preview_firm")
    versions = BrandingVersion.objects.filter(customer=whose).select_related("made_by").defer(*(
        "logo", "partner_logo")).order_by("-version")
    return render(request, "delivery/reports/branding.html", {
        "form": form, "customer": whose, "versions": versions[:SHOWN_VERSIONS],
        "languages": [("zh-hans", "中文"), ("en", "English")], "preview": preview,
        "logos": [(label, as_uri(picture)) for label, picture in (
            (_("Our logo"), stored.logo), (_("Customer's logo"), stored.partner_logo))
            if picture]})


def _form(request, whose: Customer | None, stored: BrandingVersion) -> BrandingForm:
    posted = request.method == "POST"
    return BrandingForm(request.POST if posted else None, request.FILES if posted else None,
                        instance=stored, is_firm=whose is None)


@require_POST
def firm_preview(request):
    return _preview(request, None)


@require_POST
def customer_preview(request, pk):
    require_administrator(request.user)
    return _preview(request, get_object_or_404(Customer, pk=pk))


def _preview(request, whose: Customer | None):
    """A sample in the posted theme, nothing stored: sheets for a frame, or with `pdf` the PDF."""
    require_administrator(request.user)
    name, _colon, language = request.POST.get("show", "").partition(":")
    form = _form(request, whose, current(whose) or BrandingVersion(customer=whose))
    try:
        if not form.is_valid():
            raise InvalidInput(" ".join(e for errors in form.errors.values() for e in errors))
        theme = proposed(whose, **form.for_service())
        language = language if language in LANGUAGES else LANGUAGES[0]
        if name == "pdf":
            return HttpResponse(sample_pdf(theme, language), content_type="application/pdf")
        return HttpResponse(sample_page(theme, language))
    except DeskError as error:
        return JsonResponse({"detail": error.message}, status=422)
