"""Criteria that come into force with a change, those of a model that it adds among them."""

from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from assessments import services as assessing
from assessments.definitions.threshold_units import ThresholdUnit
from assessments.models import Baseline, CriteriaSet, MetricDefinition
from assessments.services import baselines
from delivery.planning.changes.scope_effects import stages_of
from delivery.planning.models import AddedCriterion, ChangeRequest, ScopeAction
from delivery.planning.services.change_drafts import change_draft
from engagements.errors import InvalidInput, WrongState
from engagements.models import MigratedModel, User
from engagements.optimistic_locking import save_changes
from engagements.text.text_joining import listed
from toolreaders.verdicts.quantities import quantities
from workers.artifacts.reading_state import require_read
from workers.models import Artifact


@transaction.atomic
def add_criterion(*, actor: User, change: ChangeRequest, code: str, definition: MetricDefinition,
                  stage: str, threshold: Decimal, baseline: Baseline | None = None,
                  artifact: Artifact | None = None) -> AddedCriterion:
    """A criterion that is signed with the change.

    Args:
        code: of a model of the engagement, or of one that the change adds.
        threshold: a fraction for figures in per cent.
        baseline: of a model of the engagement. artifact: the reference's raw file, from which the
            baseline of the model is recorded when the change comes into force.
    Raises:
        InvalidInput: no such model, or a reference that is lacking or holds another quantity.
    """
    change = change_draft(actor, change)
    row = AddedCriterion(change=change, code=code.strip(), definition=definition, stage=stage,
                         threshold=threshold, baseline=baseline, artifact=artifact)
    require_model(row)
    _require_reference(row)
    if change.added_criteria.filter(code=row.code, definition=definition, stage=stage).exists():
        raise InvalidInput(_("This change already includes: %(what)s. Remove that first.")
                           % {"what": row})
    row.save()
    save_changes(change, actor=actor, action="change.effect", engagement=change.engagement,
                 changed={str(row): ("--", threshold)})
    return row


def require_model(row: AddedCriterion) -> None:
    """Raise WrongState unless the model is there or comes in, with that stage in its scope."""
    coming = row.change.scope_effects.filter(action=ScopeAction.ADD_MODEL, code=row.code).first()
    if coming is None:
        if not row.change.engagement.models.current().filter(code=row.code).exists():
            raise WrongState(_("“%(code)s” is neither a model of this engagement nor one that "
                               "this change adds.") % {"code": row.code})
    elif row.stage not in stages_of(coming):
        raise WrongState(_("%(model)s does not go through the stage “%(stage)s”.") % {
            "model": coming, "stage": row.get_stage_display()})


def _require_reference(row: AddedCriterion) -> None:
    if row.baseline and (row.baseline.model.code != row.code or row.artifact
                         or row.baseline.model.engagement_id != row.change.engagement_id):
        raise InvalidInput(_("The baseline belongs to another model."))
    if row.baseline and not row.baseline.serves(row.definition):
        raise InvalidInput(_("This baseline measures %(quantity)s, which is not what the "
                             "definition needs.")
                           % {"quantity": row.baseline.quantity})
    if row.artifact:
        held_quantity(row)
    elif not row.baseline and row.definition.calculator != MetricDefinition.Calculator.VALUE:
        raise InvalidInput(_("“%(metric)s” is judged against a baseline: choose one, or the file "
                             "that it is read from.") % {"metric": row.definition.localized_name})


def held_quantity(row: AddedCriterion) -> str:
    """The quantity in the file that serves the criterion. Raises InvalidInput without one."""
    if row.artifact.engagement_id != row.change.engagement_id:
        raise InvalidInput(_("The file belongs to another engagement."))
    require_read(row.artifact)
    names = sorted({found.name for reading in row.artifact.readings.all()
                    for found in quantities(reading.kind, reading.values)})
    serving = [name for name in names if name.partition(":")[0] == row.definition.quantity]
    if not serving:
        raise InvalidInput(_("The file holds no “%(quantity)s”; it holds: %(found)s.") % {
            "quantity": row.definition.quantity,
            "found": listed(names) or _("nothing readable")})
    return serving[0]


def sign_added(change: ChangeRequest, draft: CriteriaSet, actor: User) -> None:
    """Put the added criteria into the draft of the criteria that the change signs."""
    for row in change.added_criteria.select_related("definition", "baseline", "artifact"):
        model = change.engagement.models.get(code=row.code)
        assessing.add_criterion(
            actor=actor, criteria_set=draft, model=model, definition=row.definition,
            stage=row.stage, threshold=row.threshold, baseline=_reference(row, model, actor),
            threshold_unit=ThresholdUnit.FRACTION)


def _reference(row: AddedCriterion, model: MigratedModel, actor: User) -> Baseline | None:
    if row.artifact is None:
        return row.baseline
    quantity = held_quantity(row)
    recorded = model.baselines.filter(artifact=row.artifact, quantity=quantity).first()
    return recorded or baselines.record_baseline(
        actor=actor, model=model, quantity=quantity, artifact=row.artifact,
        unit=row.definition.unit, source=str(row.change)[:160])
