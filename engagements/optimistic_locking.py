"""Optimistic locking of sheets that several people edit: the second writer sees what changed."""

from typing import TypeVar

from django.core.exceptions import FieldDoesNotExist
from django.utils.translation import gettext as _

from engagements.audit import audit_log
from engagements.errors import DeskError
from engagements.models import AuditEntry, Engagement, User
from engagements.models.optimistic_locked import OptimisticLocked
from engagements.text.text_joining import in_turn, labelled

Sheet = TypeVar("Sheet", bound=OptimisticLocked)


class EditConflict(DeskError):
    """Somebody else saved first; `details["changes"]` says who changed what."""

    code = "edit_conflict"
    status = 409


def lock_checked(sheet: Sheet, seen: int | None) -> Sheet:
    """The sheet's locked row. Call it inside the transaction of the write.

    Args:
        seen: the `lock_version` that the writer's page showed; None to edit whatever is there.
    Raises:
        EditConflict: the row has moved on since.
    """
    current = type(sheet)._default_manager.select_for_update(
        of=("self",), no_key=True).get(pk=sheet.pk)
    if seen is not None and current.lock_version != seen:
        changes = changes_since(current, seen)
        changed = in_turn(labelled(c["who"], f"{c['field']} {c['before']} → {c['after']}")
                       for c in changes)
        raise EditConflict(
            _("“%(sheet)s” was changed while you were editing. Nothing of yours was saved. "
              "Changed meanwhile: %(changes)s. Check this and save again.")
            % {"sheet": current, "changes": changed or "--"}, changes=changes,
            version=current.lock_version)
    return current


def changes_since(sheet: OptimisticLocked, seen: int) -> list[dict]:
    """Who changed which field of the sheet after version `seen`, oldest first."""
    entries = AuditEntry.objects.filter(
        target_type=sheet._meta.label_lower, target_id=str(sheet.pk),
        data__lock_version__gt=seen).select_related("actor").order_by("pk")
    return [{"who": str(entry.actor), "at": entry.at.isoformat(),
             "field": _field_label(sheet, field), "before": before, "after": after}
            for entry in entries for field, (before, after) in entry.data["changed"].items()]


def _field_label(sheet: OptimisticLocked, name: str) -> str:
    """The field's name in the reader's language; what is no field is shown as it stands."""
    try:
        return str(sheet._meta.get_field(name).verbose_name)
    except FieldDoesNotExist:
        return name


def save_changes(sheet: OptimisticLocked, *, actor: User, action: str, engagement: Engagement,
               changed: dict[str, tuple]) -> None:
    """Count the version up, save, and write the audit entry that names each changed field."""
    sheet.lock_version += 1
    sheet.save()
    audit_log.record(actor=actor, action=action, target=sheet, engagement=engagement, data={
        "lock_version": sheet.lock_version,
        "changed": {field: [str(before), str(after)]
                    for field, (before, after) in changed.items()}})


def assign(sheet: OptimisticLocked, fields: dict) -> dict[str, tuple]:
    """Set the fields; {name: (before, after)} of those that differ."""
    changed = {}
    for name, value in fields.items():
        before = getattr(sheet, name)
        if before != value:
            changed[name] = ("--" if before is None else before,
                             "--" if value is None else value)
            setattr(sheet, name, value)
    return changed
