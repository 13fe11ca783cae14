"""What a job kind declares. Form, JSON schema and command line follow from it."""

from itertools import chain
from typing import Any, ClassVar

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from engagements.text.text_joining import following
from workers.gangs.rendezvous import Rendezvous
from workers.kinds import success_checks
from workers.kinds.example_runs import GoodRun, PracticeRun
from workers.kinds.judgement import Finished, JudgedKind, Judgement
from workers.kinds.parameters import Parameter
from workers.kinds.references import Reference


class JobKind(JudgedKind):
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
    gate_parameters: ClassVar[dict[str, Any]] = {}  # with which a job counts for a stage's gate
    gate_modes: ClassVar[tuple[str, ...]] = ()  # of its `mode`: a gate asks for a job of each
    is_measured: ClassVar[bool] = True  # what its files hold may measure a criterion
    spans_nodes: ClassVar[bool] = False  # one job of it may run on several nodes
    # Of those that run on a node: what the tests hold against it; None where another kind judges.
    good_run: ClassVar[GoodRun | None] = GoodRun()
    practice_runs: ClassVar[tuple[PracticeRun, ...]] = ()
    reads_every_file: ClassVar[bool] = False  # all that is stored of the engagement is its input

    def clean(self, values: dict) -> dict:
        """Typed parameters. Raises InvalidInput with `parameters`: name → sentences; unknown names
        are an error too."""
        known = {parameter.name for parameter in self.parameters}
        unknown = sorted(set(values) - known)
        if unknown:
            raise InvalidInput(_("Unknown parameter: %(names)s.") % {"names": ", ".join(unknown)})
        cleaned, refused = {}, {}
        for parameter in self.parameters:
            try:
                cleaned[parameter.name] = parameter.clean(values.get(parameter.name))
            except InvalidInput as error:
                refused[parameter.name] = [error.message]
        if refused:
            raise InvalidInput(following(*chain.from_iterable(refused.values())),
                               parameters=refused)
        return cleaned

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

    def handed_over(self, names: list[str]) -> str:
        """Which of a job's files another one takes: a file or folder among them; empty for all."""
        return ""

    def read_in_place(self, parameters: dict) -> dict[str, Reference]:
        """What is read where it is kept, by parameter: the stored files that are numbers."""
        return {p.name: Reference("file", parameters[p.name]) for p in self.parameters
                if p.type == "artifact" and parameters.get(p.name)}

    def require_permitted(self, parameters: dict, actor, node) -> None:
        """Raise NotAllowed where the person may not run this on the node, beyond the usual."""

    def log_globs(self, parameters: dict) -> tuple[str, ...]:
        """Patterns of further logs below the work folder, which are followed while it runs."""
        return ()

    def stored_files(self, parameters: dict) -> dict[str, bytes]:
        """What belongs to the job's files from the start, by name: scripts that people typed."""
        return {}

    def require_place(self, parameters: dict, engagement) -> None:
        """Raise InvalidInput where the parameters name something of another engagement."""

    def facts(self, parameters: dict) -> dict[str, Any]:
        """Facts that follow from the parameters beyond their names (see `rules.facts.of_job`)."""
        return {}

    def time_limit(self, parameters: dict) -> int:
        """Seconds after which the job is stopped."""
        return self.timeout_seconds

    def cards_for(self, parameters: dict) -> int:
        return int(parameters.get("cards", self.cards) or 0)

    def judge(self, finished: Finished) -> Judgement:
        """What the job has shown: what its kind concludes, unless the output forbids it."""
        return success_checks.checked(self, finished)

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
    """Class decorator: add the kind to the registry under its code, which is given once."""
    known = _kinds.get(kind.code)
    if known is not None and type(known).__qualname__ != kind.__qualname__:
        raise ValueError(f"job kind {kind.code} is declared twice")
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
