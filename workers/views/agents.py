"""Agents of an engagement: what they are said to be, what they did, their hours, their end."""

from django.conf import settings
from django.db.models import Count
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from engagements.access import Can, allowed, require
from engagements.models import Agent, AuditEntry, Engagement, User
from engagements.services import agents as services
from engagements.web.form_actions import attempt, attempt_form, show_errors
from workers.forms.agents import AgentForm, EngagementHoursForm, HoursForm
from workers.services import agent_hours
from workers.services.agents import stop_agent

NEWEST = 5  # entries of the audit log that a row shows


@require_http_methods(["GET", "POST"])
def agents(request, code):
    """Everybody who sees the engagement, the customer too; with a form for who works there."""
    engagement = get_object_or_404(Engagement.objects.visible_to(request.user), code=code)
    may_add = allowed(request.user, Can.WORK) and not engagement.has_ended
    form, key = AgentForm(request.POST or None), ""
    if request.method == "POST":
        require(request.user, Can.WORK, engagement)
    if request.method == "POST" and form.is_valid():
        made = attempt_form(form, lambda: services.create_agent(
            actor=request.user, engagement=engagement, **form.cleaned_data))
        form, key = (AgentForm(), made[1]) if made else (form, "")
    found = Agent.objects.filter(engagement=engagement).select_related("owner").annotate(
        job_count=Count("jobs"))
    may_see = allowed(request.user, Can.VIEW_INTERNAL)
    may_limit = allowed(request.user, Can.MANAGE) and not engagement.has_ended
    return render(request, "workers/agents.html", {
        "engagement": engagement, "active": "agents", "form": form if may_add else None, "key": key,
        "may_see": may_see, "limit_form": may_limit and EngagementHoursForm(instance=engagement),
        "engagement_left": agent_hours.engagement_left(engagement) if may_see else None,
        "rows": [_row(request.user, agent) for agent in found],
        "mcp_url": settings.MCP_SECRET and settings.MCP_URL},
        status=400 if form.errors else 200)


def _row(user: User, agent: Agent) -> dict:
    may_see = allowed(user, Can.VIEW_INTERNAL)
    may_rule = allowed(user, Can.WORK) and (user.pk == agent.owner_id or allowed(user, Can.MANAGE))
    is_open = agent.ended_at is None
    entries = AuditEntry.objects.filter(engagement=agent.engagement_id, data__by__agent=agent.pk)
    return {"agent": agent, "entries": entries.defer("rows")[:NEWEST] if may_see else [],
            "hours": agent_hours.hours_of(agent) if may_see else None,
            "may_stop": may_rule and is_open,
            "hours_form": HoursForm(instance=agent, prefix=str(agent.pk))
            if may_rule and is_open else None}


def _agent(request, code: str, pk: int) -> Agent:
    return get_object_or_404(Agent.objects.visible_to(request.user).select_related("engagement"),
                             pk=pk, engagement__code=code)


@require_POST
def agent_stop(request, code, pk):
    agent = _agent(request, code, pk)
    attempt(request, lambda: stop_agent(actor=request.user, agent=agent),
            _("The agent is stopped; what it had under way is being cancelled."))
    return redirect("workers:agents", code)


@require_POST
def agent_hours_set(request, code, pk):
    agent = _agent(request, code, pk)
    form = HoursForm(request.POST, prefix=str(pk))
    if form.is_valid():
        attempt(request, lambda: services.set_hours(
            actor=request.user, agent=agent, **form.cleaned_data), _("Saved."))
    else:
        show_errors(request, form)
    return redirect("workers:agents", code)


@require_POST
def engagement_hours_set(request, code):
    engagement = get_object_or_404(Engagement.objects.visible_to(request.user), code=code)
    form = EngagementHoursForm(request.POST)
    if form.is_valid():
        attempt(request, lambda: services.set_engagement_hours(
            actor=request.user, engagement=engagement, **form.cleaned_data), _("Saved."))
    else:
        show_errors(request, form)
    return redirect("workers:agents", code)
