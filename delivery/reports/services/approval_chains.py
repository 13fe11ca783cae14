"""The firm's chain of a kind: set by an administrator, and put back to what was shipped."""

from django.db import transaction

from delivery.reports import registry
from delivery.reports.approvals import approval_steps
from delivery.reports.models import ApprovalStep
from engagements.access import require_administrator
from engagements.audit import audit_log
from engagements.models import User


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
    rows = approval_steps.numbered(steps)
    approval_steps.require_chain(declared.code, rows)
    ApprovalStep.objects.filter(kind=kind).delete()
    made = ApprovalStep.objects.bulk_create(ApprovalStep(kind=kind, **row) for row in rows)
    audit_log.record(actor=actor, action="approval_chain.save", target=made[0],
                     data={"kind": kind, "steps": rows})
    return made


@transaction.atomic
def reset_chain(*, actor: User, kind: str) -> None:
    """Put the shipped chain back. Safe to repeat."""
    require_administrator(actor)
    first = ApprovalStep.objects.filter(kind=registry.get(kind).code).first()
    if first:
        ApprovalStep.objects.filter(kind=kind).delete()
        audit_log.record(actor=actor, action="chain.reset", target=first, data={"kind": kind})
