"""Defaults of job forms that come from what is known of a model. Higher apps register sources."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from engagements.errors import InvalidInput
from engagements.models import MigratedModel
from workers.kinds import JobKind

# Of a kind and a model: parameter name → value; names the kind does not have are ignored.
Values = Callable[[JobKind, MigratedModel], Mapping[str, Any]]
Source = Callable[[Collection[MigratedModel]], Values]  # reads for all these models at once
_sources: dict[str, Source] = {}


def register_defaults(code: str) -> Callable[[Source], Source]:
    """Decorator: add a source of defaults under a unique code."""

    def add(source: Source) -> Source:
        _sources[code] = source
        return source

    return add


class Defaults:
    """Values that replace the kinds' own defaults for some models; each source is asked once.

    A value that the kind would refuse is left out, so that a form never opens with an error.
    """

    def __init__(self, models: Collection[MigratedModel]) -> None:
        self._values = [source(models) for source in _sources.values()]

    def of(self, kind: JobKind, model: MigratedModel) -> dict[str, Any]:
        """Those of one of the models for jobs of a kind."""
        offered = {name: value for values in self._values
                   for name, value in values(kind, model).items()}
        return {p.name: offered[p.name] for p in kind.parameters
                if p.name in offered and _is_possible(p, offered[p.name])}


def defaults_for(kind: JobKind, model: MigratedModel | None) -> dict[str, Any]:
    """Values that replace the kind's own defaults for this model; none without a model."""
    return {} if model is None else Defaults([model]).of(kind, model)


def _is_possible(parameter: Any, value: Any) -> bool:
    try:
        parameter.clean(value)
    except InvalidInput:
        return False
    return True
