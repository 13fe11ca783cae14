"""Rules before a job is queued: blocking hits refuse it, warnings are kept with it."""

from dataclasses import replace

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from engagements.models import MigratedModel
from workers import rule_checks
from workers.models import Node
from workers.rules import BLOCK, INFO, RULES, WARN, Hit, Outcome
from workers.rules.facts import stored
from workers.rules.facts.of_job import parameters_of
from workers.runtimes import facts as runtime_facts
from workers.runtimes.chosen import Chosen

AS_IT_IS = Chosen()


def outcome_for(declaration, parameters: dict, node: Node | None,
                model: MigratedModel | None = None, known_of_node=stored.of_node,
                runtime: Chosen = AS_IT_IS, nodes: int = 1) -> Outcome:
    """All rules over one job that is to be queued.

    Args:
        known_of_node: gives a node's facts; many jobs at once ask for them once.
        nodes: on how many nodes the job runs.
    """
    known = known_of_node(node, runtime.pk) if runtime.pk else known_of_node(node)
    outcome = rule_checks.before_job(declaration, parameters, known, model,
                                     runtime_facts.of(runtime, node), nodes)
    outcome.hits = [_at_parameter(hit, parameters) for hit in outcome.hits]
    return outcome


def _at_parameter(hit: Hit, parameters: dict) -> Hit:
    """The hit with the names of the job's own parameters as its place, where there are any.

    A fact that the rule uses without needing it stays the place.
    """
    needs = RULES[hit.rule].needs
    if hit.place.isidentifier() and hit.place not in needs:
        return hit
    names = parameters_of(needs, parameters)
    return replace(hit, place=", ".join(names)) if names else hit


def result_unless_blocked(outcome: Outcome, parameters: dict) -> dict:
    """What to keep with the job: {"version", "checked", "not_checked", "hits"}.

    Raises InvalidInput with `parameters`: name → sentences, for blocking hits.
    """
    if blocking := outcome.of(BLOCK):
        raise InvalidInput(
            _("The job is refused: %(why)s")
            % {"why": " ".join(hit.sentence for hit in blocking)},
            parameters=by_parameter(blocking, parameters))
    return rule_checks.stored_outcome(outcome, [*outcome.of(WARN), *outcome.of(INFO)])


def by_parameter(hits: list[Hit], parameters: dict) -> dict[str, list[str]]:
    """Sentences by the parameter they concern; "" for those of no parameter."""
    found: dict[str, list[str]] = {}
    for hit in hits:
        names = parameters_of(RULES[hit.rule].needs, parameters) or [""]
        found.setdefault(names[0], []).append(hit.sentence)
    return found


def hits_of_job(results: dict) -> list[Hit]:
    """The hits of a job, before it ran and on what it left, in the reader's language."""
    return rule_checks.hits_of(results.get("preflight"), results.get("rule_outcome"))
