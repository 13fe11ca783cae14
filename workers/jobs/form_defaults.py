"""Defaults of job forms that come from what is known of a model. Higher apps register sources."""

from collections.abc import Callable, Mapping
from typing import Any

from engagements.errors import InvalidInput
from engagements.models import MigratedModel
from workers.kinds import JobKind

# Of a kind and a model: parameter name → value; names the kind does not have are ignored.
Source = Callable[[JobKind, MigratedModel], Mapping[str, Any]]
_sources: dict[str, Source] = {}


def register_defaults(code: str) -> Callable[[Source], Source]:
    """Decorator: add a source of defaults under a unique code."""

    def add(source: Source) -> Source:
        _sources[code] = source
        return source

    return add


def defaults_for(kind: JobKind, model: MigratedModel | None) -> dict[str, Any]:
    """Values that replace the kind's own defaults for this model.

    A value that the kind would refuse is left out, so that a form never opens with an error.
    """
    if model is None:
        return {}
    offered = {name: value for source in _sources.values()
               for name, value in source(kind, model).items()}
    return {p.name: offered[p.name] for p in kind.parameters
            if p.name in offered and _is_possible(p, offered[p.name])}


def _is_possible(parameter: Any, value: Any) -> bool:
    try:
        parameter.clean(value)
    except InvalidInput:
        return False
    return True
