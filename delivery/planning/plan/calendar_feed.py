"""Plans as an iCalendar (RFC 5545) that calendar programs subscribe to."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _
from icalendar import Calendar, Event

from delivery.planning.models import Plan, Todo
from delivery.planning.plan.task_dates import Scheduled, schedule, today
from engagements.errors import InvalidInput
from engagements.models import Engagement, User

MOST_PLANS = 200  # the newest ones; nobody works on more at a time
REFRESH = timedelta(hours=1)


def calendar_of(owner: User, now: datetime) -> bytes:
    """Tasks, milestones and one's own to-dos of the active engagements whose team the owner is on;
    within the token that the owner signed in with. In the active language."""
    plans = Plan.objects.visible_to(owner).filter(
        engagement__state=Engagement.State.ACTIVE,
        engagement__memberships__user=owner).select_related("engagement").order_by("-pk")
    feed = Calendar()
    feed.add("prodid", "-//Delivery Desk//Plans//")
    feed.add("version", "2.0")
    feed.add("x-wr-calname", _("Delivery plans"))
    feed.add("refresh-interval", REFRESH, parameters={"value": "DURATION"})
    feed.add("x-published-ttl", "PT1H")
    for plan in plans[:MOST_PLANS]:
        for event in _of_plan(plan):
            feed.add_component(_stamped(event, now))
    for todo in _todos(owner):
        feed.add_component(_stamped(todo, now))
    return feed.to_ical()


def _of_plan(plan: Plan) -> Iterator[Event]:
    address = reverse("planning:plan", args=[plan.engagement.code])
    try:
        rows = [row for row in schedule(plan) if not row.task.is_dropped]
    except InvalidInput as error:  # an empty calendar would say that there is nothing to do
        yield _event(f"plan-{plan.pk}", plan.engagement, error.message, today(), today(), address)
        return
    for row in rows:
        yield _task(row, plan.engagement, address)
    finish = {row.task.pk: row.finish for row in rows}
    for milestone in plan.milestones.all():
        if milestone.task_id in finish:
            day = finish[milestone.task_id]
            name = _("Milestone: %(name)s") % {"name": milestone.localized_name}
            yield _event(f"milestone-{milestone.pk}", plan.engagement, name, day, day, address)


def _task(row: Scheduled, engagement: Engagement, address: str) -> Event:
    task = row.task
    event = _event(f"task-{task.pk}", engagement, str(task), row.start, row.finish, address)
    event.add("sequence", task.lock_version)
    if row.state == "passed":
        event.add("status", "CONFIRMED")
    else:
        event.add("status", "TENTATIVE")  # computed anew as the work goes
    if task.owner:
        event.add("description", _("Owner: %(name)s") % {"name": task.owner})
    return event


def _todos(owner: User) -> Iterator[Event]:
    found = Todo.objects.visible_to(owner).filter(owner=owner, done_at=None).select_related(
        "engagement")
    for todo in found[:MOST_PLANS]:
        name = _("To do: %(text)s") % {"text": todo.text}
        yield _event(f"todo-{todo.pk}", todo.engagement, name, todo.due_on, todo.due_on,
                     reverse("planning:control", args=[todo.engagement.code]))


def _event(number: str, engagement: Engagement, summary: str, first: date, last: date,
           address: str) -> Event:
    """Whole days; an event without times ends the day before its DTEND."""
    base = settings.PUBLIC_URL.rstrip("/")
    event = Event()
    event.add("uid", f"{number}@{base.partition('://')[2]}")
    event.add("summary", f"{engagement.code} · {summary}")
    event.add("dtstart", first)
    event.add("dtend", last + timedelta(days=1))
    event.add("transp", "TRANSPARENT")  # a task of weeks does not make one busy
    event.add("categories", [engagement.code])
    event.add("url", base + address)
    return event


def _stamped(event: Event, now: datetime) -> Event:
    event.add("dtstamp", now)
    return event
