"""Where rules are applied: before a job, on what it left, on an uploaded file, on a node."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from django.utils.translation import gettext as _

from engagements.errors import InvalidInput
from engagements.models import MigratedModel
from workers.models import Artifact, Job, Node
from workers.rules import BLOCK, INFO, RULES, RULES_VERSION, WARN, Facts, Hit, Outcome, check
from workers.rules.base import with_derived
from workers.rules.facts import load_all, stored
from workers.rules.facts.base import Seen, given_by
from workers.rules.facts.of_job import facts_of_job, parameters_of
from workers.rules.scanned import of_scans
from workers.rules.tool_options import used_by
from workers.runtimes.chosen import Chosen

load_all()
AS_IT_IS = Chosen()
READ_OF_NODES = ("npu_smi", "host_probe", "torch_check", "version_info", "node_report")
OF_FRAMEWORK = {"mindspore": ("mindspore",), "tensorflow": ("tensorflow", "tensorflow_package",
                                                            "is_compiling")}


def about(own: Mapping, known: Callable[[], Mapping]) -> Outcome:
    """The rules that concern `own` facts, with `known` ones to complete them.

    A rule of which no fact is our own is left out: it says nothing about this matter. What is
    known is asked for only if there is a rule for it.
    """
    names = {name for name, value in with_derived(Facts(own)).items() if value is not None}
    codes = [code for code, rule in sorted(RULES.items()) if not names.isdisjoint(rule.needs)]
    if not codes:
        return Outcome()
    facts = with_derived(Facts(own, origins=getattr(own, "origins", {})).over(known()))
    return check(facts, codes)


def of_node(node: Node) -> Outcome:
    """The rules that a node's own readings can feed, over what was last read of it."""
    readable = given_by(*READ_OF_NODES) | {"cards_per_node"}
    codes = [code for code, rule in sorted(RULES.items()) if set(rule.needs) <= readable]
    return check(with_derived(stored.of_node(node)), codes)


def before_job(declaration, parameters: dict, of_node: Facts,
               model: MigratedModel | None = None, runtime: Mapping | None = None,
               nodes: int = 1) -> Outcome:
    """The rules over a job that is to be queued. The node's state counts where cards are used.

    Args:
        of_node: what is known of the node. runtime: facts of the job's runtime.
        nodes: on how many the job runs; a kind states the processes of one.
    """
    environment = declaration.environment(parameters)
    own = {**(runtime or {}), **facts_of_job(parameters, environment,
                                             declaration.facts(parameters))}
    if "processes" in own:
        own["processes"] *= nodes
    if declaration.runs_on_node and (used := used_by(declaration.argv(parameters))):
        own["tool_options"] = used
    known = _for_framework(of_node, model)
    if declaration.cards_for(parameters):
        own.setdefault("cards_required", declaration.cards_for(parameters))
        own = Facts(own).over(known)
    return about(own, lambda: known.over(stored.of_model(model)))


def _for_framework(known: Facts, model: MigratedModel | None) -> Facts:
    """Without the frameworks that the model does not use: they are no matter of its jobs."""
    used = (model.framework if model else "").lower()
    others = {name for framework, names in OF_FRAMEWORK.items() if framework not in used
              for name in names}
    own = {name: value for name, value in known.items() if name not in others}
    return Facts(own, origins={n: o for n, o in known.origins.items() if n in own})


def outcome_for(declaration, parameters: dict, node: Node | None,
                model: MigratedModel | None = None, known_of_node=stored.of_node,
                runtime: Chosen = AS_IT_IS, nodes: int = 1) -> Outcome:
    """All rules over one job that is to be queued.

    Args:
        known_of_node: gives a node's facts; many jobs at once ask for them once.
        nodes: on how many nodes the job runs.
    """
    known = known_of_node(node, runtime.pk) if runtime.pk else known_of_node(node)
    outcome = before_job(declaration, parameters, known, model, runtime.facts(node), nodes)
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
    return stored_outcome(outcome, [*outcome.of(WARN), *outcome.of(INFO)])


def by_parameter(hits: list[Hit], parameters: dict) -> dict[str, list[str]]:
    """Sentences by the parameter they concern; "" for those of no parameter."""
    found: dict[str, list[str]] = {}
    for hit in hits:
        names = parameters_of(RULES[hit.rule].needs, parameters) or [""]
        found.setdefault(names[0], []).append(hit.sentence)
    return found


def hits_of_job(results: dict) -> list[Hit]:
    """The hits of a job, before it ran and on what it left, in the reader's language."""
    return hits_of(results.get("preflight"), results.get("rule_outcome"))


def of_job(job: Job, artifacts: Iterable[Artifact]) -> dict:
    """What the rules say of the files a job left, as it is stored."""
    return stored_outcome(about(stored.of_artifacts(artifacts), lambda: _known_of_job(job)))


def _known_of_job(job: Job) -> Facts:
    from workers import kinds

    kind = kinds.of_job(job)
    declared = facts_of_job(job.parameters, kind.environment(job.parameters),
                            kind.facts(job.parameters))
    return Facts(declared).over(stored.of_node(
        job.node, job.runtime.get("id"))).over(stored.of_model(job.model))


def of_upload(artifact: Artifact) -> dict:
    """What the rules say of an uploaded file, with what is known of its model."""
    outcome = about(stored.of_artifacts([artifact]), lambda: stored.of_model(artifact.model))
    scans = of_scans(artifact.readings.filter(kind="source_scan"), artifact)
    outcome.hits += scans.hits
    outcome.clear += scans.clear
    return stored_outcome(outcome)


def of_scanned_settings(values: Mapping) -> Outcome:
    """What the rules say of the settings that scanned sources make (acl.init, media memory, …)."""
    return about(stored.of_seen(Seen("source_scan", "", dict(values))), dict)


def stored_outcome(outcome: Outcome, hits: Iterable[Hit] | None = None) -> dict:
    """An outcome as it is stored: {"version", "checked", "not_checked", "hits"}."""
    shown = list(outcome.hits if hits is None else hits)
    checked = {*outcome.clear, *(hit.rule for hit in outcome.hits)}
    return {"version": RULES_VERSION, "checked": len(checked),
            "not_checked": len(outcome.not_checked), "hits": [vars(hit) for hit in shown]}


def counts_of(*stored_outcomes: tuple[str, Mapping | None]) -> list[dict]:
    """For a page: when rules were applied, how many were checked and how many lacked data.

    Nothing where no rule was asked at all.
    """
    return [{"when": when, "checked": found.get("checked", 0),
             "not_checked": found.get("not_checked", 0)}
            for when, found in stored_outcomes
            if found and (found.get("checked") or found.get("not_checked"))]


def hits_of(*stored_outcomes: Mapping | None) -> list[Hit]:
    """The hits of stored outcomes, each once, the gravest first; in the reader's language."""
    order = {"block": 0, "warn": 1, "info": 2}
    found = {Hit(**entry): None for outcome in stored_outcomes
             for entry in (outcome or {}).get("hits", [])}
    return sorted(found, key=lambda hit: (order[hit.severity], hit.rule))
