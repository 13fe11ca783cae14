"""Writes of human evaluations: start, take in a rater's sheet, take one back, conclude."""

import io
import secrets

from django.core.files import File
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from assessments.human_evaluation.answers import paired
from assessments.human_evaluation.results import report_bytes
from assessments.models import HumanEvaluation, HumanRating
from assessments.services.measurements import judge_affected, measure_artifact
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import MigratedModel, User
from workers.artifacts import artifact_store
from workers.artifacts.reading_state import require_read
from workers.models import Artifact

SEEDS = 2**31


@transaction.atomic
def start_evaluation(
    *, actor: User, model: MigratedModel, name: str, baseline_file: Artifact,
    candidate_file: Artifact, instruction: str = "",
) -> HumanEvaluation:
    """A blind comparison of two files of answers; the seed of the sides is drawn and stored.

    Raises InvalidInput for files of another engagement, files that do not answer the same
    prompts, and without a name.
    """
    require(actor, Can.WORK, model.engagement)
    if not name.strip():
        raise InvalidInput(_("Give the evaluation a name."))
    for file in (baseline_file, candidate_file):
        if file.engagement_id != model.engagement_id:
            raise InvalidInput(_("The file belongs to another engagement."))
    require_read(baseline_file, candidate_file)
    evaluation = HumanEvaluation.objects.create(
        model=model, name=name.strip(), instruction=instruction.strip(),
        baseline_file=baseline_file, candidate_file=candidate_file,
        items=paired(baseline_file, candidate_file), seed=secrets.randbelow(SEEDS),
        recorded_by=actor)
    audit_log.record(actor=actor, action="human_evaluation.start", target=evaluation,
                     engagement=model.engagement,
                     data={"items": len(evaluation.items), "seed": evaluation.seed,
                           "baseline": baseline_file.sha256, "candidate": candidate_file.sha256})
    return evaluation


def import_rating(*, actor: User, evaluation: HumanEvaluation, upload: File) -> HumanRating:
    """Take in a filled-in sheet, which is kept; a newer one of the same rater replaces it.

    Raises InvalidInput with cell and cure, WrongState for a concluded evaluation.
    """
    from assessments.human_evaluation.sheet import read_sheet  # openpyxl: not at start

    engagement = evaluation.model.engagement
    require(actor, Can.WORK, engagement)
    _require_open(evaluation)
    artifact_store.require_uploadable(upload, engagement, evaluation.model)
    data = upload.read()
    rater, choices = read_sheet(evaluation, data)
    with transaction.atomic():
        evaluation = _locked(evaluation)
        artifact = _stored(upload.name, data, evaluation, actor)
        rating, is_new = HumanRating.objects.update_or_create(
            evaluation=evaluation, rater=rater,
            defaults={"choices": choices, "artifact": artifact, "imported_by": actor})
        audit_log.record(actor=actor, action="human_evaluation.rate", target=rating,
                         engagement=engagement, data={
                             "sha256": artifact.sha256, "rated": rating.rated, "new": is_new})
    return rating


@transaction.atomic
def remove_rating(*, actor: User, rating: HumanRating) -> None:
    """Take a rater's choices back; the sheet stays among the files."""
    engagement = rating.evaluation.model.engagement
    require(actor, Can.WORK, engagement)
    _locked(rating.evaluation)
    HumanRating.objects.filter(pk=rating.pk).delete()
    audit_log.record(actor=actor, action="human_evaluation.remove_rating", target=rating,
                     engagement=engagement, data={"rater": rating.rater})


@transaction.atomic
def conclude_evaluation(*, actor: User, evaluation: HumanEvaluation) -> HumanEvaluation:
    """Unblind: write the result file, measure it and judge the criteria it bears on.

    Raises InvalidInput without any rating, WrongState for a concluded one.
    """
    engagement = evaluation.model.engagement
    require(actor, Can.WORK, engagement)
    evaluation = _locked(evaluation)
    if not evaluation.ratings.exists():
        raise InvalidInput(_("No rater's sheet was taken in yet."))
    artifact = _stored(f"human-evaluation-{evaluation.pk}.json", report_bytes(evaluation),
                       evaluation, actor)
    evaluation.report, evaluation.concluded_at = artifact, timezone.now()
    evaluation.save(update_fields=["report", "concluded_at"])
    judge_affected(measure_artifact(artifact), actor)
    audit_log.record(actor=actor, action="human_evaluation.conclude", target=evaluation,
                     engagement=engagement,
                     data={"sha256": artifact.sha256, "raters": evaluation.ratings.count()})
    return evaluation


def _stored(name: str, data: bytes, evaluation: HumanEvaluation, actor: User) -> Artifact:
    """A file of the evaluation, read by its content; practice where its answers are."""
    is_practice = evaluation.baseline_file.is_practice or evaluation.candidate_file.is_practice
    artifact = artifact_store.store_file(
        stream=io.BytesIO(data), name=name, engagement=evaluation.model.engagement,
        model=evaluation.model, uploaded_by=actor, is_practice=is_practice)
    artifact_store.keep_found(artifact, artifact_store.found_in(artifact))
    return artifact


def _locked(evaluation: HumanEvaluation) -> HumanEvaluation:
    row = HumanEvaluation.objects.select_for_update(of=("self",), no_key=True).select_related(
        "model__engagement", "baseline_file", "candidate_file").get(pk=evaluation.pk)
    _require_open(row)
    return row


def _require_open(evaluation: HumanEvaluation) -> None:
    if evaluation.is_concluded:
        raise WrongState(_("The evaluation is concluded; start another one to rate again."))
