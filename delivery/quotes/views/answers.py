"""Pages of answers that the customer gave outside the portal."""

from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.documents.views.file_answers import answer_upload
from delivery.quotes import services
from delivery.quotes.forms import AnswerForm
from delivery.quotes.models import QuoteAnswer
from delivery.quotes.outcomes import chosen_year, outcomes_of
from delivery.quotes.views.quotes import found_quote
from engagements.access import Can, require
from engagements.web.form_actions import attempt, attempt_form


@require_http_methods(["GET", "POST"])
def answer_new(request, pk):
    quote = found_quote(request, pk)
    require(request.user, Can.PRICE, quote.engagement)
    form = AnswerForm(request.POST or None, request.FILES or None)
    if form.is_valid() and attempt_form(form, lambda: services.record_answer(
            actor=request.user, quote=quote, **form.cleaned_data)):
        return redirect("quotes:quote", pk)
    return render(request, "delivery/quotes/answer.html", {
        "form": form, "quote": quote, "submit_label": _("Record the answer")})


@require_POST
def answer_check(request, pk):
    answer = _answer(request, pk)
    is_confirmed = request.POST.get("is_confirmed") == "true"
    attempt(request, lambda: services.check_answer(
        actor=request.user, answer=answer, is_confirmed=is_confirmed,
        remark=request.POST.get("remark", "")[:400]),
        _("Confirmed; the quote is answered.") if is_confirmed
        else _("The recorded answer does not count."))
    return redirect("quotes:quote", answer.quote_id)


@require_GET
def answer_file(request, pk):
    answer = _answer(request, pk)
    return answer_upload(answer.file, answer.file_name, answer)


def _answer(request, pk) -> QuoteAnswer:
    return get_object_or_404(QuoteAnswer.objects.visible_to(request.user).select_related(
        "quote__engagement", "recorded_by"), pk=pk)


@require_GET
def outcomes(request):
    """Won and lost, by quarter, with the reasons."""
    require(request.user, Can.PRICE)
    chosen = chosen_year(request.GET)
    return render(request, "delivery/quotes/outcomes.html", {
        "found": outcomes_of(request.user, chosen), "year": chosen})
