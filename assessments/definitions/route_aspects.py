"""What a model's route asks to be judged, aspect by aspect (DOMAIN 2.2, 3.1).

Training and inference are two deliveries of one model: each has aspects of its own. Which
quantities cover one is declared with them (`covers` of `toolreaders.verdicts.quantity_rows`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db import models
from django.utils.translation import gettext_lazy as _

from assessments.definitions.aspects import Aspect, aspect_of
from assessments.models import Criterion
from engagements.models import MigratedModel
from engagements.stages import INFERENCE_STAGES, TRAINING_STAGES, Scope
from toolreaders.verdicts.quantity_rows import QUANTITIES


class Side(models.TextChoices):
    TRAINING = "training", _("Training")
    INFERENCE = "inference", _("Inference")


@dataclass(frozen=True)
class AskedAspect:
    """One aspect of a side.

    Args:
        quantities: a criterion on any of them covers it (see `verdicts.quantities`).
        routes: inference routes that ask for it; empty for all.
    """

    side: str
    aspect: str
    quantities: tuple[str, ...]
    routes: tuple[str, ...] = ()


def _asked() -> Iterator[AskedAspect]:
    """What the rows of the quantities declare, in the order of the aspects."""
    found: dict[tuple, list[str]] = {}
    for row in QUANTITIES:
        for declared in row.covers:
            found.setdefault(declared, []).append(row.name)
    for aspect in Aspect:
        yield from (AskedAspect(Side(side), aspect, tuple(names), routes)
                    for (side, name, routes), names in found.items() if name == aspect)


ASKED: tuple[AskedAspect, ...] = tuple(_asked())


def sides_of(model: MigratedModel) -> list[Side]:
    """What of the model is delivered."""
    only = {Scope.TRAINING: [Side.TRAINING], Scope.INFERENCE: [Side.INFERENCE]}
    return only.get(model.scope, [Side.TRAINING, Side.INFERENCE])


def side_of_stage(stage: str, model: MigratedModel) -> Side:
    """The side that a criterion's stage belongs to; of another stage the model's first."""
    if stage in TRAINING_STAGES:
        return Side.TRAINING
    return Side.INFERENCE if stage in INFERENCE_STAGES else sides_of(model)[0]


def asked_of(model: MigratedModel, side: str) -> dict[str, AskedAspect]:
    """The aspects that the model's route asks for; every one while no route is recorded."""
    route = model.inference_route if side == Side.INFERENCE else ""
    return {row.aspect: row for row in ASKED if row.side == side and (
        not row.routes or not route or route in row.routes)}


def uncovered(models: Iterable[MigratedModel], criteria: Iterable[Criterion]
              ) -> Iterator[tuple[MigratedModel, Side, Aspect]]:
    """What the models' routes ask for and no criterion covers."""
    agreed = {(one.model_id, side, aspect_shown(asked_of(one.model, side), one.definition.quantity))
              for one in criteria for side in [side_of_stage(one.stage, one.model)]}
    for model in models:
        for side in sides_of(model):
            yield from ((model, side, Aspect(aspect)) for aspect in asked_of(model, side)
                        if (model.pk, side, aspect) not in agreed)


def covers(asked: AskedAspect, quantity: str) -> bool:
    """Whether a criterion on this quantity is one on the aspect."""
    return quantity.partition(":")[0] in asked.quantities


def aspect_shown(asked: dict[str, AskedAspect], quantity: str) -> Aspect | None:
    """In which column a criterion stands: an aspect that it covers, its own first; else its own
    where nobody asks for that. None for a diagnosis, which covers no aspect."""
    own = aspect_of(quantity)
    covered = [aspect for aspect, row in asked.items() if covers(row, quantity)]
    if own in covered or own not in asked:
        return own if own in covered or not covered else Aspect(covered[0])
    return Aspect(covered[0]) if covered else None
