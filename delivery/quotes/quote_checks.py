"""The checks a quote must pass before review and again before issue (DOMAIN 9.4, R-QUO)."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.documents.models import CompanyProfile
from delivery.documents.models.company import is_credit_code
from delivery.quotes import frameworks, snapshot, standard_conditions, tax_and_discounts
from delivery.quotes.models import PriceLine, Quote, RateCard, TaxRate
from delivery.quotes.money import LineAmounts, figure_of_words
from delivery.quotes.quote_labels import RELATIONS
from delivery.quotes.snapshot import grade_label
from engagements.models import Role
from engagements.stages import Stage, StageState
from engagements.text.text_joining import in_turn, listed

SHOWN = 5  # codes in a sentence


@dataclass(frozen=True)
class QuoteCheck:
    """One rule, whether it is met, a sentence that says what to do, and where to do it."""

    code: str
    is_met: bool
    sentence: str
    url: str = ""

    def as_dict(self) -> dict:
        return asdict(self)


def run_checks(quote: Quote, facts: dict | None = None, lines: list | None = None,
               amounts: list[LineAmounts] | None = None, coming: Collection[str] = ()
               ) -> list[QuoteCheck]:
    """All checks, in the order of their codes.

    Args:
        facts: the snapshot or its summary, where it is known already.
        lines: what the quote would hold instead of its stored lines.
        amounts: those of the lines, where they are known already.
        coming: stages that come into scope together with this version.
    """
    lines = snapshot.line_rows(quote) if lines is None else lines
    amounts = snapshot.all_amounts(quote, lines) if amounts is None else amounts
    facts = facts or snapshot.summary(quote, lines, amounts)
    in_force = list(Quote.objects.in_force().filter(
        engagement=quote.engagement_id).without_facts().order_by("version"))
    page, terms = reverse("quotes:quote", args=[quote.pk]), reverse("quotes:terms", args=[quote.pk])
    milestones = _milestones(quote, terms)
    profile = CompanyProfile.current()
    parties = [_parties(quote, profile), _tax_identity(quote, profile)]
    checks = [*parties, milestones] if not milestones.is_met else [
        *parties, *_arithmetic(facts, amounts, page), milestones]
    if quote.source:
        checks.append(_source(quote, terms))
    return sorted([*checks, _validity(quote, terms),
                   _discount(quote, terms), _lines(lines, page), _staffing(quote, lines, terms),
                   _scope(quote, lines, page, coming), *_price_checks(quote, lines, page, terms),
                   _is_newest(quote, in_force, page), _others(quote, in_force, terms),
                   _exclusions(quote, lines, terms),
                  *_framework(quote, facts, lines, page, terms)],
                  key=lambda check: check.code)


def failed_checks(quote: Quote, *known) -> list[QuoteCheck]:
    """The checks that are not met; `known` as for `run_checks`."""
    return [check for check in run_checks(quote, *known) if not check.is_met]


def _source(quote: Quote, url: str) -> QuoteCheck:
    return QuoteCheck(
        "R-QUO-01", bool(quote.source_note.strip()),
        _("The source prints a total of %(stated)s, its lines add up to %(computed)s: "
          "%(difference)s differ. Explain it; this quote uses the lines.") % quote.source, url)


def _arithmetic(facts: dict, amounts: list[LineAmounts], url: str) -> list[QuoteCheck]:
    """R-QUO-01 to 03 on the very figures that are printed, to the cent."""
    rows = [(line.net, line.tax, line.gross) for line in amounts]
    total = tuple(Decimal(facts["totals"][name]) for name in ("net", "tax", "gross"))
    is_sum = total == tuple(sum(column) for column in zip(*rows, strict=True)) if rows else True
    is_split = all(net + tax == gross for net, tax, gross in [*rows, total])
    is_equal = figure_of_words(facts["words"]) == total[2]
    return [
        QuoteCheck("R-QUO-01", is_sum, _("The total is the sum of the lines."), url),
        QuoteCheck("R-QUO-02", is_split,
                   _("Amount without tax plus tax is the amount with tax, on each line and in "
                     "total."), url),
        QuoteCheck("R-QUO-03", is_equal, _("The amount in words matches the figure."), url)]


def _milestones(quote: Quote, url: str) -> QuoteCheck:
    percent = sum((Decimal(t["percent"]) for t in quote.payment_terms), Decimal(0))
    return QuoteCheck("R-QUO-04", percent == 100,
                      _("Payment milestones add up to %(sum)s %%.") % {"sum": percent}, url)


def _validity(quote: Quote, url: str) -> QuoteCheck:
    if quote.valid_until < timezone.localdate():
        return QuoteCheck("R-QUO-05", False, _("The validity ended on %(day)s; extend it.")
                          % {"day": quote.valid_until}, url)
    return QuoteCheck("R-QUO-05", quote.valid_until >= quote.quote_date,
                      _("Valid until %(day)s.") % {"day": quote.valid_until}, url)


def _discount(quote: Quote, url: str) -> QuoteCheck:
    if not quote.discount_rate:
        return QuoteCheck("R-QUO-06", True, _("No discount."))
    able = tax_and_discounts.roles_that_approve(quote.discount_rate)
    facts = {"rate": f"{quote.discount_rate * 100:.2f}",
             "roles": listed(str(Role(role).label) for role in able)}
    if not able:
        return QuoteCheck("R-QUO-06", False, _(
            "A discount of %(rate)s %% is above every approver's limit.") % facts, url)
    if not quote.discount_reason.strip():
        return QuoteCheck("R-QUO-06", False, _("A discount needs its reason."), url)
    if quote.approved_by and tax_and_discounts.discount_limit(quote.approved_by.role
                                                      ) < quote.discount_rate:
        return QuoteCheck("R-QUO-06", False, _(
            "The discount "
            "of %(rate)s %% is above the limit of the person who approved it.") % facts, url)
    return QuoteCheck("R-QUO-06", True, _(
        "A discount of %(rate)s %% can be approved by: %(roles)s.") % facts, url)


def _lines(lines: list, url: str) -> QuoteCheck:
    if not lines:
        return QuoteCheck("R-QUO-07", False, _("No lines yet."), url)
    faulty = [line.code for line in lines
              if not line.unit or (line.unit == "person_day" and not line.grade)]
    if faulty:
        return QuoteCheck("R-QUO-07", False, _("Without unit or grade: %(codes)s.")
                          % {"codes": listed(faulty[:5])}, url)
    return QuoteCheck("R-QUO-07", True, _("%(n)d lines with grade, unit and price.")
                      % {"n": len(lines)}, url)


def _staffing(quote: Quote, lines: list, url: str) -> QuoteCheck:
    """Person-days per grade, of the lines and of the staffing plan."""
    priced: Counter = Counter()
    for line in lines:
        if line.unit == "person_day":
            priced[line.grade] += line.quantity
    if not quote.staffing:
        return QuoteCheck("R-QUO-08", True, _(
            "%(days)s person-days; the lines are the staffing plan.") % {
                "days": sum(priced.values())}, url)
    planned: Counter = Counter()
    for entry in quote.staffing:
        planned[entry["grade"]] += Decimal(entry["days"])
    wrong = [_("%(grade)s: %(priced)s priced, %(planned)s planned") % {
        "grade": grade_label(g) or "--", "priced": priced[g], "planned": planned[g]}
        for g in sorted({*priced, *planned}) if priced[g] != planned[g]]
    return QuoteCheck("R-QUO-08", not wrong, in_turn(wrong) or _(
        "%(days)s person-days, as the staffing plan says.") % {"days": sum(planned.values())}, url)


def _scope(quote: Quote, lines: list, url: str, coming: Collection[str]) -> QuoteCheck:
    """Stages of the lines against the stages any model of the engagement goes through."""
    from engagements.models import StageRecord

    found = set(StageRecord.objects.filter(model__engagement=quote.engagement).exclude(
        state=StageState.SKIPPED).values_list("stage", flat=True))
    if not found:
        return QuoteCheck("R-QUO-09", True, _(
            "The engagement has no model yet; the scope is compared once there is one."))
    outside = {line.stage for line in lines if line.stage} - found - {*coming}
    labels = listed(str(Stage(stage).label) for stage in Stage.values if stage in outside)
    return QuoteCheck("R-QUO-09", not outside, _(
        "No model goes through: %(stages)s. Remove the lines or change the scope.") % {
            "stages": labels} if outside else _(
        "Every line belongs to a stage in scope."), url)


def _is_newest(quote: Quote, in_force: list[Quote], url: str) -> QuoteCheck:
    """A draft beside which a change order has brought a later version into force."""
    later = [row for row in in_force
             if row.number == quote.number and row.version > quote.version]
    if not later:
        return QuoteCheck("R-QUO-12", True, _("No later version is in force."))
    return QuoteCheck("R-QUO-12", False, _(
        "%(later)s came into force after this draft was begun; discard it and begin a new version.")
        % {"later": later[-1]}, url)


def _others(quote: Quote, in_force: list[Quote], url: str) -> QuoteCheck:
    """What was accepted under other numbers: this quote says what becomes of it."""
    others = [row for row in in_force
              if row.number != quote.number and row.state == Quote.State.ACCEPTED]
    facts = {"others": listed(map(str, others)), "currency": quote.currency}
    if not others:
        return QuoteCheck("R-QUO-13", True, _("No other quote of the engagement is accepted."))
    if not quote.relation:
        return QuoteCheck("R-QUO-13", False, _(
            "The customer has accepted %(others)s. Say whether this quote replaces it or is agreed "
            "on besides it.") % facts, url)
    if quote.relation == Quote.Relation.ADDS and {o.currency for o in others} != {quote.currency}:
        return QuoteCheck("R-QUO-13", False, _(
            "%(others)s is in another currency than %(currency)s; amounts of both cannot be added "
            "up.") % facts, url)
    return QuoteCheck("R-QUO-13", True, RELATIONS[quote.relation] % {"quotes": facts["others"]})


def _framework(quote: Quote, facts: dict, lines: list, page: str, terms: str
               ) -> Iterator[QuoteCheck]:
    """What is called off holds the contract's prices and discount, in its time and ceiling."""
    contract = quote.framework
    if contract is None:
        return
    agreed = dict(contract.card.lines.exclude(unit_price=None).values_list("code", "unit_price"))
    wrong = [line.code for line in lines if line.unit_price != agreed.get(line.code)]
    yield QuoteCheck("R-QUO-17", not wrong, _("Every line has the price of %(list)s.") % {
        "list": contract.card} if not wrong else _(
        "%(contract)s agrees on the prices of %(list)s; others: %(codes)s.") % {
            "contract": contract, "list": contract.card, "codes": listed(wrong[:SHOWN])}, page)
    if not contract.is_valid_on(quote.quote_date) or quote.discount_rate < contract.discount_rate:
        yield QuoteCheck("R-QUO-17", False, _(
            "%(contract)s agrees on %(percent)s %% discount, from %(first)s to %(last)s.") % {
                "contract": contract, "percent": f"{(contract.discount_rate * 100).normalize():f}",
                "first": contract.valid_from, "last": contract.valid_to or "…"}, terms)
    left, gross = frameworks.left_for(quote), Decimal(facts["totals"]["gross"])
    if left is not None:
        yield QuoteCheck("R-QUO-17", gross <= left, _(
            "%(gross)s %(currency)s are called off, %(left)s %(currency)s are left of "
            "%(contract)s.") % {
                "gross": f"{gross:,.2f}", "left": f"{left:,.2f}", "currency": quote.currency,
                "contract": contract}, page)


def _exclusions(quote: Quote, lines: list, url: str) -> QuoteCheck:
    """What the notes exclude is not among the lines."""
    text = standard_conditions.excluded(quote.notes)
    priced = sum((line.quantity * line.months * line.unit_price for line in lines
                  if line.category == PriceLine.Category.RESOURCE), Decimal(0))
    is_met = not (priced and standard_conditions.names_cloud(text))
    return QuoteCheck("R-QUO-14", is_met, _("Nothing that is not included is priced.") if is_met
                      else _("The notes exclude cloud resources (%(text)s), the lines price "
                             "%(amount)s of them.") % {
                          "text": text, "amount": f"{priced:,.2f} {quote.currency}"}, url)


def _tax_identity(quote: Quote, seller: CompanyProfile) -> QuoteCheck:
    """An invoice for value-added tax names the tax numbers of buyer and seller."""
    buyer = quote.engagement.customer
    lacking = [(buyer.localized_name, reverse("people:customer", args=[buyer.pk]))
               ] if not buyer.credit_code else []
    if not seller.credit_code:
        lacking.append((seller.name or _("Supplier"), reverse("documents:company")))
    return QuoteCheck("R-QUO-15", not lacking, _(
        "The quote promises a VAT invoice; without unified social credit code: %(parties)s.") % {
            "parties": listed(name for name, _url in lacking)} if lacking else
        _("The invoice can name buyer and seller."), lacking[0][1] if lacking else "")


def _parties(quote: Quote, profile: CompanyProfile) -> QuoteCheck:
    """The particulars that DOMAIN 9.2 demands of both parties."""
    customer = quote.engagement.customer
    url = reverse("documents:company")
    if not profile.name:
        return QuoteCheck("PARTIES", False, _("Enter the firm's registered name and account."),
                          url)
    for party in (profile, customer):
        if party.credit_code and not is_credit_code(party.credit_code):
            return QuoteCheck("PARTIES", False, _(
                "“%(code)s” of %(party)s is not a valid unified social credit code.") % {
                    "code": party.credit_code, "party": party.name},
                url if party is profile else reverse("people:customer", args=[customer.pk]))
    return QuoteCheck("PARTIES", True, _("Both parties are named."), url)


# Where prices and tax rates of the lines come from ------------------------------------------


def _price_checks(quote: Quote, lines: Iterable, page: str, terms: str) -> Iterator[QuoteCheck]:
    """R-QUO-10 exchange rate and price lists, R-QUO-11 tax rates.

    Args:
        lines: of the quote, or what it would hold instead.
        page, terms: addresses of the quote and of its terms.
    """
    yield _exchange_rate(quote, lines, terms)
    yield _price_lists(quote, lines, page)
    yield _tax_rates(quote, lines, page)


def _exchange_rate(quote: Quote, lines: Iterable, url: str) -> QuoteCheck:
    """Every line converted from another currency is converted at the rate that is printed."""
    wrong = [line.code for line in lines
             if line.priced_at is not None and line.priced_at != quote.exchange_rate]
    if not wrong:
        return QuoteCheck("R-QUO-10", True, _("Every price is converted at the exchange rate of "
                                              "the quote."))
    return QuoteCheck("R-QUO-10", False, _(
        "The exchange rate is %(rate)s now; lines priced at another one: %(codes)s. Reprice them "
        "or restore the rate.") % {
            "rate": f"{quote.exchange_rate.normalize():f}", "codes": listed(wrong[:SHOWN])}, url)


def _price_lists(quote: Quote, lines: Iterable, url: str) -> QuoteCheck:
    """No item of the quote has two different prices in lists that are valid on its date."""
    cards = list(RateCard.objects.valid_on(quote.quote_date))
    doubled = _doubled(cards, {line.code: line.name for line in lines}) if len(cards) > 1 else []
    if not doubled:
        return QuoteCheck("R-QUO-10", True, _("No item has two prices on the date of the quote."))
    return QuoteCheck("R-QUO-10", False, _(
        "Price lists valid on %(day)s give different prices for: %(codes)s. End one of them.") % {
            "day": quote.quote_date, "codes": listed(doubled[:SHOWN])}, url)


def _doubled(cards: list[RateCard], named: dict[str, str]) -> list[str]:
    """Codes with more than one price; codes that mean different things in two lists are none."""
    prices: dict[tuple, set[Decimal]] = {}
    rows = PriceLine.objects.filter(card__in=cards).exclude(unit_price=None).values_list(
        "code", "name", "card__currency", "unit_price")
    for code, name, currency, price in rows:
        if named.get(code) == name:
            prices.setdefault((code, currency), set()).add(price)
    return sorted({code for (code, _currency), found in prices.items() if len(found) > 1})


def _tax_rates(quote: Quote, lines: Iterable, url: str) -> QuoteCheck:
    """Every line bears a rate of value-added tax that is valid on the date of the quote."""
    valid = set(TaxRate.objects.valid_on(quote.quote_date).values_list("rate", flat=True))
    wrong = [f"{line.code} ({(line.tax_rate * 100).normalize():f} %)" for line in lines
             if valid and line.tax_rate not in valid]
    if not wrong:
        return QuoteCheck("R-QUO-11", True, _("Every tax rate is valid on the date of the quote."))
    return QuoteCheck("R-QUO-11", False, _(
        "Not valid on %(day)s: %(lines)s. Choose one of the recorded tax rates.") % {
            "day": quote.quote_date, "lines": listed(wrong[:SHOWN])}, url)
