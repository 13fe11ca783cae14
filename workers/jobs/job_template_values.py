"""What a template of jobs keeps of a job's values, and what a job gets of a template's."""

from typing import Any

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from workers import kinds
from workers.kinds import JobKind, Parameter
from workers.kinds.references import PREFIX
from workers.models import JobTemplate, Runtime

# Files lie in an engagement or on a node of it; a confirmation is for one job.
OF_ONE_JOB = frozenset({"artifact", "path"})


def is_storable(parameter: Parameter) -> bool:
    """Whether templates hold the parameter."""
    return parameter.type not in OF_ONE_JOB and not parameter.must_confirm


def storable_values(kind: JobKind, values: dict[str, Any]) -> dict[str, Any]:
    """The values that a template keeps, in their types; nothing empty.

    Raises InvalidInput for an unknown parameter, a value that the kind does not take, one that
    names a file or job of an engagement, and one that looks like a secret.
    """
    if unknown := sorted(set(values) - {parameter.name for parameter in kind.parameters}):
        raise InvalidInput(_("Unknown parameter: %(names)s.") % {"names": ", ".join(unknown)})
    found = {}
    for parameter in kind.parameters:
        if (value := values.get(parameter.name)) in (None, "", []) or not is_storable(parameter):
            continue
        found[parameter.name] = parameter.clean(value)
        _refuse_references(parameter, found[parameter.name])
    return found


def _refuse_references(parameter: Parameter, value: Any) -> None:
    parts = [part for part in (value if isinstance(value, list) else [value])
             if isinstance(part, str)]
    if any(PREFIX in part for part in parts):
        raise InvalidInput(_("“%(label)s” names a file or job of an engagement; a template holds "
                             "none.") % {"label": parameter.label})


def values_of(template: JobTemplate, kind: JobKind) -> dict[str, Any]:
    """The template's values for a job of its kind: of parameters that the kind still has."""
    known = {parameter.name for parameter in kind.parameters if is_storable(parameter)}
    return {name: value for name, value in template.parameters.items() if name in known}


def runtime_of(template: JobTemplate) -> Runtime | None:
    """The template's runtime while it is in use."""
    runtime = template.runtime
    return runtime if runtime and runtime.retired_at is None else None


def filled(template: JobTemplate, kind: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """A job's parameters: what is given, and else what the template holds.

    Raises InvalidInput where the template is of another kind.
    """
    if template.kind != kind:
        raise InvalidInput(_("The template “%(name)s” is for jobs of the kind %(kind)s.")
                           % {"name": template, "kind": template.kind})
    return {**values_of(template, kinds.get(kind)), **parameters}
