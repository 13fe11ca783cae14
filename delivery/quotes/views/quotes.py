"""Pages of quotes that everybody reads, and their steps: parse, call one service, answer."""

from decimal import Decimal

from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from delivery.documents.views.file_answers import answer_file
from delivery.quotes import queries, services
from delivery.quotes.forms import LineForm, ResourcesForm
from delivery.quotes.margin import margin_of
from delivery.quotes.models import FrameworkContract, Quote
from delivery.quotes.quote_checks import run_checks
from delivery.quotes.quote_files import is_lacking_files, quote_file
from delivery.quotes.rendering import in_language
from delivery.quotes.serializers import NewVersionSerializer
from delivery.quotes.transitions import DUTIES, TRANSITIONS, QuoteMove
from delivery.quotes.version_comparison import compare
from engagements.access import Can, allowed
from engagements.duties import missing_people
from engagements.moves import offered_moves
from engagements.search_index import pages_of
from engagements.web.form_actions import attempt, state_reached
from engagements.web.paging import page_of
from engagements.web.row_pages import posted, visible_engagement


def found_quote(request, pk) -> Quote:
    """A quote the user may see, or 404."""
    return get_object_or_404(
        Quote.objects.visible_to(request.user).select_related(
            "engagement__customer", "created_by", "reviewed_by", "approved_by",
            "answered_by"), pk=pk)


@require_GET
def quote_list(request):
    return _list(request, Quote.objects.visible_to(request.user), {})


@require_GET
def engagement_quotes(request, code):
    engagement = visible_engagement(request, code)
    return _list(request, Quote.objects.visible_to(request.user).filter(engagement=engagement),
                 {"engagement": engagement, "active": "quotes",
                  "frameworks": FrameworkContract.objects.valid_on(timezone.localdate()).filter(
                      customer=engagement.customer_id)
                  if allowed(request.user, Can.PRICE) else ()})


def _list(request, quotes, context):
    quotes = queries.filtered(quotes, request.GET).select_related(
        "engagement__customer").without_facts()
    page = page_of(quotes, request.GET, 25, pages_of(request.GET))
    return render(request, "delivery/quotes/list.html", {
        **context, "page": page, "states": Quote.State.choices, "q": request.GET.get("q", ""),
        "state": request.GET.get("state", "")})


@require_POST
def quote_new(request, code):
    engagement = visible_engagement(request, code)
    quote = attempt(request, lambda: services.create_quote(
        actor=request.user, engagement=engagement), _("Draft created."))
    return redirect("quotes:quote", quote.pk) if quote else redirect("quotes:engagement", code)


@require_GET
def quote_page(request, pk):
    quote, user = found_quote(request, pk), request.user
    page = queries.opened(quote, request.GET.get("page", 1))
    can_edit = quote.state == Quote.State.DRAFT and allowed(user, Can.PRICE)
    start = {"revision": quote.revision}
    margin = margin_of(quote, page.figures) if allowed(user, Can.MANAGE) else None
    history = [] if user.is_reviewer else list(
        queries.history(quote)[:queries.HISTORY_ENTRIES])
    for row in page.lines["rows"] if margin else ():
        row["margin"] = margin.lines[row["number"] - 1]
    without_price = [] if can_edit else [row for row in page.lines["rows"]
                                         if not Decimal(row["fact"]["net"])]
    return render(request, "delivery/quotes/quote.html", {
        "without_price": without_price,
        "priced": [row for row in page.lines["rows"] if row not in without_price],
        "quote": quote, "missing_people": missing_people(DUTIES, quote, user) if can_edit else [],
        "facts": in_language(
            page.facts, request.LANGUAGE_CODE.startswith("en")),
        "lines": page.lines, "is_waiting": is_lacking_files(quote),
        "can_edit": can_edit,
        "rests_on_draft": not user.is_reviewer and queries.rests_on_draft(quote),
        "moves": offered_moves(user, TRANSITIONS, quote),
        "answers": quote.recorded_answers.visible_to(user).select_related(
            "recorded_by", "checked_by", "quote") if quote.content_hash else (),
        "takes_answer": quote.state in services.ANSWERABLE and allowed(user, Can.PRICE),
        "checks": run_checks(quote, page.facts, page.figures, page.amounts)
        if not quote.content_hash and not user.is_reviewer else [],
        "line_form": LineForm(initial=start, day=quote.quote_date) if can_edit else None,
        "resources_form": ResourcesForm(initial=start, day=quote.quote_date)
        if can_edit else None,
        "margin": margin,
        "history": history,
        "archive": None if user.is_reviewer else queries.archived_history(quote, history),
        "versions": Quote.objects.visible_to(user).filter(
            number=quote.number).order_by("-version").defer("snapshot")})


@require_GET
def compare_page(request, pk, other):
    newer, older = found_quote(request, pk), found_quote(request, other)
    if newer.version < older.version:
        newer, older = older, newer
    if newer.number != older.number:
        return redirect("quotes:quote", pk)
    return render(request, "delivery/quotes/compare.html", {
        "newer": newer, "older": older, "found": compare(older, newer)})


@require_POST
def quote_move(request, pk, move):
    quote = found_quote(request, pk)
    done = attempt(request, lambda: services.move_quote(
        actor=request.user, quote=quote, move=move, reason=request.POST.get("reason", "")),
            lambda: _("Draft discarded.") if move == QuoteMove.DISCARD
            else state_reached(quote))
    if done and move == QuoteMove.DISCARD:
        return redirect("quotes:engagement", quote.engagement.code)
    return redirect("quotes:quote", pk)


@require_POST
def version_new(request, pk):
    quote = found_quote(request, pk)
    made = attempt(request, lambda: services.new_version(
        actor=request.user, quote=quote, **posted(request, NewVersionSerializer)),
                   _("A new version was created as a draft."))
    return redirect("quotes:quote", made.pk if made else pk)


@require_GET
def pdf(request, pk, language):
    return _file(request, pk, language, "pdf")


@require_GET
def xlsx(request, pk, language):
    return _file(request, pk, language, "xlsx")


def _file(request, pk, language, form):
    quote = get_object_or_404(Quote.objects.visible_to(request.user).defer("snapshot"), pk=pk)
    return answer_file(request, lambda: quote_file(quote, language, form), target=quote,
                       name=f"{quote.file_name}-{language}.{form}",
                       page=reverse("quotes:quote", args=[pk]))
