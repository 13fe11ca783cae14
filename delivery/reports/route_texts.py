"""Passages that follow from the recorded routes of an engagement's models."""

from collections.abc import Callable, Iterable, Iterator

from assessments.definitions.route_aspects import Side, sides_of
from delivery.reports.route_text_library import FRAMEWORKS, INFERENCE, TRAINING_SCRIPTS
from engagements.migration_routes import framework_of
from engagements.models import MigratedModel

Line = tuple[str, str, str]  # codes of the models, Chinese, English


def route_passage(code: str, models: Iterable[MigratedModel]) -> dict[str, str] | None:
    """The passage in both languages; None where it depends on no route, or one is not recorded."""
    if code not in PASSAGES:
        return None
    models = list(models)
    lines = [line for make in PASSAGES[code] for line in make(models)]
    if not lines or any(_is_open(model, code) for model in models):
        return None
    return {"zh": "\n".join(f"- {codes}：{zh}" for codes, zh, _en in lines),
            "en": "\n".join(f"- {codes}: {en}" for codes, _zh, en in lines)}


def _is_open(model: MigratedModel, code: str) -> bool:
    """Whether a route on which the passage rests is not recorded."""
    return any(side in SIDES[code] and side in sides_of(model) and not route for side, route in (
        (Side.TRAINING, model.training_route), (Side.INFERENCE, model.inference_route)))


def _grouped(models: list[MigratedModel], texts: dict[str, tuple[str, str]], side: Side,
             key: Callable[[MigratedModel], str | None]) -> Iterator[Line]:
    for value, (chinese, english) in texts.items():
        codes = [model.code for model in models if side in sides_of(model) and key(model) == value]
        if codes:
            yield ", ".join(codes), chinese, english


def _scripts(models: list[MigratedModel]) -> Iterator[Line]:
    return _grouped(models, TRAINING_SCRIPTS, Side.TRAINING, lambda model: model.training_route)


def _frameworks(models: list[MigratedModel]) -> Iterator[Line]:
    return _grouped(models, FRAMEWORKS, Side.TRAINING,
                    lambda model: framework_of(model.framework))


def _inference(models: list[MigratedModel]) -> Iterator[Line]:
    return _grouped(models, INFERENCE, Side.INFERENCE, lambda model: model.inference_route)


PASSAGES: dict[str, tuple[Callable[[list[MigratedModel]], Iterator[Line]], ...]] = {
    "as_strategy": (_scripts, _frameworks, _inference),
    "mp_training": (_scripts, _frameworks), "mp_inference": (_inference,)}
SIDES = {"as_strategy": (Side.TRAINING, Side.INFERENCE), "mp_training": (Side.TRAINING,),
         "mp_inference": (Side.INFERENCE,)}
