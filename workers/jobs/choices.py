"""Which kinds of jobs a page offers, in the order in which a model needs them."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Max
from django.utils.translation import gettext as _

from engagements.models import MigratedModel
from engagements.stages import Stage
from workers.jobs.form_defaults import defaults_for
from workers.jobs.readable_values import without_secrets
from workers.kinds import JobKind
from workers.models import Job, JobState
from workers.required_jobs import required_jobs

RECENT = 6  # kinds that the model ran last


@dataclass
class Choices:
    """A group of cards: what the gate needs comes first, then the stages in their order."""

    title: str
    is_required: bool = False
    cards: list[dict] = field(default_factory=list)


def choices_of(offered: list[JobKind], model: MigratedModel | None, stage: str) -> list[Choices]:
    """The offered kinds in groups, each with the model's newest job of it (or None)."""
    record = model.stages.filter(stage=stage).first() if model and stage else None
    needed = {code for required in (required_jobs(record) if record else ())
              for code in required.kinds}
    newest = _newest_jobs(model)
    gate = Choices(_("Needed for the gate"), is_required=True)
    by_stage = {code: Choices(str(label)) for code, label in Stage.choices}
    other = Choices(_("Other"))
    for kind in offered:
        card = {"kind": kind, "job": newest.get(kind.code)}
        place = stage if stage in kind.stages else next(iter(kind.stages), "")
        (gate if kind.code in needed else by_stage.get(place, other)).cards.append(card)
    recent = Choices(_("Recent"), cards=[
        {"kind": kind, "job": newest[kind.code]} for kind in sorted(
            (kind for kind in offered if kind.code in newest),
            key=lambda kind: -newest[kind.code].pk)[:RECENT]])
    return [group for group in (gate, recent, *by_stage.values(), other) if group.cards]


def _newest_jobs(model: MigratedModel | None) -> dict[str, Job]:
    """The model's newest job of each kind, in one query over its latest hundred."""
    if model is None:
        return {}
    latest = list(Job.objects.whole().filter(model=model).order_by("-pk")[:100])
    return {job.kind: job for job in reversed(latest)}


def last_run(kind: JobKind, model: MigratedModel | None) -> Job | None:
    """The model's newest job of the kind that succeeded; its values are offered again."""
    if model is None:
        return None
    return Job.objects.whole().filter(model=model, kind=kind.code, state=JobState.SUCCEEDED
                                      ).order_by("-pk").first()


def last_parameters(models: Collection[MigratedModel], codes: Collection[str]
                    ) -> dict[tuple[int, str], dict[str, Any]]:
    """Parameters of the last run of each of these kinds, by model and kind, in one query."""
    newest = Job.objects.whole().filter(
        model__in=models, kind__in=codes, state=JobState.SUCCEEDED).order_by().values(
        "model", "kind").annotate(newest=Max("pk")).values("newest")
    found = Job.objects.filter(pk__in=newest).values_list("model", "kind", "parameters")
    return {(model, kind): without_secrets(parameters) for model, kind, parameters in found}


def values_of_run(job: Job | None, kind: JobKind, model: MigratedModel | None) -> dict:
    """The parameters of an earlier run that neither the survey nor the node sets."""
    if job is None:
        return {}
    known = {parameter.name for parameter in kind.parameters}
    settled = defaults_for(kind, model)
    return {name: value for name, value in without_secrets(job.parameters).items()
            if name in known and name not in settled and value not in (None, "")}
