"""Who held which cards when, and how busy they were: from leases and samples, for any period."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import BytesIO
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell

from engagements.access import Can, require
from engagements.errors import InvalidInput
from engagements.models import User
from toolreaders.number_parsing import whole_number
from workers.models import CardLease, Job, NodeSample

LONGEST = timedelta(days=400)  # as long as samples are kept
HOUR = timedelta(hours=1)
GROUPS = {"node": gettext_lazy("Node"), "card": gettext_lazy("Card"),
          "project": gettext_lazy("Project"), "customer": gettext_lazy("Customer"),
          "model": gettext_lazy("Model"), "person": gettext_lazy("Person"),
          "day": gettext_lazy("Day")}


@dataclass(frozen=True)
class Question:
    """A period, what is counted together, and which cards and people it is about."""

    start: datetime
    end: datetime
    by: str = "project"
    node: str = ""
    card: int | None = None
    project: str = ""
    person: str = ""


def question(params, now: datetime) -> Question:
    """From a query string; without a period this month so far. Raises InvalidInput for a period
    that cannot be read, ends before it begins or is longer than samples are kept."""
    first = timezone.localtime(now).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    start, end = _time(params.get("from"), first), _time(params.get("to"), now)
    if not start < end <= start + LONGEST:
        raise InvalidInput(_("The period ends before it begins, or is longer than %(n)d days.")
                           % {"n": LONGEST.days})
    by = params.get("by") if params.get("by") in GROUPS else "project"
    return Question(start, end, by, params.get("node", ""), whole_number(params.get("card")),
                    params.get("project", ""), params.get("person", ""))


def _time(text: str | None, default: datetime) -> datetime:
    """A day begins at its midnight here."""
    try:
        found = parse_datetime(text or "") or parse_date(text or "")
    except ValueError:
        found = None
    if found is None:
        if text:
            raise InvalidInput(_("“%(text)s” is no time: write 2025-10-01 or 2025-10-01T22:00.")
                               % {"text": text[:40]})
        return default
    if not isinstance(found, datetime):
        found = datetime(found.year, found.month, found.day)
    return found if timezone.is_aware(found) else timezone.make_aware(found)


@dataclass
class Held:
    """A lease within the period; `job` is None where the user may not see it."""

    node: str
    card: int
    start: datetime
    end: datetime
    job: Job | None
    busy: timedelta = timedelta()
    measured: timedelta = timedelta()  # of the time held, in which samples tell

    @property
    def hours(self) -> float:
        return (self.end - self.start) / HOUR

    @property
    def project(self) -> str:
        if self.job is None:
            return _("another project")
        return self.job.engagement.code if self.job.engagement else _("no project")

    @property
    def customer(self) -> str:
        if self.job is None:
            return _("another project")
        found = self.job.engagement
        return found.customer.localized_name if found else _("no project")

    @property
    def model(self) -> str:
        if self.job is None:
            return _("another project")
        return f"{self.project} · {self.job.model.code}" if self.job.model else _("no model")

    @property
    def person(self) -> str:
        if self.job is None:
            return _("somebody of another project")
        return str(self.job.created_by or "--")


@dataclass
class Row:
    """Card hours of a group; busy and idle only of the hours that samples tell of."""

    label: str
    held: float = 0
    measured: float = 0
    busy: float = 0
    percent: int = 0  # of the longest

    @property
    def idle(self) -> float:
        return self.measured - self.busy

    @property
    def unknown(self) -> float:
        return self.held - self.measured


def leases_of(user: User, asked: Question, now: datetime) -> list[Held]:
    """Leases that reach into the period, newest first. Where a project or person is asked for, only
    of jobs that the user sees."""
    visible = Job.objects.visible_to(user)
    leases = CardLease.objects.filter(
        Q(released_at=None) | Q(released_at__gt=asked.start), taken_at__lt=asked.end)
    if asked.node:
        leases = leases.filter(node__name=asked.node)
    if asked.card is not None:
        leases = leases.filter(card_index=asked.card)
    if asked.project:
        leases = leases.filter(job__in=visible, job__engagement__code=asked.project)
    if asked.person:
        leases = leases.filter(job__in=visible, job__created_by__username=asked.person)
    seen = set(visible.filter(leases__in=leases).values_list("pk", flat=True))
    found = _with_rows(leases)
    return [Held(each.node.name, each.card_index, max(each.taken_at, asked.start),
                 min(each.released_at or now, asked.end),
                 each.job if each.job_id in seen else None) for each in found]


def _with_rows(leases: QuerySet) -> QuerySet:
    return leases.order_by("-taken_at", "-pk").select_related(
        "node", "job__engagement__customer", "job__model", "job__created_by").only(
        "job__engagement__customer__name", "job__engagement__customer__name_en", "job__model__code",
        "card_index", "taken_at", "released_at", "node__name", "job__kind", "job__state",
        "job__engagement__code", "job__created_by__username", "job__created_by__full_name",
        "job__created_by__full_name_en", "job__created_by__role")


def measure(leases: list[Held], asked: Question) -> None:
    """Add to each lease what the samples of its card tell of its time."""
    by_card: dict[tuple[str, int], list[Held]] = defaultdict(list)
    for held in sorted(leases, key=lambda each: each.start):
        by_card[held.node, held.card].append(held)
    starts = {place: [held.start for held in rows] for place, rows in by_card.items()}
    samples = NodeSample.objects.filter(
        node__name__in={node for node, _card in by_card}, at__gte=asked.start, at__lt=asked.end)
    for node, at, seconds, cards in samples.order_by().values_list(
            "node__name", "at", "seconds", "cards").iterator():
        span = timedelta(seconds=seconds or settings.SAMPLE_SECONDS)
        for index, values in cards.items():
            place = node, int(index)
            if values[0] is None or place not in by_card:
                continue
            found = by_card[place][bisect_right(starts[place], at) - 1]
            if found.start <= at < found.end:
                told = min(span, found.end - at)
                found.measured += told
                found.busy += told * (values[0] / 100)


def usage(leases: list[Held], asked: Question) -> list[Row]:
    """Card hours by what is asked for, most first; days in their order."""
    rows: dict[str, Row] = {}
    for held in leases:
        for label, share in _shares(held, asked.by):
            row = rows.setdefault(label, Row(label))
            row.held += held.hours * share
            row.measured += min(held.measured / HOUR, held.hours) * share
            row.busy += min(held.busy / HOUR, held.hours) * share
    most = max((row.held for row in rows.values()), default=0)
    for row in rows.values():
        row.percent = round(100 * row.held / most) if most else 0
    return sorted(rows.values(), key=lambda row: row.label if asked.by == "day" else -row.held)


LABELS: dict[str, Callable[[Held], str]] = {
    "node": lambda held: held.node, "card": lambda held: f"{held.node} · {held.card}",
    "project": lambda held: held.project, "customer": lambda held: held.customer,
    "model": lambda held: held.model, "person": lambda held: held.person}


def _shares(held: Held, by: str) -> Iterator[tuple[str, float]]:
    """The group of a lease; of days each its part."""
    if by != "day":
        yield LABELS[by](held), 1
        return
    at = held.start
    while at < held.end:
        day = timezone.localtime(at).replace(hour=0, minute=0, second=0, microsecond=0)
        until = min(day + timedelta(days=1), held.end)
        yield f"{day:%Y-%m-%d}", (until - at) / (held.end - held.start)
        at = until


def answer(user: User, asked: Question, now: datetime) -> dict[str, Any]:
    """The leases of the period and their sums."""
    require(user, Can.VIEW_INTERNAL)
    leases = leases_of(user, asked, now)
    measure(leases, asked)
    rows = usage(leases, asked)
    total = Row(str(_("Sum")), sum(row.held for row in rows), sum(row.measured for row in rows),
                sum(row.busy for row in rows))
    return {"leases": leases, "rows": rows, "total": total}


def workbook(found: dict[str, Any], asked: Question) -> bytes:
    """The sums and every lease, as an xlsx file."""
    book, file = Workbook(write_only=True), BytesIO()
    sums, leases = book.create_sheet(_("Card hours")), book.create_sheet(_("Leases"))

    def add(sheet, *values) -> None:
        cells = [WriteOnlyCell(sheet, value) for value in values]
        for cell in cells:
            if cell.data_type == "f":  # a name that begins with "="
                cell.data_type = "s"
        sheet.append(cells)

    add(sums, str(GROUPS[asked.by]), _("Held (card hours)"), _("Measured"), _("Busy"),
        _("Idle while held"), _("No samples"))
    for row in (*found["rows"], found["total"]):
        add(sums, row.label, *(round(value, 2) for value in (
            row.held, row.measured, row.busy, row.idle, row.unknown)))
    add(leases, _("Node"), _("Card"), _("Job"), _("Project"), _("Person"), _("From"), _("To"),
        _("Hours"))
    for held in found["leases"]:
        add(leases, held.node, held.card, held.job and held.job.pk, held.project, held.person,
            *(timezone.make_naive(at) for at in (held.start, held.end)), round(held.hours, 2))
    book.save(file)
    return file.getvalue()
