"""What a manager has to look at today, over all engagements, with the reason: worst first.

One table of kinds; each reads a bounded number of rows of the engagements that it is about. What
an engagement that is over still says is not listed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from assessments.models import CriteriaSet, Criterion, Outcome, Verdict, Waiver
from delivery.acceptance.models import Condition, WarrantyClaim
from delivery.invoicing.models import Invoice
from delivery.planning.effort.margins import efforts_of, grade_costs
from delivery.planning.models import MarginFloor, PlannedTask, ProjectIssue, Task
from delivery.planning.people.capacity import WORKERS, weeks_of
from delivery.quotes.models import Quote
from delivery.reports.models import Document
from engagements.access import Can, allowed
from engagements.addresses import address
from engagements.models import (
    Engagement,
    Membership,
    ModelProgress,
    Role,
    User,
)
from engagements.models.localization import localized
from engagements.stages import Stage, StageState
from engagements.text.text_joining import labelled, listed
from workers.models import NodeReservation
from workers.nodes.card_leases import usable_cards

MOST = 200  # engagements that are looked at, those that end first in front
OF_A_KIND = 20  # rows of one kind
SOON = timedelta(days=7)
LAPSING = timedelta(days=14)
OVER, FAILED, NEAR = range(3)  # how bad: past its day or its limit, failed, near its day
COLOURS = {OVER: "failed", FAILED: "failed", NEAR: "warning"}


@dataclass(frozen=True, kw_only=True)
class Exceptional:
    """One exception: of which kind, about what, why, in whose hand; `days` past the day that
    matters (negative: until then)."""

    kind: str
    label: str
    level: int
    engagement: str
    sentence: str
    person: str  # "": nobody knows
    url: str
    days: int = 0

    @property
    def code(self) -> str:
        """Colour of its tag."""
        return COLOURS[self.level]


def _first(engagements: QuerySet[Engagement]) -> list[Engagement]:
    return list(engagements.order_by("ends_on", "pk")[:MOST])


class Asked:
    """Whose exceptions: of the engagements that the user manages, or of all that they see."""

    def __init__(self, user: User, today: date, is_everything: bool = False) -> None:
        self.user, self.today = user, today
        managers = Membership.objects.filter(
            engagement=OuterRef("pk"), role=Role.MANAGER).order_by("pk")
        living = Engagement.objects.visible_to(user).exclude(state__in=Engagement.ENDED).annotate(
            manager=Subquery(managers.values("user__username")[:1]),
            manager_zh=Subquery(managers.values("user__full_name")[:1]),
            manager_en=Subquery(managers.values("user__full_name_en")[:1]),
            floor=Subquery(MarginFloor.objects.values("percent")[:1]))
        mine = living.filter(pk__in=Membership.objects.filter(
            user=user, role=Role.MANAGER).values("engagement"))
        found = [] if is_everything else _first(mine)
        self.of, self.engagements = (mine, found) if found else (living, _first(living))

    @cached_property
    def by_key(self) -> dict[int, Engagement]:
        return {engagement.pk: engagement for engagement in self.engagements}

    @cached_property
    def active(self) -> list[Engagement]:
        return [row for row in self.engagements if row.state == Engagement.State.ACTIVE]

    @cached_property
    def managers(self) -> dict[int, str]:
        """By engagement; the first on the team."""
        return {row.pk: localized(row.manager_zh or row.manager, row.manager_en)
                for row in self.engagements if row.manager}


Rows = Iterator[dict[str, Any]]


def _late(asked: Asked) -> Rows:
    """Behind the agreed end: by how much, at which stage, and who has the next move."""
    late = [row for row in asked.active if row.days_late][:OF_A_KIND]
    stands: dict[int, ModelProgress] = {}
    for row in ModelProgress.objects.filter(engagement__in=late, is_dropped=False).exclude(
            stage="").select_related("model", "record__assignment__person"):
        here = stands.get(row.engagement_id)
        if here is None or _order(row) < _order(here):
            stands[row.engagement_id] = row
    hands = _hands(asked, list(stands.values()))
    for engagement in late:
        row = stands.get(engagement.pk)
        days = ngettext("%(n)d day late", "%(n)d days late", engagement.days_late) % {
            "n": engagement.days_late}
        yield {"level": OVER, "engagement": engagement.code, "days": engagement.days_late,
               "sentence": days if row is None else _("%(late)s; %(model)s is at %(stage)s "
                                                      "(%(state)s)") % {
                   "late": days, "model": row.model.code, "stage": row.get_stage_display(),
                   "state": row.get_state_display()},
               "person": hands.get(row.pk, "") if row else "",
               "url": address("engagements:engagement", engagement.code)}


def _order(row: ModelProgress) -> int:
    return Stage.values.index(row.stage)


def _hands(asked: Asked, rows: list[ModelProgress]) -> dict[int, str]:
    """Who has the next move, by model: of what was submitted the manager, else whom the stage is
    assigned to, else the owner of its task."""
    owners = {(task.model_id, task.stage): str(task.owner) for task in Task.objects.filter(
        model__in=[row.pk for row in rows], owner__isnull=False).select_related("owner")}
    return {row.pk: asked.managers.get(row.engagement_id, "")
            if row.state == StageState.SUBMITTED
            else _assigned(row) or owners.get((row.pk, row.stage), "")
            for row in rows}


def _assigned(row: ModelProgress) -> str:
    assignment = getattr(row.record, "assignment", None)
    return str(assignment.person) if assignment else ""


def _verdicts(asked: Asked) -> Rows:
    """Criteria in force whose newest verdict failed, without a waiver; turned: it had passed."""
    verdicts = Verdict.objects.filter(criterion=OuterRef("pk")).order_by("-pk")
    waived = Waiver.objects.in_force(asked.today).values("criterion")
    rows = Criterion.objects.filter(
        criteria_set__engagement__in=asked.by_key, criteria_set__state=CriteriaSet.State.SIGNED
        ).exclude(pk__in=waived).annotate(
        outcome=Subquery(verdicts.values("outcome")[:1]),
        before=Subquery(verdicts.values("outcome")[1:2]),
        at=Subquery(verdicts.values("computed_at")[:1])).filter(outcome=Outcome.FAILED)
    for row in rows.select_related("model", "definition", "criteria_set").order_by(
            "-at")[:OF_A_KIND]:
        key = row.criteria_set.engagement_id
        facts = {"model": row.model.code, "metric": row.definition.localized_name}
        yield {"level": FAILED, "engagement": asked.by_key[key].code,
               "sentence": (_("%(model)s, %(metric)s: passed before, fails now")
                            if row.before == Outcome.PASSED
                            else _("%(model)s, %(metric)s: failed")) % facts,
               "person": asked.managers.get(key, ""), "days": (
                   asked.today - timezone.localdate(row.at)).days,
               "url": address("assessments:criterion", row.pk)}


def _claims(asked: Asked) -> Rows:
    rows = WarrantyClaim.objects.filter(engagement__in=asked.by_key, closed_at=None)
    for row in rows.select_related("owner").order_by("found_on")[:OF_A_KIND]:
        days = (asked.today - row.found_on).days
        yield {"level": FAILED, "engagement": asked.by_key[row.engagement_id].code, "days": days,
               "sentence": ngettext("%(text)s; open for %(n)d day", "%(text)s; open for %(n)d "
                                    "days", days) % {"text": row.description[:120], "n": days},
               "person": str(row.owner or ""),
               "url": address("acceptance:warranty", asked.by_key[row.engagement_id].code)}


def _issues(asked: Asked) -> Rows:
    rows = ProjectIssue.objects.filter(engagement__in=asked.by_key, closed_on=None,
                                       due_on__lt=asked.today)
    for row in rows.select_related("owner").order_by("due_on")[:OF_A_KIND]:
        yield {"level": OVER, "engagement": asked.by_key[row.engagement_id].code,
               **_by_day(asked, row.due_on, row.description[:120]), "person": str(row.owner),
               "url": address("planning:issue", row.pk)}


def _conditions(asked: Asked) -> Rows:
    """Of decisions in force, past their day or near it."""
    rows = Condition.objects.filter(
        review__document__engagement__in=asked.by_key, closed_at=None,
        review__document__state__in=Document.IN_FORCE, due_on__lte=asked.today + SOON)
    for row in rows.select_related("review__document").order_by("due_on")[:OF_A_KIND]:
        yield {"level": OVER if row.due_on < asked.today else NEAR, "person": row.owner,
               "engagement": asked.by_key[row.review.document.engagement_id].code,
               **_by_day(asked, row.due_on, row.description[:120]),
               "url": address("acceptance:review", row.review.document_id)}


def _by_day(asked: Asked, due: date, text: str) -> dict[str, Any]:
    """A sentence on what is due on a day."""
    days = (asked.today - due).days
    when = (ngettext("%(n)d day late", "%(n)d days late", days) if days > 0 else
            ngettext("due in %(n)d day", "due in %(n)d days", -days) if days else _("due today"))
    return {"days": days, "sentence": labelled(text, when % {"n": abs(days)} if days else when)}


def _quotes(asked: Asked) -> Rows:
    """Issued, unanswered, and about to lapse: with the amount that is offered."""
    rows = Quote.objects.visible_to(asked.user).filter(
        engagement__in=asked.by_key, state=Quote.State.ISSUED,
        valid_until__range=(asked.today, asked.today + LAPSING))
    for row in rows.select_related("created_by").only(
            "number", "version", "valid_until", "currency", "engagement", "snapshot",
            "created_by__full_name", "created_by__full_name_en", "created_by__username"
            ).order_by("valid_until")[:OF_A_KIND]:
        days = (row.valid_until - asked.today).days
        yield {"level": NEAR, "engagement": asked.by_key[row.engagement_id].code, "days": -days,
               "sentence": ngettext(
                   "%(quote)s, %(gross)s %(currency)s incl. tax, lapses in %(n)d day",
                   "%(quote)s, %(gross)s %(currency)s incl. tax, lapses in %(n)d days", days) % {
                   "quote": row, "gross": row.snapshot["totals"]["gross"],
                   "currency": row.currency, "n": days},
               "person": str(row.created_by), "url": address("quotes:quote", row.pk)}


def _margins(asked: Asked) -> Rows:
    """Expected margins below the firm's floor; where something was agreed and no margin can be
    computed, that it is unknown and why."""
    floor = asked.engagements[0].floor  # the firm's
    if floor is None:
        return
    costs, efforts = grade_costs(), efforts_of(list(asked.by_key))
    for key, effort in efforts.items():
        engagement = asked.by_key[key]
        if effort.agreement is None or not effort.quoted:
            continue
        margin = effort.margin(costs)
        percent = margin["percent"]
        if percent is not None and percent >= floor:
            continue
        if percent is not None:
            sentence = _("margin %(percent)s %%, the floor is %(floor)s %%") % {
                "percent": percent, "floor": floor}
        elif margin["missing"]:
            sentence = _("margin unknown: no cost is set for %(grades)s") % {
                "grades": listed(margin["missing"])}
        else:
            sentence = _("margin unknown: the fee in yuan is not known")
        yield {"level": NEAR if percent is None else OVER, "engagement": engagement.code,
               "days": 0 if percent is None else int(floor - percent),
               "sentence": sentence, "person": asked.managers.get(key, ""),
               "url": address("planning:time", engagement.code)}


def _overbooked(asked: Asked) -> Rows:
    """People with tasks in these engagements, this week and next, over all engagements."""
    tasks = PlannedTask.objects.under_way().filter(
        task__plan__engagement__in=asked.by_key, first__lte=asked.today + 2 * SOON)
    people = User.objects.filter(pk__in=tasks.values("person"), role__in=WORKERS)
    for row in weeks_of(people.order_by("pk")[:MOST], asked.today, 2,
                        with_booked=False):
        week = max(row.weeks, key=lambda each: each.over)
        if week.over:
            yield {"level": NEAR, "engagement": "", "days": week.over, "person": str(row.person),
                   "sentence": _("%(planned)d days planned in the week of %(week)s, %(there)d days "
                                 "there") % {"planned": week.planned, "week": week.start,
                                             "there": week.there},
                   "url": address("planning:person", row.person.username)}


def _cards(asked: Asked) -> Rows:
    """Reservations of these engagements that maintenance meets, or that together hold more cards
    than their node has."""
    start = timezone.make_aware(datetime.combine(asked.today, time.min))
    future = NodeReservation.objects.filter(ends_at__gt=start)
    mine = future.filter(engagement__in=asked.by_key).order_by("starts_at")
    rows = list(future.filter(node__in=mine.order_by().values("node")).select_related(
        "node").prefetch_related("node__cards").order_by("starts_at")[:MOST])
    for row in rows:
        if row.engagement_id not in asked.by_key:
            continue
        met = [other for other in rows if other.node_id == row.node_id
               and other.starts_at < row.ends_at and other.ends_at > row.starts_at]
        usable = len(usable_cards(row.node))
        taken = sum(other.cards or usable for other in met)
        if taken <= usable:
            continue
        is_maintenance = any(other.engagement_id is None for other in met)
        days = (timezone.localdate(row.starts_at) - asked.today).days
        yield {"level": NEAR, "engagement": asked.by_key[row.engagement_id].code, "days": -days,
               "sentence": (_("%(node)s from %(day)s: maintenance meets the reservation")
                            if is_maintenance else
                            _("%(node)s from %(day)s: %(taken)d cards reserved of %(usable)d")) % {
                   "node": row.node, "day": timezone.localdate(row.starts_at), "taken": taken,
                   "usable": usable},
               "person": asked.managers.get(row.engagement_id, ""),
               "url": address("workers:calendar")}


def _invoices(asked: Asked) -> Rows:
    """Invoices that were payable before today and are not paid."""
    for row in Invoice.objects.outstanding().filter(
            engagement__in=asked.by_key, due_on__lt=asked.today).order_by("due_on")[:OF_A_KIND]:
        days = (asked.today - row.due_on).days
        yield {"level": OVER, "engagement": asked.by_key[row.engagement_id].code, "days": days,
               "sentence": ngettext(
                   "invoice %(number)s over %(amount)s %(currency)s is %(n)d day overdue",
                   "invoice %(number)s over %(amount)s %(currency)s is %(n)d days overdue",
                   days) % {"number": row, "currency": row.currency, "n": days,
                            "amount": f"{row.amount + row.credited - row.paid:,.2f}"},
               "person": asked.managers.get(row.engagement_id, ""),
               "url": f"{address('invoicing:ledger')}?state=overdue"}


@dataclass(frozen=True)
class Kind:
    """One kind of exception, and who may hear of it."""

    code: str
    label: Any
    rows: Callable[[Asked], Rows]
    needs: Can = Can.VIEW_INTERNAL


KINDS = (
    Kind("late", gettext_lazy("Late"), _late),
    Kind("issue", gettext_lazy("Issue overdue"), _issues),
    Kind("verdict", gettext_lazy("Verdict failed"), _verdicts),
    Kind("claim", gettext_lazy("Open claim"), _claims),
    Kind("condition", gettext_lazy("Condition"), _conditions),
    Kind("margin", gettext_lazy("Margin"), _margins, Can.MANAGE),
    Kind("quote", gettext_lazy("Quote lapses"), _quotes, Can.PRICE),
    Kind("invoice", gettext_lazy("Invoice overdue"), _invoices, Can.PRICE),
    Kind("overbooked", gettext_lazy("Overbooked"), _overbooked),
    Kind("cards", gettext_lazy("Cards double booked"), _cards),
)


@dataclass(frozen=True)
class Exceptions:
    """Rows, worst first; found in how many engagements, and how many there would be to look at."""

    rows: list[Exceptional] = field(default_factory=list)
    looked_at: int = 0
    engagements: int = 0


def exceptions_of(user: User, *, today: date | None = None, is_everything: bool = False
                  ) -> Exceptions:
    """The exceptions of the engagements that the user manages; of who manages none, or where
    `is_everything`, of all that they see: at most MOST of them, those that end first. Nothing for
    customers.

    What is past its day comes first, then what failed, then what is near its day; within these
    the longest past. A bounded number of queries, whatever there is.
    """
    if not allowed(user, Can.VIEW_INTERNAL):
        return Exceptions()
    asked = Asked(user, today or timezone.localdate(), is_everything)
    if not asked.engagements:
        return Exceptions()
    found = [Exceptional(kind=kind.code, label=str(kind.label), **row)
             for kind in KINDS if allowed(user, kind.needs) for row in kind.rows(asked)]
    looked_at = len(asked.engagements)
    return Exceptions(sorted(found, key=lambda row: (row.level, -row.days)), looked_at,
                      looked_at if looked_at < MOST else asked.of.count())
