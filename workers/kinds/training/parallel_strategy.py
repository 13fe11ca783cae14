"""What contradicts itself in a parallel strategy, as sentences (R-PAR).

Pure: each finding is a rule's number, a message id and the values of its sentence.
"""

from collections.abc import Iterator

from django.utils.translation import gettext_noop

from workers.rules.strategy import Strategy

Finding = tuple[str, str, dict]


def check(strategy: Strategy) -> list[Finding]:
    """Violations of R-PAR-01 to R-PAR-06, in that order."""
    return [*_ranks(strategy), *_batches(strategy), *_layers(strategy), *_widths(strategy)]


def _ranks(s: Strategy) -> Iterator[Finding]:
    if s.exceeds_node:
        yield "R-PAR-01", gettext_noop(
            "TP = %(tp)d is larger than the %(cards)d cards of a node."), {
                "tp": s.tensor, "cards": s.cards}
    if not s.data:
        yield "R-PAR-02", gettext_noop(
            "%(cards)d cards cannot be divided by TP × PP × CP = %(product)d."), {
                "cards": s.world, "product": s.model_ranks}
    elif s.expert > 1 and s.data * s.context % s.expert:
        yield "R-PAR-02", gettext_noop(
            "DP × CP = %(dp)d cannot be divided by the expert parallel size %(ep)d."), {
                "dp": s.data * s.context, "ep": s.expert}


def _batches(s: Strategy) -> Iterator[Finding]:
    if s.data and not s.micro_batches:
        yield "R-PAR-04", gettext_noop(
            "The global batch size must be a multiple of micro batch × DP = %(step)d."), {
                "step": s.micro_batch * s.data}


def _layers(s: Strategy) -> Iterator[Finding]:
    if s.has_uneven_layers:
        yield "R-PAR-05", gettext_noop(
            "%(layers)d layers cannot be divided by PP × layers per virtual stage = "
            "%(product)d."), {"layers": s.layers, "product": s.layer_groups}
    if s.layers_per_virtual_stage and s.pipeline < 2:
        yield "R-PAR-05", gettext_noop("Virtual stages need PP of at least 2."), {}
    elif s.has_uneven_interleaving:
        yield "R-PAR-05", gettext_noop(
            "With virtual stages the %(n)d micro-batches must be a multiple of PP = %(pp)d."), {
                "n": s.micro_batches, "pp": s.pipeline}


def _widths(s: Strategy) -> Iterator[Finding]:
    if s.has_uneven_heads:
        yield "R-PAR-06", gettext_noop(
            "%(heads)d attention heads cannot be divided by TP = %(tp)d."), {
                "heads": s.heads, "tp": s.tensor}
    if s.has_uneven_hidden_size:
        yield "R-PAR-06", gettext_noop(
            "The hidden size %(hidden)d cannot be divided by %(heads)d heads."), {
                "hidden": s.hidden, "heads": s.heads}
    if s.is_sequence_parallel and s.tensor < 2:
        yield "R-PAR-06", gettext_noop("Sequence parallelism needs TP of at least 2."), {}
    share = s.tensor * s.context if s.is_sequence_parallel else s.context
    if s.sequence_length and s.sequence_length % share:
        yield "R-PAR-06", gettext_noop(
            "The sequence length %(length)d cannot be divided by %(share)d ranks."), {
                "length": s.sequence_length, "share": share}
