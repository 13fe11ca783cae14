"""What a job would be, under a hash by which it is queued as it was shown, or not at all."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from bundle_verifier.canonical import content_hash
from engagements.errors import WrongState
from engagements.models import User
from workers.services.agent_hours import card_hours, hours_of
from workers.services.job_checks import Checked, checked


@dataclass(frozen=True)
class Plan:
    """`errors`: parameter and sentence of what forbids the job; without one it has a `plan`, the
    hash. `hours_left`: of the agent that asks; None for a person."""

    plan: str
    command: list[str]
    card_hours: Decimal
    hours_left: Decimal | None
    errors: list[tuple[str, str]]
    warnings: list[str]


def plan_job(*, actor: User, restarts: int = 0, **order: Any) -> Plan:
    """What `queue_job` would do with the order; nothing is written. Raises NotAllowed."""
    found = checked(actor, restarts=restarts, **order)
    errors = found.errors
    return Plan(
        "" if errors else hash_of(found, restarts),
        [] if errors or not found.kind.runs_on_node else found.kind.argv(found.values),
        Decimal(0) if errors else _card_hours(found, restarts),
        hours_of(actor.agent).left if actor.agent else None, errors,
        [hit.text for hit in found.hits])


def hash_of(found: Checked, restarts: int) -> str:
    """SHA-256 over what would run where, for how long, in which environment."""
    kind, values = found.kind, found.values
    return content_hash([
        kind.code, found.engagement and found.engagement.code, values,
        kind.argv(values) if kind.runs_on_node else [], kind.cards_for(values),
        kind.time_limit(values), restarts, [node and node.name for node in found.targets],
        [way.as_json() for way in found.environments]])


def require_as_planned(found: Checked, restarts: int, plan: str) -> None:
    """Raise WrongState where the checked order is not the one that the hash was made for."""
    if hash_of(found, restarts) != plan:
        raise WrongState(_("The job is not the one that was planned: its command, node, "
                           "environment or time limit is another one now. Plan it again."))


def _card_hours(found: Checked, restarts: int) -> Decimal:
    cards = found.kind.cards_for(found.values) * len(found.targets)
    return card_hours(cards, found.kind.time_limit(found.values), 1 + restarts)
