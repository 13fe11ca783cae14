"""Written passages of a draft, and the firm's standard texts with a preview."""

from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.documents.models import CompanyProfile
from delivery.reports import registry, services, standard_text
from delivery.reports.models import StandardText
from delivery.reports.rendering import paragraphs
from delivery.reports.standard_text_library import STANDARD
from delivery.reports.views.common import visible_document
from engagements.access import Can, require
from engagements.models import Customer
from engagements.web.form_actions import attempt


@require_http_methods(["GET", "POST"])
def document_texts(request, pk):
    document = visible_document(request, pk)
    kind = registry.get(document.kind)
    require(request.user, kind.written_by, document.engagement)
    if request.method == "POST":
        words = {block.code: {side: request.POST.get(f"{block.code}-{side}", "")
                              for side in ("zh", "en")}
                 for block in kind.blocks_for(document.snapshot)}
        if attempt(request, lambda: services.write_words(
                actor=request.user, document=document, words=words), _("Text saved.")):
            return redirect("reports:document", pk)
    standard = standard_text.standard_words(
        kind, document.engagement.customer, document.engagement.models.current())
    return render(request, "delivery/reports/texts.html", {
        "document": document, "engagement": document.engagement,
        "blocks": [(block, texts := document.words.get(block.code, {}),
                    bool(texts.get("zh")) and texts == standard.get(block.code))
                   for block in kind.blocks_for(document.snapshot)]})


@require_GET
def standard_text_list(request):
    require(request.user, Can.MANAGE)
    customer = _customer(request.GET)
    own = {entry.code: entry for entry in StandardText.objects.filter(customer=customer)}
    groups = [{"kind": kind, "rows": [
        (block, own.get(block.code), standard_text.standard_words(kind, customer)[block.code])
        for block in kind.blocks if block.code in STANDARD]} for kind in registry.all_kinds()]
    return render(request, "delivery/reports/standard_texts.html", {
        "company": CompanyProfile.current(), "groups": [g for g in groups if g["rows"]],
        "customer": customer, "customers": Customer.objects.all()})


def _customer(asked) -> Customer | None:
    """The customer whose own texts are meant; None for those of all."""
    named = asked.get("customer", "")
    if not named:
        return None
    return get_object_or_404(Customer, pk=int(named) if named.isdecimal() else None)


def _back(customer: Customer | None) -> str:
    return reverse("reports:standard_texts") + (f"?customer={customer.pk}" if customer else "")


@require_http_methods(["GET", "POST"])
def standard_text_edit(request, code):
    require(request.user, Can.MANAGE)
    kind, block = _block(code)
    customer = _customer(request.GET)
    own, texts = standard_text.text_for(code, customer)
    if request.method == "POST":
        texts = {side: request.POST.get(side, "") for side in ("zh", "en")}
        if attempt(request, lambda: services.save_standard_text(
                actor=request.user, code=code, customer=customer, **texts),
                   _("Saved; documents drafted from now on start with it.")):
            return redirect(_back(customer))
    return render(request, "delivery/reports/standard_text.html", {
        "kind": kind, "passage": block, "texts": texts, "own": own, "customer": customer,
        "back": _back(customer), **_preview(texts)})


def _block(code: str):
    for kind in registry.all_kinds():
        for block in kind.blocks:
            if block.code == code and code in STANDARD:
                return kind, block
    raise Http404


def _preview(texts: dict) -> dict:
    return {"previews": [("zh-CN", "中文", list(paragraphs(texts.get("zh", "")))),
                         ("en", "English", list(paragraphs(texts.get("en", ""))))]}


@require_POST
def standard_text_preview(request, code):
    """The passage as a document prints it; nothing is stored."""
    require(request.user, Can.MANAGE)
    _block(code)
    texts = {side: request.POST.get(side, "")[:8000] for side in ("zh", "en")}
    return render(request, "delivery/reports/standard_text_preview.html", _preview(texts))


@require_POST
def standard_text_reset(request, code):
    _block(code)
    customer = _customer(request.GET)
    attempt(request, lambda: services.reset_standard_text(
        actor=request.user, code=code, customer=customer) or True,
        _("Text for all customers restored.") if customer else _("Default text restored."))
    return redirect(_back(customer))
