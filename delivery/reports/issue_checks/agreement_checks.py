"""What contradicts the agreement, one row each: the two places that differ, with both values.

They stop the submission of a document and its issue.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.agreement.facts import BY_NAME, draw, quoted_warranty, shown, told
from delivery.planning.plan.task_dates import end_of
from delivery.quotes.standard_conditions import names_cloud
from delivery.reports.facts.agreed_deliverables import checks, doubled_label, owed
from delivery.reports.facts.source import Source, source_of
from delivery.reports.models import Document
from delivery.reports.registry import Problem
from engagements.stages import FROM_ACCEPTANCE, Stage
from engagements.text.text_joining import labelled, listed

FOLLOWED = ("contract_number", "starts_on", "ends_on", "scope", "price", "warranty_months",
            "criteria")
CERTIFICATES = ("PA", "FA")


def _sources(source: Source) -> Iterator[Problem]:
    """What was agreed, against what its sources say now: nobody changed it by a change request."""
    agreed = source.agreement
    now = draw(source, agreed.entered) if agreed.is_in_force else {}
    for name in FOLLOWED if agreed.is_in_force else ():
        value = now.get(name, {}).get("value")
        if value != agreed.value(name):
            yield Problem(_(
                "%(fact)s: %(agreement)s says %(agreed)s, %(source)s says %(now)s. A change "
                "request or a new statement of work brings them into line.") % {
                "fact": BY_NAME[name].label, "agreement": agreed,
                "agreed": shown(name, agreed.value(name)).replace("\n", "; "),
                "source": told(now[name]["source"]) if name in now else _("the engagement"),
                "now": shown(name, value).replace("\n", "; ")},
                reverse("agreement:agreement", args=[source.engagement.code]))


def _dates(source: Source) -> Iterator[Problem]:
    """Of what plans the work the plan's end, of a certificate its own day, against the agreed end.
    """
    end, is_certificate = source.agreement.value("ends_on"), source.document.kind in CERTIFICATES
    last = end_of(source.schedule) if source.schedule and not is_certificate else None
    if end and last and f"{last}" > end:
        yield Problem(_("The plan ends on %(plan)s, the agreed period on %(end)s.") % {
            "plan": last, "end": end}, reverse("planning:plan", args=[source.engagement.code]))
    if end and is_certificate and f"{source.today}" > end:
        yield Problem(_("The acceptance would be on %(day)s, the agreed period ended on "
                        "%(end)s.") % {"day": source.today, "end": end},
            reverse("agreement:agreement", args=[source.engagement.code]))


def _order(source: Source) -> Iterator[Problem]:
    """No model's acceptance begins before the stages ahead of it end."""
    for model in source.models:
        rows = [row for row in source.schedule if row.task.model_id == model.pk and row.task.stage]
        others = [row for row in rows if row.task.stage not in FROM_ACCEPTANCE]
        begins = [row.start for row in rows if row.task.stage == Stage.ACCEPT]
        late = max(others, key=lambda row: row.finish, default=None)
        if begins and late and min(begins) < late.finish:
            yield Problem(_("%(model)s: the acceptance begins on %(begin)s, “%(stage)s” ends on "
                            "%(end)s.") % {
                "model": model.code, "begin": min(begins), "end": late.finish,
                "stage": Stage(late.task.stage).label},
                reverse("planning:plan", args=[source.engagement.code]))


def _warranty(source: Source) -> Iterator[Problem]:
    agreed, quoted = source.agreement.value("warranty_months"), quoted_warranty(source)
    if agreed and quoted and quoted[0] != agreed:
        yield Problem(_("%(source)s says %(quoted)s of warranty, %(agreement)s %(agreed)s.") % {
            "source": told(quoted[1]), "quoted": shown("warranty_months", quoted[0]),
            "agreement": source.agreement, "agreed": shown("warranty_months", agreed)},
            reverse("agreement:agreement", args=[source.engagement.code]))


def _deliverables(source: Source) -> Iterator[Problem]:
    """The list that is kept, against the agreement: no row beside it, none still owed once all is
    handed over, and no content that stands for several models without a reason; of a practice node,
    whose models share their files, the mark is the reason."""
    entries = source.agreement.value("deliverables") or ()
    known = {entry["code"] or entry["title"]["zh-hans"] for entry in entries}
    extra = [str(row) for row in owed(source) if (row.code or row.title) not in known]
    if extra and source.agreement.is_in_force:
        yield Problem(_("The list of deliverables holds %(rows)s, %(agreement)s does not.") % {
            "rows": listed(extra), "agreement": source.agreement},
            reverse("reports:deliverables", args=[source.engagement.code]))
    for check in checks(source) if not source.engagement.has_practice_data else ():
        for sha256, codes in check.doubled:
            if source.document.kind != "MP" and not check.reasons(sha256):
                yield Problem(_("%(deliverable)s: %(content)s. Name each model's own file, or have "
                                "the manager enter the reason in the list of deliverables.") % {
                    "deliverable": check.label(), "content": doubled_label(sha256, codes)},
                    reverse("reports:deliverables", args=[source.engagement.code]))
    still = [str(row) for row in owed(source) if not row.delivered_at]
    if still and source.document.kind == "HD":
        yield Problem(_("%(agreement)s owes %(rows)s, nothing that is handed over fulfils it.") % {
            "rows": listed(still), "agreement": source.agreement},
            reverse("reports:deliverables", args=[source.engagement.code]))


def _payments(source: Source) -> Iterator[Problem]:
    """The payments add up to the price, and the plan's milestones are the agreed ones."""
    rows, price = source.agreement.value("payments") or (), source.agreement.value("price")
    amounts = [Decimal(row["amount"]) for row in rows if row["amount"]]
    if price and amounts and sum(amounts) != Decimal(price["gross"]):
        yield Problem(_("The payments add up to %(sum)s, the price is %(price)s.") % {
            "sum": sum(amounts), "price": price["gross"]},
            reverse("quotes:engagement", args=[source.engagement.code]))
    planned = list(source.plan.milestones.all()) if source.plan else []
    agreed = [Decimal(row["percent"]) for row in rows]
    if planned and agreed and [row.percent for row in planned] != agreed:
        yield Problem(_("The plan's milestones pay %(planned)s, the agreement %(agreed)s.") % {
            "planned": _percents(row.percent for row in planned), "agreed": _percents(agreed)},
            reverse("planning:milestones", args=[source.engagement.code]))


def _percents(figures) -> str:
    return " + ".join(f"{figure.normalize():f} %" for figure in figures)


def _exclusions(source: Source) -> Iterator[Problem]:
    """What is excluded is not in the price."""
    excluded, price = source.agreement.value("excluded"), source.agreement.value("price")
    if excluded and price and Decimal(price["resources"]) and any(
            map(names_cloud, excluded.values())):
        yield Problem(_("“Not included” names cloud resources (%(text)s), the price holds "
                        "%(amount)s of them.") % {
            "text": told(excluded), "amount": f"{Decimal(price['resources']):,.2f}"},
            reverse("agreement:agreement", args=[source.engagement.code]))


@dataclass(frozen=True)
class AgreementCheck:
    code: str
    title: Promise
    kinds: tuple[str, ...]
    problems: Callable[[Source], Iterator[Problem]]


CHECKS = (
    AgreementCheck("R-AGR-01", gettext_lazy("Agreement and its sources"),
                   ("MP", "TR", *CERTIFICATES, "HD"), _sources),
    AgreementCheck("R-AGR-02", gettext_lazy("Dates"), ("SOW", "MP", *CERTIFICATES), _dates),
    AgreementCheck("R-AGR-03", gettext_lazy("Order of the stages"), ("SOW", "MP"), _order),
    AgreementCheck("R-AGR-04", gettext_lazy("Warranty"), ("SOW", "FA"), _warranty),
    AgreementCheck("R-AGR-05", gettext_lazy("Deliverables"),
                   ("MP", "TR", *CERTIFICATES, "HD"), _deliverables),
    AgreementCheck("R-AGR-06", gettext_lazy("Payments"), ("SOW", *CERTIFICATES), _payments),
    AgreementCheck("R-AGR-07", gettext_lazy("Price and exclusions"), ("SOW",), _exclusions),
)


def agreement_holds(document: Document) -> Iterator[Problem]:
    """A rule of every kind: what the checks of its kind find, under their codes."""
    chosen = [check for check in CHECKS if document.kind in check.kinds]
    source = source_of(document) if chosen else None
    for check in chosen:
        for problem in check.problems(source):
            yield Problem(labelled(f"{check.code} {check.title}", problem.sentence), problem.url)
