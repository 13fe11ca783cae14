"""Pages of price lists, their import, and the discount limits."""

from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.documents.models import Currency
from delivery.quotes import services
from delivery.quotes.models import PriceImport, RateCard, TaxRate
from delivery.quotes.prices.forms import CloseForm, ColumnsForm, LimitsForm, UploadForm
from delivery.quotes.prices.table import price_table
from delivery.quotes.snapshot import grade_label
from engagements.access import Can, require, require_administrator
from engagements.web.form_actions import attempt, attempt_form, show_errors
from engagements.web.paging import page_of

PREVIEW = 50


@require_GET
def rate_cards(request):
    require(request.user, Can.VIEW_INTERNAL)
    cards = [{"card": card, "difference": services.source_difference(card),
              "count": card.lines.count(), "is_valid": card.is_valid_on(timezone.localdate())}
             for card in RateCard.objects.all()[:100]]
    return render(request, "delivery/quotes/rate_cards.html", {
        "cards": cards, "taxes": TaxRate.objects.all(), "currencies": Currency.objects.all(),
        "imports": PriceImport.objects.filter(card=None).defer("rows")[:20]})


@require_GET
def rate_card(request, pk):
    require(request.user, Can.VIEW_INTERNAL)
    card = get_object_or_404(RateCard, pk=pk)
    page = page_of(card.lines.all(), request.GET, 100)
    grades = card.lines.exclude(grade="").filter(unit="person_day").order_by(
        "-unit_price").values_list("grade", "unit_price").distinct()
    return render(request, "delivery/quotes/rate_card.html", {
        "card": card, "page": page, "computed": services.computed_total(card),
        "difference": services.source_difference(card), "close_form": CloseForm(),
        "grades": [(grade_label(grade), price) for grade, price in grades],
        "is_valid": card.is_valid_on(timezone.localdate())})


@require_POST
def rate_card_close(request, pk):
    require(request.user, Can.PRICE)
    card, form = get_object_or_404(RateCard, pk=pk), CloseForm(request.POST)
    if form.is_valid():
        attempt(request, lambda: services.close_rate_card(
            actor=request.user, card=card, **form.cleaned_data), _("Validity saved."))
    else:
        show_errors(request, form)
    return redirect("quotes:rate_card", pk)


@require_http_methods(["GET", "POST"])
def import_new(request):
    require(request.user, Can.PRICE)
    form = UploadForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        fields = form.cleaned_data
        upload = fields.pop("file")
        made = attempt_form(form, lambda: services.start_import(
            actor=request.user, upload=upload, file_name=upload.name, **fields))
        if made:
            return redirect("quotes:import", made.pk)
    return render(request, "delivery/quotes/import_new.html", {"form": form})


@require_http_methods(["GET", "POST"])
def import_page(request, pk):
    require(request.user, Can.PRICE)
    source = get_object_or_404(PriceImport, pk=pk)
    if source.card_id:
        return redirect("quotes:rate_card", source.card_id)
    form = ColumnsForm(request.POST or None, source=source)
    if form.is_valid() and attempt_form(form, lambda: services.map_columns(
            actor=request.user, source=source, header_row=form.cleaned_data["header_row"],
            columns=form.columns())):
        return redirect("quotes:import", pk)
    table = price_table(source)
    return render(request, "delivery/quotes/import.html", {
        "source": source, "form": form, "table": table, "preview": table.lines[:PREVIEW],
        "errors": table.errors[:50], "warnings": table.warnings[:50],
        "more": max(0, len(table.lines) - PREVIEW)})


@require_POST
def import_confirm(request, pk):
    source = get_object_or_404(PriceImport, pk=pk)
    card = attempt(request, lambda: services.confirm_import(actor=request.user, source=source),
                   _("Price list saved."))
    return redirect("quotes:rate_card", card.pk) if card else redirect("quotes:import", pk)


@require_POST
def import_discard(request, pk):
    source = get_object_or_404(PriceImport, pk=pk)
    attempt(request, lambda: services.discard_import(actor=request.user, source=source),
            _("Discarded."))
    return redirect("quotes:rate_cards")


@require_http_methods(["GET", "POST"])
def discount_limits(request):
    require_administrator(request.user)
    form = LimitsForm(request.POST or None)
    if form.is_valid() and attempt(request, lambda: services.save_discount_limits(
            actor=request.user, limits=form.cleaned_data), _("Discount limits saved.")):
        return redirect("quotes:discount_limits")
    return render(request, "delivery/quotes/discount_limits.html", {"form": form})
