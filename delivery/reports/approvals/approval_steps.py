"""The steps of a document's chain (DOMAIN 9.11): the firm's of its kind, and whom they are for."""

from collections.abc import Collection

from delivery.reports import registry
from delivery.reports.models import ApprovalStep, ApprovalTurn, Step
from engagements.access import PERMISSIONS
from engagements.models import User

Action = Step.Action
SHIPPED = (
    {"action": Action.REVIEW, "position": 1, "title": "审核", "title_en": "Reviewed by",
     "role": ""},
    {"action": Action.APPROVE, "position": 2, "title": "批准", "title_en": "Approved by",
     "role": ""})
FIELDS = ("action", "position", "title", "title_en", "role")


def chain_of(kind: str) -> list[dict]:
    """The steps of a kind in order, as plain values: the firm's, else the shipped ones."""
    return chains_of([kind])[kind][0]


def chains_of(kinds: Collection[str]) -> dict[str, tuple[list[dict], bool]]:
    """By kind: the steps in force, and whether they are the shipped ones; one query for all."""
    own: dict[str, list[dict]] = {kind: [] for kind in kinds}
    for step in ApprovalStep.objects.filter(kind__in=kinds).values("kind", *FIELDS):
        own[step.pop("kind")].append(step)
    return {kind: (steps or [dict(step) for step in SHIPPED], not steps)
            for kind, steps in own.items()}


def roles_for(kind: str, action: str) -> list[str]:
    """Roles that may do such a step at all; an empty role of a step means any of them."""
    declared = registry.get(kind)
    right = declared.issued_by if action == Action.APPROVE else declared.reviewed_by
    return [role for role, rights in PERMISSIONS.items() if right in rights]


def is_for(user: User, turn: ApprovalTurn) -> bool:
    """Whether the turn waits for this person: by name, by role, or for any who may do it."""
    if turn.holder_id:
        return turn.holder_id == user.pk
    if turn.role:
        return turn.role == user.role
    return user.role in roles_for(turn.document.kind, turn.action)
