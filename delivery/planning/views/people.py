"""Pages about people over all engagements; each view calls one service or query."""

from datetime import timedelta

from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from delivery.planning.forms.people import AbsenceForm, MarginFloorForm, PeriodForm, SkillForm
from delivery.planning.models import Absence, Skill
from delivery.planning.people import capacity, work_done
from delivery.planning.plan.working_days import monday_of
from delivery.planning.services import people as services
from engagements.access import Can, allowed, require
from engagements.models import User
from engagements.web.form_actions import attempt, show_errors
from engagements.web.paging import page_of

PER_PAGE = 50


@require_GET
def weeks(request):
    """People × weeks; with a skill, or asked for, those with the most free days first."""
    require(request.user, Can.VIEW_INTERNAL)
    asked = _day(request.GET.get("from", ""))
    first = monday_of(asked or timezone.localdate())
    page = page_of(capacity.people_of_the_firm(request.GET), request.GET, PER_PAGE)
    rows = capacity.weeks_of(page.object_list, first)
    if request.GET.get("skill") or request.GET.get("free"):
        rows = capacity.free_first(rows)
    return render(request, "delivery/planning/people_weeks.html", {
        "page": page, "rows": rows, "first": first,
        "weeks": [first + n * capacity.WEEK for n in range(capacity.WEEKS)],
        "before": first - capacity.WEEKS * capacity.WEEK,
        "after": first + capacity.WEEKS * capacity.WEEK,
        "skills": Skill.objects.visible_to(request.user).order_by("name").values_list(
            "name", flat=True).distinct()})


@require_GET
def person(request, username):
    """What a person did between two dates, what is planned, absences and skills."""
    require(request.user, Can.VIEW_INTERNAL)
    found, today = _person(username), timezone.localdate()
    form = PeriodForm(request.GET or None)
    asked = form.cleaned_data if form.is_valid() else {}
    first = asked.get("start") or monday_of(today) - timedelta(days=7)
    last = asked.get("end") or today
    rows = work_done.booked(request.user, found, first, last)
    return render(request, "delivery/planning/person_work.html", {
        "person": found, "first": first, "last": last, "booked": rows,
        "days": sum(row.days for row in rows),
        "moves": work_done.moves(request.user, found, first, last),
        "tasks": list(work_done.tasks_ahead(request.user, found)),
        "absences": work_done.absences(found, first), "skills": found.skills.all(),
        "warning": capacity.overbooking_of(found),
        "may_edit": found == request.user or allowed(request.user, Can.MANAGE),
        "absence_form": AbsenceForm(), "skill_form": SkillForm()})


@require_POST
def absence_add(request, username):
    return _added(request, username, AbsenceForm, services.add_absence)


@require_POST
def skill_set(request, username):
    return _added(request, username, SkillForm, services.set_skill)


def _added(request, username, form_class, service):
    require(request.user, Can.VIEW_INTERNAL)
    found, form = _person(username), form_class(request.POST)
    if form.is_valid():
        attempt(request, lambda: service(actor=request.user, person=found, **form.cleaned_data),
                _("Saved."))
    else:
        show_errors(request, form)
    return redirect("planning:person", username)


@require_POST
def absence_remove(request, pk):
    row = get_object_or_404(Absence.objects.visible_to(request.user), pk=pk)
    attempt(request, lambda: services.remove_absence(actor=request.user, absence=row),
            _("Removed."))
    return redirect("planning:person", row.person.username)


@require_POST
def skill_remove(request, pk):
    row = get_object_or_404(Skill.objects.visible_to(request.user), pk=pk)
    attempt(request, lambda: services.remove_skill(actor=request.user, skill=row), _("Removed."))
    return redirect("planning:person", row.person.username)


@require_POST
def margin_floor_set(request):
    require(request.user, Can.MANAGE)
    form = MarginFloorForm(request.POST)
    if form.is_valid():
        attempt(request, lambda: services.set_margin_floor(
            actor=request.user, **form.cleaned_data), _("Saved."))
    else:
        show_errors(request, form)
    return redirect("planning:costs")


def _person(username: str) -> User:
    return get_object_or_404(capacity.people_of_the_firm({}), username=username)


def _day(text: str):
    try:
        return parse_date(text)
    except ValueError:
        return None
