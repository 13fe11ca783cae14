"""Throughput and scaling from stored training logs; runs on the server (DOMAIN 4.4)."""

import json
from typing import ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from engagements.errors import InvalidInput
from engagements.stages import Stage
from engagements.text.nested_sentences import ngettext_noop
from workers.kinds.base import JobKind, Judgement, Parameter, register
from workers.kinds.parameters import CARDS_OF_A_NODE

CARDS_USED = Parameter("cards_used", _("Cards"), "integer", default=CARDS_OF_A_NODE, minimum=1,
                       maximum=100_000)


class FromLogs(JobKind):
    """Base of the kinds that compute from stored files."""

    stages = (Stage.TRAIN_TUNE,)
    runs_on_node = False
    usual_seconds = 5


def step_seconds(job, number: int) -> tuple[float, dict]:
    """Median seconds per step without warm-up, and the reading's values, of a stored log.

    Raises InvalidInput for a file of another engagement or without step times.
    """
    from workers.models import Artifact

    artifact = Artifact.objects.filter(pk=number, engagement=job.engagement).first()
    stored = artifact and artifact.readings.filter(kind="training_log").first()
    median = ((stored.values if stored else {}).get("iteration_time_ms") or {}).get("median")
    if not median:
        raise InvalidInput(gettext("File %(number)s is not a training log of this engagement with "
                                   "times per step.") % {"number": number})
    return float(median) / 1000, stored.values


def answer(name: str, message: str, facts: dict) -> tuple[Judgement, dict[str, bytes]]:
    """A success with these facts, and the report of that name that keeps them as a file."""
    report = json.dumps({"desk_report": name, **facts}, indent=1).encode()
    return Judgement(True, message, facts, facts), {f"{name}.report.json": report}


@register
class Throughput(FromLogs):
    code = "perf.throughput"
    title = _("Throughput")
    description = _("Tokens per second from a stored training log: global batch × sequence "
                    "length ÷ time per step.")
    success = _("The log holds times per step after the warm-up.")
    parameters: ClassVar = (
        Parameter("log", _("Training log (file number)"), "artifact"),
        Parameter("seq_length", _("Sequence length"), "integer", is_required=False, minimum=1,
                  maximum=1_048_576, unit="tokens", help=_("Empty: as the log says.")),
        Parameter("global_batch_size", _("Global batch size"), "integer", is_required=False,
                  minimum=1, maximum=1_000_000, help=_("Empty: as the log says.")),
        CARDS_USED,
    )

    def run_here(self, job, parameters):
        try:
            seconds, values = step_seconds(job, parameters["log"])
        except InvalidInput as error:
            return Judgement(False, gettext_noop("%(why)s"), {"why": error.message}), {}
        logged = values.get("throughput") or {}
        batch = parameters["global_batch_size"] or logged.get("global_batch_size")
        length = parameters["seq_length"] or logged.get("sequence_length")
        if not batch:
            return Judgement(False, gettext_noop("The log does not name its batch size.")), {}
        if not length:
            return Judgement(False, gettext_noop(
                "The log does not name the length of its sequences.")), {}
        tokens = batch * length / seconds
        return answer("throughput", gettext_noop(
            "%(shown)s tokens per second (%(batch)s × %(length)s ÷ %(seconds)s s), %(per_card)s "
            "per card."), {
            "tokens_per_second": tokens, "step_seconds": seconds, "shown": f"{tokens:.4g}",
            "batch": f"{batch:g}", "length": f"{length:g}", "seconds": f"{seconds:.4g}",
            "per_card": f"{tokens / parameters['cards_used']:.4g}"})


UNITS = {"node": _("Node"), "card": _("Card")}
REACHED = {  # (unit, is above what is possible)
    ("node", False): ngettext_noop(
        "%(shown)s %% over %(nodes)d node.",
        "%(shown)s %% over %(nodes)d nodes.", "nodes"),
    ("node", True): ngettext_noop(
        "%(shown)s %% over %(nodes)d node: above 100 %%, check that both runs are comparable.",
        "%(shown)s %% over %(nodes)d nodes: above 100 %%, check that both runs are "
        "comparable.", "nodes"),
    ("card", False): ngettext_noop(
        "%(shown)s %% over %(nodes)d card.",
        "%(shown)s %% over %(nodes)d cards.", "nodes"),
    ("card", True): ngettext_noop(
        "%(shown)s %% over %(nodes)d card: above 100 %%, check that both runs are comparable.",
        "%(shown)s %% over %(nodes)d cards: above 100 %%, check that both runs are "
        "comparable.", "nodes"),
}


@register
class Scaling(FromLogs):
    code = "perf.scaling"
    title = _("Scaling efficiency")
    description = _("Throughput of n nodes or cards against n times that of one node or card.")
    success = _("Both logs hold times per step after the warm-up.")
    parameters: ClassVar = (
        Parameter("one", _("Log of one (file number)"), "artifact"),
        Parameter("many", _("Log of n (file number)"), "artifact"),
        Parameter("unit", _("Against one"), "choice", default="node", choices=tuple(UNITS),
                  names=UNITS, help=_("32 cards against one card, or 4 nodes against one node: "
                                      "the two differ by what is lost within a node.")),
        Parameter("nodes", _("Nodes or cards (n)"), "integer", minimum=2, maximum=100_000),
        Parameter("batch_factor", _("Global batch of n ÷ that of one"), "number", default=1,
                  minimum=0.001, maximum=100_000),
    )

    def run_here(self, job, parameters):
        try:
            one, many = (step_seconds(job, parameters[name])[0] for name in ("one", "many"))
        except InvalidInput as error:
            return Judgement(False, gettext_noop("%(why)s"), {"why": error.message}), {}
        share = parameters["batch_factor"] * one / many / parameters["nodes"]
        facts = {"efficiency": share, "shown": f"{share * 100:.1f}", "nodes": parameters["nodes"],
                 "unit": parameters["unit"]}
        return answer("scaling", REACHED[parameters["unit"], share > 1], facts)
