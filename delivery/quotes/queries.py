"""Reads that pages and API share."""

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils import timezone

from delivery.quotes import snapshot
from delivery.quotes.models import Quote, QuoteLine
from delivery.quotes.money import LineAmounts
from delivery.quotes.snapshot import LineRow
from engagements.models import AuditArchive, AuditEntry
from engagements.search_index import holding

PAGE_LINES = 100
HISTORY_ENTRIES = 30  # on the page of a quote
BEGINNINGS = ("quote.create", "quote.copy", "quote.new_version")


def filtered(quotes: QuerySet, params) -> QuerySet:
    """The list's filter: text and the state as it stands today."""
    text, state = params.get("q", "").strip(), params.get("state", "")
    if text:
        quotes = quotes.filter(pk__in=holding(Quote, text))
    if state in Quote.State.values:
        quotes = quotes.in_state(state, timezone.localdate())
    return quotes


def history(quote: Quote) -> QuerySet[AuditEntry]:
    """What happened to a version, the newest first; for the firm's own people."""
    return AuditEntry.objects.filter(
        target_type="quotes.quote", target_id=str(quote.pk)).select_related("actor").order_by("-pk")


def archived_history(quote: Quote, shown: list[AuditEntry]) -> AuditArchive | None:
    """The newest archive that may hold the steps before those shown; None where these are all."""
    if len(shown) == HISTORY_ENTRIES or (shown and shown[-1].action in BEGINNINGS):
        return None
    return AuditArchive.objects.of(quote.engagement).last()


def rests_on_draft(quote: Quote) -> bool:
    """Whether the lines are taken from an effort estimate that is a draft: the approval of the
    quote approves it, too."""
    return quote.estimate_version is not None and quote.engagement.estimates.filter(
        version=quote.estimate_version, state="draft").exists()


@dataclass(frozen=True)
class Opened:
    """A quote as one page of its lines shows it; `figures` and `amounts` are of all lines."""

    facts: dict  # those of the page's lines only
    lines: dict  # rows, number, pages, total, previous, next
    figures: list[LineRow]
    amounts: list[LineAmounts]


def opened(quote: Quote, number) -> Opened:
    """The page `number` of a quote's lines with the facts of the whole; two queries for lines."""
    figures = snapshot.line_rows(quote)
    amounts = snapshot.all_amounts(quote, figures)
    window, lines = _window(len(figures), number)
    stored = list(quote.lines.all()[window])
    if quote.content_hash:
        facts = {**quote.snapshot, "lines": quote.snapshot["lines"][window]}
    else:
        pairs = zip(stored, amounts[window], strict=True)
        facts = {**snapshot.summary(quote, figures, amounts),
                 "lines": [snapshot.line_facts(line, a) for line, a in pairs]}
    rows = zip(stored, facts["lines"], strict=True)
    lines["rows"] = [{"number": n, "line": line, "fact": fact}
                     for n, (line, fact) in enumerate(rows, window.start + 1)]
    return Opened(facts, lines, figures, amounts)


def _window(total: int, number) -> tuple[slice, dict]:
    pages = max(1, -(-total // PAGE_LINES))
    number = min(max(1, int(number) if str(number).isdecimal() else 1), pages)
    first = (number - 1) * PAGE_LINES
    return slice(first, first + PAGE_LINES), {
        "number": number, "pages": pages, "total": total, "previous": number - 1,
        "next": number + 1 if number < pages else 0}


def totals_of(quotes: list[Quote]) -> dict[int, dict]:
    """Totals, words and currency by quote id: two queries for any number of quotes.

    Those of a frozen snapshot are taken out of it by the database: the rest has megabytes.
    """
    frozen = [quote.pk for quote in quotes if quote.content_hash]
    parts = Quote.objects.filter(pk__in=frozen).values_list(
        "pk", "snapshot__totals", "snapshot__words", "snapshot__currency")
    found = {pk: {**figures, "words": words, "currency": currency}
             for pk, figures, words, currency in parts}
    lines: dict[int, list[LineRow]] = defaultdict(list)
    rows = QuoteLine.objects.filter(quote__in=[q.pk for q in quotes if not q.content_hash])
    for key, *row in rows.values_list("quote_id", *LineRow._fields):
        lines[key].append(LineRow(*row))
    return {quote.pk: found.get(quote.pk) or snapshot.totals_facts(quote, lines[quote.pk])
            for quote in quotes}
