"""What is checked before a job is queued; who only asks gets the same answers as who queues."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engagements.access import Can, require
from engagements.errors import DeskError, InvalidInput, WrongState
from engagements.models import Engagement, MigratedModel, User
from workers import kinds, rule_checks, schedulers
from workers.kinds import JobKind
from workers.models import Node, Runtime, RuntimePlace
from workers.models.gang import MOST_RESTARTS
from workers.rules import BLOCK, RULES, Hit, Outcome
from workers.rules.facts import stored
from workers.rules.facts.of_job import parameters_of
from workers.runtimes import chosen, options
from workers.services import job_inputs, runtimes

MOST_NODES = 64
ENGINE_ONLY = ("entry_point", "run_options")


@dataclass
class Checked:
    """An order with what the checks found, and with what they read for whoever queues it.

    Args:
        several: the nodes of a job on more than one, in the order of their ranks.
        targets: these, or the one; [None] on the server.
        outcomes: what the rules say for each of them; empty where a value is not of its type.
        refusals: everything else that forbids the job, in the order of the checks.
    """

    kind: JobKind
    engagement: Engagement | None
    several: list[Node] = field(default_factory=list)
    targets: list[Node | None] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    inputs: job_inputs.Found = field(default_factory=job_inputs.Found)
    environments: list[chosen.Chosen] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    refusals: list[DeskError] = field(default_factory=list)

    def tried(self, check: Callable, *given, **named) -> Any:
        """What the check answers; None where it refuses."""
        try:
            return check(*given, **named)
        except DeskError as error:
            self.refusals.append(error)
            return None

    @property
    def hits(self) -> list[Hit]:
        """Each once, whichever node it is of."""
        return list(dict.fromkeys(hit for outcome in self.outcomes for hit in outcome.hits))

    @property
    def errors(self) -> list[tuple[str, str]]:
        """Parameter and sentence of everything that forbids the job; "" for no parameter. What a
        rule says is not said again by the kind that looks at the same."""
        blocking = [hit for hit in self.hits if hit.severity == BLOCK]
        blocked = {hit.rule for hit in blocking}
        found = [rule_checks.by_parameter(blocking, self.values)] + [
            self._by_parameter(error) for error in self.refusals
            if error.details.get("rule") not in blocked]
        return list(dict.fromkeys((name, sentence) for each in found
                                  for name, sentences in each.items() for sentence in sentences))

    def _by_parameter(self, error: DeskError) -> dict[str, list[str]]:
        rule = RULES.get(error.details.get("rule"))
        names = parameters_of(rule.needs, self.values) if rule else []
        return error.details.get("parameters") or {(names or [""])[0]: [error.message]}

    @property
    def without_data(self) -> set[str]:
        """The rules that could not be asked for lack of data."""
        return {each.rule for outcome in self.outcomes for each in outcome.not_checked}

    def require_passed(self) -> dict:
        """What to keep with the job of the rules; raises the first thing that forbids it."""
        for refusal in self.refusals:
            refusal.details.setdefault("parameters", self._by_parameter(refusal))
            raise refusal
        result, *_others = [rule_checks.result_unless_blocked(outcome, self.values)
                            for outcome in self.outcomes]
        return result


def checked(
    actor: User, *, kind: str, parameters: dict | None = None,
    engagement: Engagement | None = None, model: MigratedModel | None = None,
    node: Node | None = None, nodes: Sequence[Node] = (), restarts: int = 0,
    runtime: Runtime | None = None, known_of_node=stored.of_node,
    examples: Collection[str] = (), **_unchecked,
) -> Checked:
    """All checks over an order as `services.queue_job` takes it.

    Values that contradict each other are refused, and asked by the rules all the same; a check
    that needs what an earlier one refused is left out. Raises NotAllowed for who may queue nothing
    here at all.
    """
    found = Checked(kinds.get(kind), model.engagement if model else engagement)
    require(actor, Can.WORK if found.engagement else Can.OPERATE, found.engagement)
    found.several = found.tried(_in_order, node, nodes) or []
    found.targets = found.several or [*nodes, node][:1]
    found.tried(_require_in_project, model)
    for each in found.targets:
        found.tried(_require_for_job, found.kind, found.engagement, each)
    is_typed = _check_values(found, actor, parameters or {}, restarts, examples)
    found.tried(require_usable_runtime, runtime, found.kind)
    found.environments = [chosen.for_job(each, found.engagement, model, runtime) if each
                          else chosen.Chosen() for each in found.targets]
    places = list(zip(found.targets, found.environments, strict=True))
    for each, way in places:
        if each and found.kind.runs_on_node:
            found.tried(require_possible_runtime, each, way)
            if is_typed and each.scheduler and not examples:
                found.tried(schedulers.of(each).require_limit, found.kind.time_limit(found.values))
    found.outcomes = [found.tried(
        rule_checks.outcome_for, found.kind, found.values, each, model, known_of_node, way,
        len(found.targets)) or Outcome() for each, way in places if is_typed and not examples]
    return found


def require_known(actor: User, later: Collection[str], **order) -> None:
    """The checks of `checked` but for the rules, which ask again when the job is queued; the
    parameters in `later` hold examples. Raises the first refusal."""
    found = checked(actor, **order, examples=later)
    for refusal in found.refusals:
        raise refusal


def _check_values(found: Checked, actor: User, parameters: dict, restarts: int,
                  examples: Collection[str]) -> bool:
    """Whether every value is of its type; the rules can ask no others."""
    kind, before = found.kind, len(found.refusals)
    entered = found.tried(_with_node_count, kind, parameters, found.several, restarts)
    entered = parameters if entered is None else entered
    values = found.tried(kind.clean, entered)
    if values is None:
        typed = Checked(kind, None).tried(JobKind.clean, kind, entered)
        found.values = typed or {}
        return typed is not None
    found.values = values = {
        name: [] if name in examples and isinstance(value, list)
        else None if name in examples else value for name, value in values.items()}
    if restarts:
        found.tried(kind.require_restartable, values)
    found.tried(kind.require_place, values, found.engagement)
    if len(found.refusals) > before:
        return True
    for each in found.targets:
        if each and kind.runs_on_node:
            found.tried(kind.require_permitted, values, actor, each)
            found.tried(_require_cards, kind, values, each)
    found.inputs = found.tried(job_inputs.found_in, user=actor, kind=kind, values=values,
                               engagement=found.engagement) or found.inputs
    return True


def _require_in_project(model: MigratedModel | None) -> None:
    if model and model.dropped_at:
        raise WrongState(_("%(model)s was dropped from the project; nothing runs for it any more.")
                         % {"model": model})


def _require_for_job(kind: JobKind, engagement: Engagement | None, node: Node | None) -> None:
    if kind.needs_model and engagement is None:
        raise InvalidInput(_("This kind of job belongs to an engagement; choose one."))
    if kind.runs_on_node and node is None:
        raise InvalidInput(_("Choose the node on which the job is to run."))
    if kind.runs_on_node and node.state != Node.State.READY:
        raise WrongState(_("The node %(name)s is “%(state)s”.")
                         % {"name": node.name, "state": node.get_state_display()})


def _require_cards(kind: JobKind, values: dict[str, Any], node: Node) -> None:
    """A node with too few cards, or of which nobody knows how many it has, would let it wait for
    ever. A cluster says itself what it has."""
    wanted = 0 if node.scheduler else kind.cards_for(values)
    has = wanted and (node.cards.count() or node.cards_total)
    if wanted and has is None:
        raise InvalidInput(_(
            "How many cards the node %(node)s has is not known: read them on its page (“Read "
            "chips and host”), or enter their number there.") % {"node": node.name})
    if wanted > (has or 0):
        raise InvalidInput(ngettext(
            "The job wants %(n)d card; the node %(node)s has %(has)d.",
            "The job wants %(n)d cards; the node %(node)s has %(has)d.", wanted)
            % {"n": wanted, "node": node.name, "has": has})


def _in_order(node: Node | None, nodes: Sequence[Node]) -> list[Node]:
    """The nodes in the order of their ranks; empty where one or none is asked for.

    Nodes of one rack (label `rack=…`) stand together, so that neighbouring ranks are near; racks
    stand in the order in which they were first named. Raises InvalidInput.
    """
    if not nodes:
        return []
    if node and node not in nodes:
        raise InvalidInput(_("Name either one node or several."))
    if len({each.pk for each in nodes}) < len(nodes):
        raise InvalidInput(_("A node is named twice."))
    if len(nodes) > MOST_NODES:
        raise InvalidInput(_("At most %(n)d nodes run one job.") % {"n": MOST_NODES})
    if len(nodes) < 2:
        return []
    if cluster := next((each for each in nodes if each.scheduler), None):
        raise InvalidInput(_(
            "%(node)s is a cluster, whose own scheduler chooses nodes: it cannot be one of several "
            "nodes of a job. Name it alone.") % {"node": cluster.name})
    racks = [_rack_of(each) for each in nodes]
    return [each for _rack, each in sorted(zip(racks, nodes, strict=True),
                                           key=lambda pair: racks.index(pair[0]))]


def _rack_of(node: Node) -> str:
    """The value of the node's label `rack=…`; empty without one."""
    words = [word.strip() for word in node.labels.split(",")]
    return next((word.removeprefix("rack=") for word in words if word.startswith("rack=")), "")


def _with_node_count(declaration: JobKind, parameters: dict, nodes: list[Node], restarts: int
                     ) -> dict:
    """The parameters with the number of nodes, where the kind has one. Raises InvalidInput."""
    if not 0 <= restarts <= MOST_RESTARTS:
        raise InvalidInput(_("From 0 to %(n)d restarts are possible.") % {"n": MOST_RESTARTS})
    if not nodes:
        if restarts:
            raise InvalidInput(_("Restarts are for jobs on several nodes."))
        return parameters
    if not declaration.spans_nodes:
        raise InvalidInput(_("Jobs of this kind run on one node."))
    if "nodes" not in {parameter.name for parameter in declaration.parameters}:
        return parameters
    return {**parameters, "nodes": len(nodes)}


def require_usable_runtime(runtime: Runtime | None, declaration: JobKind) -> None:
    """Raises InvalidInput for a runtime that a job of the kind cannot be given."""
    if runtime is None:
        return
    if not declaration.runs_on_node:
        raise InvalidInput(_("Jobs of this kind run on the server; they have no runtime."))
    runtimes.require_in_use(runtime)


def require_possible_runtime(node: Node, way: chosen.Chosen) -> None:
    """Raises InvalidInput for a runtime that the node cannot make: a cluster that starts each job
    in a container of its own takes the image from it, and no container inside."""
    if not node.makes_containers:
        return
    if way.place == RuntimePlace.RUNNING:
        raise InvalidInput(_("%(node)s starts each job in a container of its own; a container that "
                             "runs already is not for it.") % {"node": node.name})
    if found := [name for name in ENGINE_ONLY if name in way.options]:
        label = next(option.label for option in options.for_place(way.place)
                     if option.name == found[0])
        raise InvalidInput(_("“%(option)s” of the runtime is for container engines; %(node)s "
                             "starts the image by itself.") % {"option": label, "node": node.name})
