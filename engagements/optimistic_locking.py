"""Optimistic locking of rows that several people edit: the second writer sees what changed."""

from typing import TypeVar

from django.core.exceptions import FieldDoesNotExist
from django.utils.translation import gettext as _

from engagements.audit import audit_log
from engagements.errors import DeskError
from engagements.models import AuditEntry, Engagement, User
from engagements.models.optimistic_locked import OptimisticLocked
from engagements.text.text_joining import in_turn, labelled

Row = TypeVar("Row", bound=OptimisticLocked)


class EditConflict(DeskError):
    """Somebody else saved first; `details["changes"]` says who changed what.

    `seen_as` is the input that holds the version which the writer saw; the newest one stands in
    the details as `newest`.
    """

    code = "edit_conflict"
    status = 409
    seen_as, newest = "seen", "version"


def lock_checked(row: Row, seen: int | None) -> Row:
    """The row, read anew and locked. Call it inside the transaction of the write.

    Args:
        seen: the `lock_version` that the writer's page showed; None to edit whatever is there.
    Raises:
        EditConflict: the row has moved on since.
    """
    current = type(row)._default_manager.select_for_update(
        of=("self",), no_key=True).get(pk=row.pk)
    if seen is not None and current.lock_version != seen:
        changes = changes_since(current, seen)
        changed = in_turn(labelled(c["who"], f"{c['field']} {c['before']} → {c['after']}")
                       for c in changes)
        raise EditConflict(
            _("“%(sheet)s” was changed while you were editing. Your changes were not saved. "
              "Changed in the meantime: %(changes)s. Check this and save again.")
            % {"sheet": current, "changes": changed or "--"}, changes=changes,
            version=current.lock_version)
    return current


def changes_since(row: OptimisticLocked, seen: int) -> list[dict]:
    """Who changed which field of the row after version `seen`, oldest first."""
    entries = AuditEntry.objects.filter(
        target_type=row._meta.label_lower, target_id=str(row.pk),
        data__lock_version__gt=seen).select_related("actor").order_by("pk")
    return [{"who": str(entry.actor), "at": entry.at.isoformat(),
             "field": _field_label(row, field), "before": before, "after": after}
            for entry in entries for field, (before, after) in entry.data["changed"].items()]


def _field_label(row: OptimisticLocked, name: str) -> str:
    """The field's name in the reader's language; what is no field is shown as it stands."""
    try:
        return str(row._meta.get_field(name).verbose_name)
    except FieldDoesNotExist:
        return name


def save_changes(row: OptimisticLocked, *, actor: User, action: str, engagement: Engagement,
               changed: dict[str, tuple]) -> None:
    """Count the version up, save, and write the audit entry that names each changed field."""
    row.lock_version += 1
    row.save()
    audit_log.record(actor=actor, action=action, target=row, engagement=engagement, data={
        "lock_version": row.lock_version,
        "changed": {field: [str(before), str(after)]
                    for field, (before, after) in changed.items()}})


def assign(row: OptimisticLocked, fields: dict) -> dict[str, tuple]:
    """Set the fields; {name: (before, after)} of those that differ."""
    changed = {}
    for name, value in fields.items():
        before = getattr(row, name)
        if before != value:
            changed[name] = ("--" if before is None else before,
                             "--" if value is None else value)
            setattr(row, name, value)
    return changed
