"""What a job kind declares. Form, JSON schema and command line follow from it."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from engagements.web.json_limits import MAX_INTEGER
from workers.gangs.rendezvous import Rendezvous
from workers.kinds import success_checks
from workers.kinds.judgement import Finished, Judgement

SAFE_PATH = re.compile(r"^[A-Za-z0-9_./~+@=-][A-Za-z0-9_./~+@= -]*$")

SAFE_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_./:@+~-]*$")


@dataclass(frozen=True)
class Parameter:
    """One typed parameter.

    Args:
        type: text, name (of a branch, an image, an address), path, integer, number, choice,
            flag or artifact (id of a stored file).
        label, help: lazy translations.
        minimum, maximum: inclusive bounds of integer and number.
        choices: what the tool takes; `names` says in words what those mean that do not say so.
        must_confirm: a flag that must be set, for what cannot be undone or needs an approval.
    """

    name: str
    label: Any
    type: str = "text"
    default: Any = None
    is_required: bool = True
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    names: Mapping[str, Any] = field(default_factory=dict)
    unit: str = ""
    help: Any = ""
    must_confirm: bool = False

    def clean(self, value: Any) -> Any:
        """The value in its type. Raises InvalidInput naming the parameter."""
        if self.must_confirm and not self._clean_flag(value):
            raise InvalidInput(_("“%(label)s” must be confirmed.") % {"label": self.label})
        if value in (None, ""):
            value = self.default
        if value in (None, ""):
            if self.is_required and self.type != "flag":
                raise InvalidInput(_("“%(label)s” is missing.") % {"label": self.label})
            return False if self.type == "flag" else None
        return getattr(self, f"_clean_{self.type}")(value)

    def shown(self, value: Any) -> str:
        """The value for people: of a choice its name, with the tool's own word behind it."""
        name = str(self.names.get(value, value))
        return name if name == str(value) else f"{name} ({value})"

    def _reject(self, why: str):
        raise InvalidInput(f"{self.label}: {why}")

    def _clean_text(self, value) -> str:
        text = str(value)
        if "\0" in text or "\n" in text or len(text) > 500:
            self._reject(_("one line of at most 500 characters is expected."))
        return text

    def _clean_path(self, value) -> str:
        text = self._clean_text(value)
        if not SAFE_PATH.match(text) or text.startswith("-") or ".." in text.split("/"):
            self._reject(
                _("a path of letters, digits and _ . / ~ + @ = - is expected, without “..”."))
        return text

    def _clean_name(self, value) -> str:
        text = self._clean_text(value)
        if not SAFE_NAME.match(text):
            self._reject(_("a name of letters, digits and _ . / : @ + ~ - is expected."))
        return text

    def _number(self, value, kind):
        try:
            number = kind(value)
        except (TypeError, ValueError, OverflowError):
            self._reject(_("a number is expected."))
        if isinstance(number, int) and abs(number) > MAX_INTEGER:
            self._reject(_("a number is expected."))
        low, high = self.minimum, self.maximum
        if math.isnan(number) or (low is not None and number < low) or (
            high is not None and number > high
        ):
            self._reject(_("a value from %(low)s to %(high)s is expected.")
                         % {"low": low if low is not None else "−∞",
                            "high": high if high is not None else "∞"})
        return number

    def _clean_integer(self, value) -> int:
        return self._number(value, int)

    def _clean_number(self, value) -> float:
        return self._number(value, float)

    def _clean_artifact(self, value) -> int:
        return self._number(value, int)

    def _clean_flag(self, value) -> bool:
        return value in (True, "true", "True", "on", "1", 1)

    def _clean_choice(self, value) -> str:
        if str(value) not in self.choices:
            self._reject(_("one of %(choices)s is expected.")
                         % {"choices": ", ".join(map(self.shown, self.choices))})
        return str(value)

    def schema(self) -> dict:
        """The parameter as JSON Schema."""
        types = {"integer": "integer", "artifact": "integer", "number": "number",
                 "flag": "boolean"}
        entry: dict[str, Any] = {"type": types.get(self.type, "string"), "title": str(self.label)}
        optional = {"description": str(self.help), "default": self.default,
                    "minimum": self.minimum, "maximum": self.maximum,
                    "enum": list(self.choices), "x-unit": self.unit,
                    "x-names": {value: str(name) for value, name in self.names.items()},
                    "const": True if self.must_confirm else None}
        entry.update({k: v for k, v in optional.items() if v not in (None, "", [], {})})
        return entry

    def example(self) -> Any:
        """A value of the type, for the catalogue's example command."""
        if self.default is not None or not self.is_required:
            return self.default
        samples = {"path": f"~/{self.name}", "integer": self.minimum or 1, "artifact": 1,
                   "number": self.minimum or 1, "choice": (self.choices or ("",))[0],
                   "flag": self.must_confirm}
        return samples.get(self.type, self.name)


class JobKind:
    """Base of the declarations. Subclasses set the attributes, `argv` and `conclude`."""

    code: ClassVar[str]
    title: ClassVar[Any]
    description: ClassVar[Any] = ""
    stages: ClassVar[tuple[str, ...]] = ()
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    cards: ClassVar[int] = 0  # cards leased; a parameter called `cards` overrides
    timeout_seconds: ClassVar[int] = 600
    usual_seconds: ClassVar[int | None] = None  # how long it usually takes, for the catalogue
    success: ClassVar[Any] = ""  # what the success test looks at, for people
    collect: ClassVar[tuple[str, ...]] = ()  # globs below the job's work folder
    is_known: ClassVar[bool] = True
    runs_on_node: ClassVar[bool] = True
    needs_model: ClassVar[bool] = True
    shows_progress: ClassVar[bool] = False
    reads_log: ClassVar[bool] = True  # the log itself is a tool output to read
    expected_statuses: ClassVar[tuple[int, ...]] = (0,)  # with which a run may have succeeded
    judged_files: ClassVar[tuple[str, ...]] = ()  # globs of files that must all be readable
    may_log_errors: ClassVar[bool] = False  # errors in the log are named, and refute nothing
    gate_parameters: ClassVar[dict[str, Any]] = {}  # with which a job counts for a stage's gate
    is_measured: ClassVar[bool] = True  # what its files hold may measure a criterion
    spans_nodes: ClassVar[bool] = False  # one job of it may run on several nodes
    claims_device: ClassVar[bool] = False  # a success needs proof that an NPU was used

    def clean(self, values: dict) -> dict:
        """Typed parameters. Raises InvalidInput; unknown names are an error too."""
        known = {parameter.name for parameter in self.parameters}
        unknown = sorted(set(values) - known)
        if unknown:
            raise InvalidInput(_("Unknown parameter: %(names)s.") % {"names": ", ".join(unknown)})
        return {p.name: p.clean(values.get(p.name)) for p in self.parameters}

    def argv(self, parameters: dict) -> list[str]:
        """The command as an argument list; it is never joined from user text by a shell."""
        raise NotImplementedError

    def environment(self, parameters: dict) -> dict[str, str]:
        return {}

    def runtime(self, parameters: dict) -> dict[str, Any]:
        """The runtime that the kind itself asks for, as a job keeps it; empty for none."""
        return {}

    def argv_on(self, parameters: dict, meeting: Rendezvous) -> list[str]:
        """The command on one of several nodes, for kinds with `spans_nodes`."""
        raise NotImplementedError

    def uses_rank_table(self, parameters: dict) -> bool:
        """Whether its processes take their ranks from HCCL's rank table."""
        return False

    def require_restartable(self, parameters: dict) -> None:
        """Raise InvalidInput where a restart could not go on from what was saved."""

    def globs(self, parameters: dict) -> tuple[str, ...]:
        """Patterns of the files to collect."""
        return self.collect

    def require_place(self, parameters: dict, engagement) -> None:
        """Raise InvalidInput where the parameters name something of another engagement."""

    def facts(self, parameters: dict) -> dict[str, Any]:
        """Facts that follow from the parameters beyond their names (see `rules.facts.of_job`)."""
        return {}

    def cards_for(self, parameters: dict) -> int:
        return int(parameters.get("cards", self.cards) or 0)

    def judge(self, finished: Finished) -> Judgement:
        """What the job has shown: what its kind concludes, unless the output forbids it."""
        return success_checks.checked(self, finished)

    def conclude(self, finished: Finished) -> Judgement:
        """What follows from log, files and readings, where nothing speaks against them."""
        raise NotImplementedError

    def statuses_for(self, parameters: dict) -> tuple[int, ...]:
        return self.expected_statuses

    def device_claim(self, parameters: dict) -> bool:
        return self.claims_device

    def device_in(self, finished: Finished) -> str:
        """The devices that the job is proven to have used, such as “npu 0, npu 1”; else empty."""
        return success_checks.device_in(finished.log)

    def after(self, job, finished: Finished) -> None:
        """What else follows from the readings, for example the state of a node's cards."""

    def run_here(self, job, parameters: dict) -> tuple[Judgement, dict[str, bytes]]:
        """For kinds that run on the server: the judgement, and files to store by name."""
        raise NotImplementedError

    def schema(self) -> dict:
        """The parameters as a JSON Schema object."""
        return {
            "type": "object", "additionalProperties": False,
            "properties": {p.name: p.schema() for p in self.parameters},
            "required": [p.name for p in self.parameters
                         if p.must_confirm
                         or (p.is_required and p.default is None and p.type != "flag")],
        }

    def example_parameters(self) -> dict:
        """Values the declaration itself accepts."""
        return {p.name: p.example() for p in self.parameters if p.example() is not None}

    def example_command(self) -> list[str]:
        """The argument list for the example parameters; empty where nothing runs on a node."""
        if not self.runs_on_node:
            return []
        return self.argv(self.clean(self.example_parameters()))


    def example_environment(self) -> dict[str, str]:
        """The variables for the example parameters."""
        if not self.runs_on_node:
            return {}
        return self.environment(self.clean(self.example_parameters()))


_kinds: dict[str, JobKind] = {}


def register(kind: type[JobKind]) -> type[JobKind]:
    """Class decorator: add the kind to the registry under its code."""
    _kinds[kind.code] = kind()
    return kind


def get(code: str) -> JobKind:
    """The kind of that code. Raises InvalidInput for an unknown one."""
    if code not in _kinds:
        raise InvalidInput(_("There is no job kind “%(code)s”.") % {"code": code})
    return _kinds[code]


def title_of(code: str) -> str:
    """The kind's title in the active language; a kind that is gone by its code."""
    return str(_kinds[code].title) if code in _kinds else code


def all_kinds() -> list[JobKind]:
    return sorted(_kinds.values(), key=lambda kind: kind.code)
