"""Pages of quotes: doors that parse, call one service and answer."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.quotes import services
from delivery.quotes.checks import run_checks
from delivery.quotes.documents import facts_of, quote_pdf
from delivery.quotes.forms import LineForm, ResourcesForm, TermsForm
from delivery.quotes.models import Quote, QuoteLine, RateCard
from delivery.quotes.spreadsheet import quote_xlsx
from engagements.access import Can, require
from engagements.doors import attempt, attempt_form
from engagements.models import Engagement

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@require_GET
def quote_list(request):
    quotes = Quote.objects.visible_to(request.user).select_related("engagement__customer")
    return render(request, "delivery/quotes/list.html", {"quotes": quotes[:200]})


@require_GET
def engagement_quotes(request, code):
    engagement = get_object_or_404(Engagement.objects.visible_to(request.user), code=code)
    quotes = Quote.objects.visible_to(request.user).filter(engagement=engagement)
    return render(request, "delivery/quotes/list.html", {
        "quotes": quotes.select_related("engagement__customer"), "engagement": engagement,
        "active": "quotes"})


@require_POST
def quote_new(request, code):
    engagement = get_object_or_404(Engagement.objects.visible_to(request.user), code=code)
    quote = attempt(request, lambda: services.create_quote(
        actor=request.user, engagement=engagement), _("A draft is made."))
    return redirect("quotes:quote", quote.pk) if quote else redirect("quotes:engagement", code)


def _quote(request, pk) -> Quote:
    return get_object_or_404(
        Quote.objects.visible_to(request.user).select_related("engagement__customer"), pk=pk)


@require_GET
def quote_page(request, pk):
    quote = _quote(request, pk)
    is_draft = quote.state == Quote.State.DRAFT
    return render(request, "delivery/quotes/quote.html", {
        "quote": quote, "facts": facts_of(quote), "rows": list(zip(
            quote.lines.all(), facts_of(quote)["lines"], strict=True)),
        "checks": run_checks(quote) if not quote.content_hash else [],
        "line_form": LineForm() if is_draft else None,
        "resources_form": ResourcesForm() if is_draft else None,
        "terms_form": TermsForm(instance=quote) if is_draft else None,
        "versions": Quote.objects.visible_to(request.user).filter(number=quote.number)})


@require_POST
def line_add(request, pk):
    quote, form = _quote(request, pk), LineForm(request.POST)
    if form.is_valid():
        attempt(request, lambda: services.add_line(
            actor=request.user, quote=quote, **form.cleaned_data), _("Added."))
    return redirect("quotes:quote", pk)


@require_POST
def resources_add(request, pk):
    quote, form = _quote(request, pk), ResourcesForm(request.POST)
    if form.is_valid():
        attempt(request, lambda: services.add_resources(
            actor=request.user, quote=quote, **form.cleaned_data), _("Added."))
    return redirect("quotes:quote", pk)


@require_POST
def line_remove(request, pk, line):
    found = get_object_or_404(QuoteLine, pk=line, quote=_quote(request, pk))
    attempt(request, lambda: services.remove_line(actor=request.user, line=found), _("Removed."))
    return redirect("quotes:quote", pk)


@require_http_methods(["GET", "POST"])
def terms(request, pk):
    quote = _quote(request, pk)
    require(request.user, Can.PRICE, quote.engagement)
    form = TermsForm(request.POST or None, instance=quote)
    if form.is_valid() and attempt_form(form, lambda: services.update_quote(
            actor=request.user, quote=Quote.objects.get(pk=pk), **form.cleaned_data)):
        return redirect("quotes:quote", pk)
    return render(request, "delivery/quotes/terms.html", {"form": form, "quote": quote})


@require_POST
def quote_move(request, pk, move):
    quote = _quote(request, pk)
    attempt(request, lambda: services.move_quote(
        actor=request.user, quote=quote, move=move, reason=request.POST.get("reason", "")),
        _("Done; the step is recorded."))
    return redirect("quotes:quote", pk)


@require_POST
def version_new(request, pk):
    quote = _quote(request, pk)
    made = attempt(request, lambda: services.new_version(actor=request.user, quote=quote),
                   _("A new version is open as a draft."))
    return redirect("quotes:quote", made.pk if made else pk)


@require_GET
def pdf(request, pk, language):
    quote = _quote(request, pk)
    return _file(quote_pdf(quote, language), "application/pdf",
                 f"{quote.number}-V{quote.version}-{language}.pdf", "inline")


@require_GET
def xlsx(request, pk, language):
    quote = _quote(request, pk)
    return _file(quote_xlsx(quote, language), XLSX,
                 f"{quote.number}-V{quote.version}-{language}.xlsx", "attachment")


def _file(data: bytes, media_type: str, name: str, how: str) -> HttpResponse:
    return HttpResponse(data, content_type=media_type,
                        headers={"Content-Disposition": f'{how}; filename="{name}"'})


@require_GET
def rate_cards(request):
    require(request.user, Can.VIEW_INTERNAL)
    cards = [{"card": card, "computed": services.computed_total(card),
              "difference": services.source_difference(card), "lines": card.lines.all()}
             for card in RateCard.objects.prefetch_related("lines")]
    return render(request, "delivery/quotes/rate_cards.html", {"cards": cards})
