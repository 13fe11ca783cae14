"""Pages of framework contracts; each write is one service call."""

from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.quotes import services
from delivery.quotes.forms import ChangeFrameworkForm, FrameworkForm
from delivery.quotes.frameworks import usage_of
from delivery.quotes.models import FrameworkContract, Quote
from delivery.quotes.views.quotes import found_quote
from engagements.access import Can, require
from engagements.web.form_actions import attempt, attempt_form
from engagements.web.paging import page_of
from engagements.web.row_pages import visible_engagement

PER_PAGE = 25


@require_GET
def frameworks(request):
    require(request.user, Can.PRICE)
    page = page_of(FrameworkContract.objects.select_related("customer", "card"), request.GET,
                   PER_PAGE)
    usage = usage_of(list(page))
    return render(request, "delivery/quotes/frameworks.html", {
        "page": page, "rows": [(contract, usage[contract.pk]) for contract in page]})


@require_http_methods(["GET", "POST"])
def framework(request, pk):
    """The contract with its call-offs; the form changes what may change."""
    require(request.user, Can.PRICE)
    contract = _found(pk)
    form = ChangeFrameworkForm(request.POST or None, instance=contract)
    if form.is_valid() and attempt_form(form, lambda: services.change_framework(
            actor=request.user, framework=contract, **form.cleaned_data)):
        return redirect("quotes:framework", pk)
    quotes = Quote.objects.visible_to(request.user).filter(framework=contract)
    return render(request, "delivery/quotes/framework.html", {
        "contract": contract, "usage": usage_of([contract])[contract.pk], "form": form,
        "page": page_of(quotes.select_related("engagement").without_facts(), request.GET,
                        PER_PAGE)})


@require_http_methods(["GET", "POST"])
def framework_new(request):
    """`quote` in the address: the one whose customer, discount and terms the contract takes."""
    require(request.user, Can.PRICE)
    key = request.GET.get("quote", "")
    quote = found_quote(request, key) if key.isdecimal() and len(key) < 10 else None
    start = {"customer": quote.engagement.customer_id,
             "discount_rate": quote.discount_rate} if quote else {}
    form = FrameworkForm(request.POST or None, of=request.user, initial=start)
    made = form.is_valid() and attempt_form(form, lambda: services.add_framework(
        actor=request.user, terms=quote, **form.cleaned_data))
    if made:
        return redirect("quotes:framework", made.pk)
    return render(request, "delivery/quotes/framework_new.html", {
        "form": form, "quote": quote, "submit_label": _("Save"),
        "cancel_url": reverse("quotes:frameworks")})


@require_POST
def call_off(request, code):
    """A draft of the engagement under the contract that the form names."""
    engagement, key = visible_engagement(request, code), request.POST.get("framework", "")
    contract = _found(key if key.isdecimal() and len(key) < 10 else 0)
    quote = attempt(request, lambda: services.call_off(
        actor=request.user, framework=contract, engagement=engagement), _("Draft created."))
    return redirect("quotes:quote", quote.pk) if quote else redirect("quotes:engagement", code)


def _found(pk) -> FrameworkContract:
    return get_object_or_404(FrameworkContract.objects.select_related(
        "customer", "card", "terms__engagement"), pk=pk)
