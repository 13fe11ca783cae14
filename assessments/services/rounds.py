"""Writes of the optimisation history."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from assessments.models import OptimisationRound, Verdict
from assessments.performance.gains import BY_NAME
from assessments.performance.techniques import typed_settings
from assessments.services.measurements import (
    judge_affected,
    measure_artifact,
    require_counted,
)
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import MigratedModel, User
from workers.artifacts.reading_state import require_read
from workers.models import Artifact

Area = OptimisationRound.Area


@transaction.atomic
def record_round(
    *, actor: User, model: MigratedModel, artifact: Artifact, area: str = Area.OTHER,
    finding: str = "", change: str = "", profile: Artifact | None = None,
    technique: str = "", configuration: Mapping[str, Any] | None = None,
) -> OptimisationRound:
    """Add a round: what the analysis showed, what was changed, the run measured after it.

    The first round of a model is its starting point, before any change. Files that nobody
    measured yet are measured, and the criteria they bear on are judged: these verdicts are
    `judged` of the round that is returned. Raises InvalidInput for files of others, for a run that
    measured no performance, without a change or its area, and for settings that the technique does
    not have.

    Args:
        technique: what was configured, where its settings are recorded.
        configuration: nested as the file prints it, see `performance.techniques`.
    """
    require(actor, Can.WORK, model.engagement)
    model = MigratedModel.objects.select_for_update(of=("self",), no_key=True).get(pk=model.pk)
    judged = [verdict for file in filter(None, (artifact, profile))
              for verdict in _take(file, model, actor)]
    _require_performance(artifact, profile)
    last = model.optimisation_rounds.order_by("number").last()
    configured = typed_settings(technique, configuration or {}) if last else {}
    if last and not change.strip():
        raise InvalidInput(_("Describe what was changed in this round."))
    if last and area == Area.START:
        raise InvalidInput(_("Only the first round is the starting point. Choose the area of the "
                             "change."))
    if model.optimisation_rounds.filter(artifact=artifact).exists():
        raise InvalidInput(_("This run is already recorded as a round; measure again after the "
                             "change."))
    entry = OptimisationRound.objects.create(
        model=model, number=last.number + 1 if last else 0,
        area=area if last else Area.START, finding=finding.strip(), change=change.strip(),
        technique=technique if configured else "", configuration=configured,
        artifact=artifact, profile=profile, recorded_by=actor)
    audit_log.record(actor=actor, action="round.record", target=entry, engagement=model.engagement,
                 data={"number": entry.number, "sha256": artifact.sha256, "change": entry.change,
                       "configuration": entry.configuration})
    entry.judged = judged
    return entry


def _take(file: Artifact, model: MigratedModel, actor: User) -> list[Verdict]:
    """The file is the model's, or becomes it; it is measured once. What that judged."""
    if file.engagement_id != model.engagement_id or file.model_id not in (None, model.pk):
        raise InvalidInput(_("The file belongs to another model."))
    file.refresh_from_db(fields=["content_sha256", "is_practice"])  # known since it was read
    require_counted(file)
    if file.model_id is None:
        file.model = model
        file.save(update_fields=["model"])
    require_read(file)
    if file.measurements.exists():
        return []
    return judge_affected(measure_artifact(file), actor)


def _require_performance(artifact: Artifact, profile: Artifact | None) -> None:
    found = artifact.measurements.filter(quantity__in=BY_NAME, value__isnull=False).exists()
    if not found and not (profile and profile.measurements.filter(
            quantity__in=BY_NAME, value__isnull=False).exists()):
        raise InvalidInput(_("No performance figure was found in the run's file."))


@transaction.atomic
def set_round_kept(*, actor: User, entry: OptimisationRound, is_kept: bool) -> OptimisationRound:
    """Keep a change or revert it; later rounds compare with the last kept one."""
    require(actor, Can.WORK, entry.model.engagement)
    entry = OptimisationRound.objects.select_for_update(of=("self",), no_key=True).get(pk=entry.pk)
    if entry.number == 0:
        raise WrongState(_("The starting point cannot be reverted."))
    entry.is_kept = is_kept
    entry.save(update_fields=["is_kept"])
    audit_log.record(actor=actor, action="round.keep" if is_kept else "round.revert", target=entry,
                     engagement=entry.model.engagement)
    return entry


@transaction.atomic
def remove_last_round(*, actor: User, entry: OptimisationRound) -> None:
    """Take back the newest round; its files and measurements stay."""
    engagement = entry.model.engagement
    require(actor, Can.WORK, engagement)
    MigratedModel.objects.select_for_update(of=("self",), no_key=True).get(pk=entry.model_id)
    if OptimisationRound.objects.filter(model=entry.model, number__gt=entry.number).exists():
        raise WrongState(_("Only the latest round can be undone."))
    OptimisationRound.objects.filter(pk=entry.pk).delete()
    audit_log.record(actor=actor, action="round.remove", target=entry, engagement=engagement,
                     data={"number": entry.number, "change": entry.change})
