"""What a step of a chain leaves open (PLACES): the model, what was given at the start, outputs of
earlier steps.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from engagements.errors import InvalidInput
from workers import kinds
from workers.jobs.follow_ups import reference_to
from workers.kinds.parameters import Parameter
from workers.models import Job

PLACE = re.compile(
    r"\{(?:(?P<model>model)|given\.(?P<given>\w+)|steps\.(?P<step>\w+)\."
    r"(?P<part>files|output|folder|results|job)(?:\.(?P<rest>[^{}]+))?)\}")
WRONG = re.compile(r"(?<![$\w{])\{\s*[A-Za-z_]\w*(?:\.[^{}\s]*)?\s*\}")
PLACES = (
    ("{model}", gettext_lazy("the model's code")),
    ("{given.source}", gettext_lazy(
        "what is given at the start under the name “source”; any name of letters, digits and _")),
    ("{steps.convert.files.*.om}", gettext_lazy(
        "a stored file or folder of the earlier step “convert”; of a pattern the first")),
    ("{steps.convert.output}", gettext_lazy("what the kind of that step hands over")),
    ("{steps.convert.folder}", gettext_lazy("the work folder of that step on the node")),
    ("{steps.convert.results.n}", gettext_lazy("its result “n”")),
    ("{steps.convert.job}", gettext_lazy("the number of its job")),
)
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
EXAMPLES = {"path": "/chain", "artifact": "1", "integer": "1", "number": "1"}


@dataclass(frozen=True)
class Known:
    """What places are filled with: the model's code, what was given, the job of each step."""

    model: str
    given: Mapping[str, str] = field(default_factory=dict)
    jobs: Mapping[str, Job] = field(default_factory=dict)


def named(steps: list[dict]) -> list[str]:
    """The name of every step: its own, or the end of its kind's code, numbered where it repeats.

    Raises InvalidInput for a name that is none or stands twice.
    """
    names: list[str] = []
    for number, step in enumerate(steps, 1):
        own = str(step.get("name") or "")
        name = own or str(step.get("kind", "")).rsplit(".", 1)[-1]
        if not own and name in names:
            name = f"{name}{number}"
        if not NAME.fullmatch(name) or name in names:
            raise InvalidInput(_(
                "Step %(number)d: “%(name)s” is not a valid unique name; lower-case letters, "
                "digits and _ are expected.") % {"number": number, "name": name})
        names.append(name)
    return names


def given_in(steps: list[dict]) -> list[str]:
    """What has to be given at the start, in the order of its use."""
    return list(dict.fromkeys(place["given"] for step in steps
                              for value in step["parameters"].values()
                              for place in _places(value) if place["given"]))


def example_values(code: str, parameters: Mapping[str, Any], earlier: list[str]
                   ) -> dict[str, Any]:
    """The parameters with examples in all places, to be checked by the kind.

    Raises InvalidInput for a step that does not come before this one, and for what is no place.
    """
    for value in parameters.values():
        _require_known(value)
        for place in _places(value):
            if place["step"] and place["step"] not in earlier:
                raise InvalidInput(_("there is no earlier step “%(name)s”.")
                                   % {"name": place["step"]})
    return _each(code, parameters, _example)


def filled_values(code: str, parameters: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """The parameters with every place filled. Raises InvalidInput naming what is missing."""
    return _each(code, parameters, lambda place, parameter: _found(place, parameter, known))


def known_values(code: str, parameters: Mapping[str, Any], known: Known
                 ) -> tuple[dict[str, Any], set[str]]:
    """The parameters as far as they are known before the first step, with examples where an earlier
    step decides; and the names of those."""
    later = {name for name, value in parameters.items()
             if any(place["step"] for place in _places(value))}
    return {
        **filled_values(code, {name: value for name, value in parameters.items()
                               if name not in later}, known),
        **_each(code, {name: parameters[name] for name in later}, _example)}, later


def _require_known(value: Any) -> None:
    """Braces around a word are a place, or a slip that would reach the node as it stands."""
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and (found := WRONG.search(PLACE.sub("", text))):
            raise InvalidInput(_(
                "“%(text)s” is no place. Known are: %(places)s. Braces that the command itself "
                "wants hold more than one word, or a $ stands before them.") % {
                    "text": found[0], "places": " ".join(name for name, _meaning in PLACES)})


def _example(place: re.Match[str], parameter: Parameter) -> str:
    if place["model"]:
        return "MODEL"
    return parameter.choices[0] if parameter.choices else EXAMPLES.get(parameter.type, "1")


def _places(value: Any) -> Iterator[re.Match[str]]:
    for text in value if isinstance(value, list) else [value]:
        yield from PLACE.finditer(text) if isinstance(text, str) else ()


def _each(code: str, parameters: Mapping[str, Any], fill) -> dict[str, Any]:
    declared = {parameter.name: parameter for parameter in kinds.get(code).parameters}
    plain = Parameter("", "")

    def filled(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [filled(name, each) for each in value]
        if not isinstance(value, str):
            return value
        return PLACE.sub(lambda place: fill(place, declared.get(name, plain)), value)

    return {name: filled(name, value) for name, value in parameters.items()}


def _found(place: re.Match[str], parameter: Parameter, known: Known) -> str:
    if place["model"]:
        return known.model
    if place["given"]:
        if not known.given.get(place["given"]):
            raise InvalidInput(_("“%(name)s” was not given.") % {"name": place["given"]})
        return str(known.given[place["given"]])
    job = known.jobs.get(place["step"])
    if job is None:
        raise InvalidInput(_("Step “%(name)s” has not run.") % {"name": place["step"]})
    return _of_job(job, place, parameter)


def _of_job(job: Job, place: re.Match[str], parameter: Parameter) -> str:
    rest = place["rest"] or ""
    if place["part"] == "results":
        if rest not in job.results:
            raise InvalidInput(_("Job %(job)d has no result “%(name)s”.")
                               % {"job": job.pk, "name": rest})
        return str(job.results[rest])
    if place["part"] == "files":
        return _file(job, rest, parameter)
    return {"job": str(job.pk), "folder": f"desk:work/{job.pk}",
            "output": reference_to(job)}[place["part"]]


def _file(job: Job, pattern: str, parameter: Parameter) -> str:
    """A stored file by name or pattern, or a folder of such; as the parameter takes it."""
    stored = dict(job.artifacts.order_by("name").values_list("name", "pk"))
    name = pattern if pattern in stored else next(
        (name for name in stored if fnmatch(name, pattern)), None)
    if parameter.type == "artifact" and name:
        return str(stored[name])
    if name or any(other.startswith(pattern.rstrip("/") + "/") for other in stored):
        return f"desk:job/{job.pk}/{name or pattern.rstrip('/')}"
    raise InvalidInput(_("Job %(job)d left no file “%(name)s”.")
                       % {"job": job.pk, "name": pattern})
