"""Writes of criteria sets that are still drafts."""

from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from assessments.definitions.criteria_sets import READY
from assessments.definitions.threshold_units import ThresholdUnit, threshold_of
from assessments.models import Baseline, CriteriaSet, Criterion, MetricDefinition
from assessments.presentation.quantity_labels import POINT, quantity_label
from assessments.services.definitions import require_run_count
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.conflict_retry import checked_insert
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, MigratedModel, User
from engagements.stages import EXTRA, StageState
from toolreaders.verdicts.quantity_rows import BY_NAME


@transaction.atomic
def draft_criteria(*, actor: User, engagement: Engagement) -> CriteriaSet:
    """A new draft version of the criteria; copies the newest version if there is one.

    Raises WrongState while another draft is open.
    """
    require(actor, Can.MANAGE, engagement)
    with checked_insert(lambda: _require_no_draft(engagement)):
        newest = engagement.criteria_sets.first()
        draft = CriteriaSet.objects.create(engagement=engagement,
                                           version=newest.version + 1 if newest else 1)
    for old in newest.criteria.all() if newest else ():
        Criterion.objects.create(
            criteria_set=draft, model=old.model, definition=old.definition, stage=old.stage,
            threshold=old.threshold, baseline=old.baseline, point=old.point,
            selection=old.selection, runs=old.runs, position=old.position)
    audit_log.record(actor=actor, action="criteria.draft", target=draft, engagement=engagement)
    return draft


def _require_no_draft(engagement: Engagement) -> None:
    if engagement.criteria_sets.filter(state=CriteriaSet.State.DRAFT).exists():
        raise WrongState(_("There is already an open draft; sign it or continue editing it."))


def require_draft(criteria_set: CriteriaSet) -> None:
    """Raise WrongState for criteria that are signed."""
    if criteria_set.state != CriteriaSet.State.DRAFT:
        raise WrongState(_("Signed criteria are frozen; a change needs a new version."))


@transaction.atomic
def add_criterion(
    *, actor: User, criteria_set: CriteriaSet, model: MigratedModel,
    definition: MetricDefinition, stage: str, threshold: Decimal,
    baseline: Baseline | None = None, threshold_unit: str = "", point: str = "",
    selection: str = "", runs: int | None = None,
) -> Criterion:
    """Add a threshold to a draft.

    Args:
        threshold: of figures in per cent a fraction, unless `threshold_unit` says otherwise.
        threshold_unit: a ThresholdUnit; needed where the number may be meant in either unit.
        point: `c8,i1024,o256` (concurrency, input, output) or `b8` (batch): only results at this
            point count. A baseline names its own.
        selection: which of the measured runs count, a Selection; empty: as the definition says.
        runs: how many of the last runs that rule looks at; of `last` it is one.
    """
    require(actor, Can.MANAGE, criteria_set.engagement)
    criteria_set = CriteriaSet.objects.select_for_update(
        of=("self",), no_key=True).get(pk=criteria_set.pk)
    require_draft(criteria_set)
    if model.engagement_id != criteria_set.engagement_id:
        raise InvalidInput(_("The model belongs to another engagement."))
    if stage in EXTRA:
        raise InvalidInput(_("Criteria are judged by the acceptance at the latest: choose an "
                             "earlier stage."))
    if baseline and baseline.model_id != model.pk:
        raise InvalidInput(_("The baseline belongs to another model."))
    if baseline and not baseline.serves(definition):
        raise InvalidInput(_("This baseline measures %(quantity)s, which is not what the "
                             "definition needs.")
                           % {"quantity": quantity_label(baseline.quantity)})
    if point and (baseline or not POINT.fullmatch(point)
                  or not (row := BY_NAME.get(definition.quantity)) or not row.has_points):
        raise InvalidInput(_("A point such as c8,i1024,o256 or b8 goes with a latency or a "
                             "throughput of inference, and without a baseline."))
    threshold = threshold_of(definition, threshold, threshold_unit)
    if selection == MetricDefinition.Selection.LAST:
        runs = 1
    elif bool(selection) != bool(runs):
        raise InvalidInput(_("Say both which runs count and how many are wanted."))
    elif selection:
        require_run_count(selection, runs)
    criterion = Criterion.objects.create(
        criteria_set=criteria_set, model=model, definition=definition, stage=stage,
        threshold=threshold, baseline=baseline, point=point, selection=selection, runs=runs,
        position=criteria_set.criteria.filter(model=model).count())
    audit_log.record(actor=actor, action="criterion.add", target=criterion,
                     engagement=criteria_set.engagement,
                     data={"threshold": str(threshold), "criteria_set": criteria_set.pk,
                           **({"point": point} if point else {}),
                           **({"selection": selection, "runs": runs} if selection else {})})
    return criterion


@transaction.atomic
def add_ready_set(*, actor: User, criteria_set: CriteriaSet, model: MigratedModel,
                  ready_set: str) -> list[Criterion]:
    """Add the thresholds of a ReadySet that the draft lacks, of stages in the model's scope.

    Each takes the model's baseline where exactly one serves it; else the baseline stays to be
    added, and the criterion is not provable until then. Raises InvalidInput where nothing is to
    be added.
    """
    held = set(criteria_set.criteria.filter(model=model).values_list("definition__code", flat=True))
    stages = set(model.stages.exclude(state=StageState.SKIPPED).values_list("stage", flat=True))
    added = []
    for row in READY[ready_set]:
        if row.stage not in stages or held.intersection(row.codes):
            continue
        definitions = [MetricDefinition.objects.filter(code=code).first() for code in row.codes]
        served = [[one for one in model.baselines.all() if one.serves(definition)]
                  for definition in definitions]
        index = next((number for number, found in enumerate(served) if found), 0)
        added.append(add_criterion(
            actor=actor, criteria_set=criteria_set, model=model, stage=row.stage,
            definition=definitions[index], threshold=row.threshold,
            threshold_unit=ThresholdUnit.FRACTION,
            baseline=served[index][0] if len(served[index]) == 1 else None))
    if not added:
        raise InvalidInput(_("The draft holds these thresholds already, or the stages that they "
                             "judge are out of the model's scope."))
    return added


@transaction.atomic
def remove_criterion(*, actor: User, criterion: Criterion) -> None:
    """Take a threshold out of a draft."""
    require(actor, Can.MANAGE, criterion.criteria_set.engagement)
    require_draft(criterion.criteria_set)
    Criterion.objects.filter(pk=criterion.pk).delete()
    audit_log.record(actor=actor, action="criterion.remove", target=criterion,
                     engagement=criterion.criteria_set.engagement,
                     data={"criteria_set": criterion.criteria_set_id})
