"""The firm's chain of a kind: set by an administrator, and put back to what was shipped."""

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.reports import registry
from delivery.reports.approvals import approval_steps
from delivery.reports.models import ApprovalStep, Step
from engagements.access import require_administrator
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import User

MOST_STEPS = 8
Action = Step.Action


@transaction.atomic
def save_chain(*, actor: User, kind: str, steps: list[dict]) -> list[ApprovalStep]:
    """Set the chain of a kind; documents submitted from now on follow it.

    Args:
        steps: in order: action, title, title_en, role (empty: any who may), and for a review
            `is_together`: it is co-signed with the step before.

    Raises InvalidInput unless at least one review comes first and one approval last.
    """
    require_administrator(actor)
    declared = registry.get(kind)
    rows = _numbered(steps)
    _check(declared.code, rows)
    ApprovalStep.objects.filter(kind=kind).delete()
    made = ApprovalStep.objects.bulk_create(ApprovalStep(kind=kind, **row) for row in rows)
    audit_log.record(actor=actor, action="chain.save", target=made[0],
                     data={"kind": kind, "steps": rows})
    return made


def _numbered(steps: list[dict]) -> list[dict]:
    rows, position = [], 0
    for step in steps:
        position += not (rows and step.get("is_together") and step["action"] == Action.REVIEW)
        rows.append({"action": str(step["action"]), "position": position,
                     "title": step["title"].strip(), "title_en": step.get("title_en", "").strip(),
                     "role": step.get("role", "")})
    return rows


def _check(kind: str, rows: list[dict]) -> None:
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
                            and row["role"] not in approval_steps.roles_for(kind, row["action"]))):
            raise InvalidInput(_("The role of “%(title)s” may not do this step.") % {
                "title": row["title"]})


@transaction.atomic
def reset_chain(*, actor: User, kind: str) -> None:
    """Put the shipped chain back. Safe to repeat."""
    require_administrator(actor)
    first = ApprovalStep.objects.filter(kind=registry.get(kind).code).first()
    if first:
        ApprovalStep.objects.filter(kind=kind).delete()
        audit_log.record(actor=actor, action="chain.reset", target=first, data={"kind": kind})
