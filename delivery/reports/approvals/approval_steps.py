"""The steps of a document's chain (DOMAIN 9.11): the firm's of its kind, and whom they are for."""

from collections.abc import Collection, Iterable

from django.utils.translation import gettext as _

from delivery.reports import registry
from delivery.reports.models import ApprovalStep, ApprovalTurn, Step
from engagements.errors import InvalidInput
from engagements.models import User
from engagements.permissions import PERMISSIONS

Action = Step.Action
SHIPPED = (
    {"action": Action.REVIEW, "position": 1, "title": "审核", "title_en": "Reviewed by",
     "role": ""},
    {"action": Action.APPROVE, "position": 2, "title": "批准", "title_en": "Approved by",
     "role": ""})
MOST_STEPS = 8
FIELDS = ("action", "position", "title", "title_en", "role")


def chain_of(kind: str) -> list[dict]:
    """The steps of a kind in order, as plain values: the firm's, else the shipped ones."""
    return chains_of([kind])[kind][0]


def chains_of(kinds: Collection[str]) -> dict[str, tuple[list[dict], bool]]:
    """By kind: the steps in force, and whether they are the shipped ones; one query for all."""
    own: dict[str, list[dict]] = {kind: [] for kind in kinds}
    for step in ApprovalStep.objects.filter(kind__in=kinds).values("kind", *FIELDS):
        own[step.pop("kind")].append(step)
    return {kind: (steps or _shipped(kind), not steps) for kind, steps in own.items()}


def _shipped(kind: str) -> list[dict]:
    return numbered(registry.get(kind).chain) or [dict(step) for step in SHIPPED]


def roles_for(kind: str, action: str) -> list[str]:
    """Roles that may do such a step at all; an empty role of a step means any of them."""
    declared = registry.get(kind)
    right = declared.issued_by if action == Action.APPROVE else declared.reviewed_by
    return [role for role, rights in PERMISSIONS.items() if right in rights]


def numbered(steps: Iterable[dict]) -> list[dict]:
    """The steps as rows with their positions; those that sign together have the same."""
    rows, position = [], 0
    for step in steps:
        position += not (rows and step.get("is_together") and step["action"] == Action.REVIEW)
        rows.append({"action": str(step["action"]), "position": position,
                     "title": step["title"].strip(), "title_en": step.get("title_en", "").strip(),
                     "role": step.get("role", "")})
    return rows


def require_chain(kind: str, rows: list[dict]) -> None:
    """Raise InvalidInput unless at least one review comes first and one approval last, each with
    a title and a role that may do it."""
    if not 2 <= len(rows) <= MOST_STEPS:
        raise InvalidInput(_("A chain has two to %(most)s steps.") % {"most": MOST_STEPS})
    actions = [row["action"] for row in rows]
    if actions[-1] != Action.APPROVE or set(actions[:-1]) != {Action.REVIEW}:
        raise InvalidInput(_("A chain has at least one review, and its last step approves."))
    for row in rows:
        if not row["title"]:
            raise InvalidInput(_("Give every step a title."))
        is_known = row["role"] in dict(Step._meta.get_field("role").choices)
        if row["role"] and (not is_known or (row["action"] == Action.APPROVE
                            and row["role"] not in roles_for(kind, row["action"]))):
            raise InvalidInput(_("The role of “%(title)s” may not do this step.") % {
                "title": row["title"]})


def is_for(user: User, turn: ApprovalTurn) -> bool:
    """Whether the turn waits for this person: by name, while its holder is away, by role, or for
    any who may do it."""
    if turn.holder_id:
        return turn.holder_id == user.pk or turn.holder_id in user.stands_in_for
    if turn.role:
        return turn.role == user.role
    return user.role in roles_for(turn.document.kind, turn.action)
