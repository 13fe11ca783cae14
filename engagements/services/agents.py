"""Writes about agents: made, given hours, ended. What ends their jobs is `workers.services.agents`.
"""

from datetime import timedelta
from decimal import Decimal

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import Can, allowed, require
from engagements.audit import audit_log
from engagements.decisions import require_person
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import Agent, ApiToken, Engagement, User
from engagements.services.api_tokens import make_key
from engagements.services.field_validation import validate_fields, validate_row

MOST_DAYS = 90
CLAIMED = ("harness", "language_model", "skill", "skill_commit")


@transaction.atomic
def create_agent(*, actor: User, engagement: Engagement, name: str, days: int = 30,
                 hours_limit: Decimal | None = None, hours_per_day: Decimal | None = None,
                 audience: str = ApiToken.Audience.API, **claimed: str) -> tuple[Agent, str]:
    """An agent of one's own in an engagement, and the key that it signs in with, which is not
    stored.

    Args:
        days: until it expires.
        hours_limit: card hours that its jobs may use in all, and `hours_per_day` on one day.
        audience: whether its key is one of the API, or of the MCP server alone.
        claimed: of CLAIMED, as the owner says.
    Raises NotAllowed for who may not work there, and for tokens; InvalidInput for days out of
    bounds, and for a key of an MCP server that the installation does not have.
    """
    require(actor, Can.WORK, engagement)
    require_person(actor, "agent.create")
    if not 1 <= days <= MOST_DAYS:
        raise InvalidInput(_("An agent is valid for 1 to %(most)s days.") % {"most": MOST_DAYS})
    if audience == ApiToken.Audience.MCP and not settings.MCP_SECRET:
        raise InvalidInput(_("This installation has no MCP server over HTTP (DESK_MCP_SECRET)."))
    now = timezone.now()
    hours = {name: value for name, value in (
        ("hours_limit", hours_limit), ("hours_per_day", hours_per_day)) if value is not None}
    agent = Agent(owner=actor, engagement=engagement, name=name.strip(), created_at=now,
                  expires_at=now + timedelta(days=days), **hours,
                  **{field: claimed.get(field, "").strip() for field in CLAIMED})
    validate_row(agent)
    agent.save()
    key, columns = make_key()
    ApiToken.objects.create(
        owner=actor, created_by=actor, name=agent.name, scope=ApiToken.Scope.AGENT, agent=agent,
        audience=audience, engagement=engagement, created_at=now, expires_at=agent.expires_at,
        **columns)
    audit_log.record(actor=actor, action="agent.create", target=agent, engagement=engagement, data={
        "days": days, "audience": audience, "hours_limit": agent.hours_limit,
        "hours_per_day": agent.hours_per_day,
        **{field: getattr(agent, field) for field in CLAIMED}})
    return agent, key


@transaction.atomic
def set_hours(*, actor: User, agent: Agent, hours_limit: Decimal, hours_per_day: Decimal) -> Agent:
    """Other limits for an agent's jobs from now on; by its owner or a manager of the engagement.

    Raises NotAllowed for others and for tokens, an agent's own among them.
    """
    require_owner_or_manager(actor, agent)
    agent = Agent.objects.select_for_update(of=("self",), no_key=True).get(pk=agent.pk)
    before = {"hours_limit": agent.hours_limit, "hours_per_day": agent.hours_per_day}
    agent.hours_limit, agent.hours_per_day = hours_limit, hours_per_day
    validate_row(agent)
    agent.save(update_fields=["hours_limit", "hours_per_day"])
    audit_log.record(actor=actor, action="agent.hours", target=agent, engagement=agent.engagement,
                     data={"before": before, "after": {
                         "hours_limit": hours_limit, "hours_per_day": hours_per_day}})
    return agent


@transaction.atomic
def set_engagement_hours(*, actor: User, engagement: Engagement,
                         agent_hours_limit: Decimal | None) -> Engagement:
    """What the jobs of all its agents may use together from now on; None for no such limit.

    Raises NotAllowed for who does not manage it and for tokens; InvalidInput.
    """
    require(actor, Can.MANAGE, engagement)
    require_person(actor, "agent.engagement_hours")
    engagement = Engagement.objects.select_for_update(of=("self",), no_key=True).get(
        pk=engagement.pk)
    before, engagement.agent_hours_limit = engagement.agent_hours_limit, agent_hours_limit
    validate_fields(engagement, ["agent_hours_limit"])
    engagement.save(update_fields=["agent_hours_limit"])
    audit_log.record(actor=actor, action="agent.engagement_hours", target=engagement,
                     engagement=engagement, data={"before": before, "after": agent_hours_limit})
    return engagement


@transaction.atomic
def end_agent(*, actor: User, agent: Agent) -> Agent:
    """End an agent and its keys; its jobs go on. Nothing happens to one that has ended."""
    require_owner_or_manager(actor, agent)
    agent = Agent.objects.select_for_update(of=("self",), no_key=True).get(pk=agent.pk)
    if agent.ended_at is None:
        agent.ended_at = timezone.now()
        agent.save(update_fields=["ended_at"])
        agent.tokens.filter(revoked_at=None).update(revoked_at=agent.ended_at)
        audit_log.record(actor=actor, action="agent.stop", target=agent,
                         engagement=agent.engagement)
    return agent


def require_owner_or_manager(actor: User, agent: Agent) -> None:
    """Raise NotAllowed for anybody else, and for tokens."""
    require(actor, Can.WORK, agent.engagement, may_have_ended=True)
    require_person(actor, "agent.stop")
    if actor.pk != agent.owner_id and not allowed(actor, Can.MANAGE):
        raise NotAllowed(_("Only its owner or a manager of the engagement may do this."))
