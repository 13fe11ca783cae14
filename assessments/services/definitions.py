"""Writes of metric definitions. A version that exists is never changed."""

from contextlib import suppress
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from assessments.definitions.declaration import Definition
from assessments.definitions.standard_library import STANDARD
from assessments.definitions.versions import CHANGEABLE, changes, unit_of
from assessments.models import MetricDefinition
from assessments.verdicts.computation import rule_of
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import User

MOST_RUNS = 20


def load_standard_definitions() -> None:
    """Make the catalogue's definitions exist, with one entry in the audit log for those that are
    new; a version that exists is never changed, a corrected definition is its next version."""
    stored: dict[str, list[MetricDefinition]] = {}
    for row in MetricDefinition.objects.order_by("version"):
        stored.setdefault(row.code, []).append(row)
    new = [row for entry in STANDARD if (row := _missing(entry, stored.get(entry.code, [])))]
    if new:
        with suppress(IntegrityError), transaction.atomic():  # another process was quicker
            MetricDefinition.objects.bulk_create(new)
            audit_log.record(actor=None, action="definition.load", target=new[0],
                             data={"codes": [definition.code for definition in new]})


def _missing(entry: Definition, stored: list[MetricDefinition]) -> MetricDefinition | None:
    """The version that the library has and the database has not."""
    if not stored:
        return MetricDefinition(**entry.stored(), version=1)
    is_known = any(entry.rule() == rule_of(row) for row in stored)
    if not entry.correction or is_known:
        return None
    return MetricDefinition(**entry.stored(), version=stored[-1].version + 1,
                            change_note=entry.correction)


@transaction.atomic
def add_definition_version(
    *, actor: User, definition: MetricDefinition, change_note: str, **fields: Any,
) -> MetricDefinition:
    """Add the next version of a definition; older ones and what is signed stay (DOMAIN AR-01).

    Args:
        definition: the version that the new one starts from.
        change_note: why the version is made.
        fields: those of CHANGEABLE that differ.

    Raises InvalidInput where nothing differs, a window or count makes no sense, or no reason is
    given.
    """
    require(actor, Can.MANAGE)
    new = drafted(definition, fields)
    _check(definition, new, change_note)
    same_code = MetricDefinition.objects.select_for_update(of=("self",), no_key=True).filter(
        code=definition.code)
    new.version = max(row.version for row in same_code) + 1
    new.change_note, new.created_by = change_note.strip()[:240], actor
    new.save()
    audit_log.record(actor=actor, action="definition.version", target=new, data={
        "from": definition.version, "note": new.change_note,
        "changes": {c.label: [str(c.before), str(c.after)] for c in changes(definition, new)}})
    return new


def drafted(definition: MetricDefinition, fields: dict[str, Any]) -> MetricDefinition:
    """An unsaved copy with the given fields; nothing is checked."""
    copied = {f.name: getattr(definition, f.name) for f in MetricDefinition._meta.fields
              if f.name not in ("id", *MetricDefinition.BOOKKEEPING)}
    new = MetricDefinition(**{**copied, **{k: fields[k] for k in CHANGEABLE if k in fields}})
    new.unit = unit_of(definition, new.figure)
    if new.selection == MetricDefinition.Selection.LAST:
        new.runs = 1
    return new


def _check(old: MetricDefinition, new: MetricDefinition, change_note: str) -> None:
    checks = (
        (not change_note.strip(), _("Give the reason for this version.")),
        (not changes(old, new), _("Nothing has changed from the version it is based on.")),
        (new.first_step and new.last_step and new.first_step > new.last_step,
         _("The window ends before it begins.")),
        (not 0 <= new.epsilon < 1, _("The near-zero guard ε lies between 0 and 1.")),
        (not 0 < new.minimum_coverage <= 1, _("The minimum coverage lies between 0 and 1.")),
    )
    for is_wrong, message in checks:
        if is_wrong:
            raise InvalidInput(message)
    require_run_count(new.selection, new.runs)


def require_run_count(selection: str, runs: int) -> None:
    """Raise InvalidInput for a number of runs that the selection rule cannot look at."""
    if not 1 <= runs <= MOST_RUNS:
        raise InvalidInput(_("Between 1 and 20 runs can be judged."))
    if selection != MetricDefinition.Selection.LAST and runs < 2:
        raise InvalidInput(_("A rule over several runs needs two or more."))
