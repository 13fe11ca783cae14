"""Arithmetic of parallel strategies (DOMAIN 5.5, R-PAR) and of allocator options (5.4, R-CFG).

Pure functions without database or language: each finding is a rule's number, a message id and
the values of its sentence.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext_noop

Finding = tuple[str, str, dict]


@dataclass(frozen=True)
class Strategy:
    """How a training is spread over cards; sizes are numbers of ranks."""

    cards: int  # of one node
    nodes: int = 1
    tensor: int = 1
    pipeline: int = 1
    context: int = 1
    expert: int = 1
    micro_batch: int = 1
    global_batch: int = 1
    layers: int | None = None
    layers_per_virtual_stage: int | None = None
    hidden: int | None = None
    heads: int | None = None
    sequence_length: int | None = None
    is_sequence_parallel: bool = False

    @property
    def world(self) -> int:
        return self.cards * self.nodes

    @property
    def model_ranks(self) -> int:
        return self.tensor * self.pipeline * self.context

    @property
    def data(self) -> int:
        """Data-parallel size; 0 where the world cannot be divided."""
        return 0 if self.world % self.model_ranks else self.world // self.model_ranks

    @property
    def micro_batches(self) -> int:
        """Micro-batches per step; 0 where the batch cannot be divided."""
        step = self.micro_batch * self.data
        return 0 if not step or self.global_batch % step else self.global_batch // step


def check(strategy: Strategy) -> list[Finding]:
    """Violations of R-PAR-01 to R-PAR-06, in that order."""
    return [*_ranks(strategy), *_batches(strategy), *_layers(strategy), *_widths(strategy)]


def _ranks(s: Strategy) -> Iterator[Finding]:
    if s.tensor > s.cards:
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
    virtual = s.layers_per_virtual_stage
    if s.layers and s.layers % (s.pipeline * (virtual or 1)):
        yield "R-PAR-05", gettext_noop(
            "%(layers)d layers cannot be divided by PP × layers per virtual stage = "
            "%(product)d."), {"layers": s.layers, "product": s.pipeline * (virtual or 1)}
    if virtual and s.pipeline < 2:
        yield "R-PAR-05", gettext_noop("Virtual stages need PP of at least 2."), {}
    elif virtual and s.micro_batches % s.pipeline:
        yield "R-PAR-05", gettext_noop(
            "With virtual stages the %(n)d micro-batches must be a multiple of PP = %(pp)d."), {
                "n": s.micro_batches, "pp": s.pipeline}


def _widths(s: Strategy) -> Iterator[Finding]:
    if s.heads and s.heads % s.tensor:
        yield "R-PAR-06", gettext_noop(
            "%(heads)d attention heads cannot be divided by TP = %(tp)d."), {
                "heads": s.heads, "tp": s.tensor}
    if s.heads and s.hidden and s.hidden % s.heads:
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


def check_allocator(text: str) -> list[Finding]:
    """Violations of R-CFG-01 to R-CFG-05 in the value of PYTORCH_NPU_ALLOC_CONF."""
    if any(c.isspace() for c in text) or not all(":" in part for part in text.split(",")):
        return [("R-CFG-05", gettext_noop(
            "The allocator options are key:value, separated by commas, without blanks."), {})]
    options = dict(part.split(":", 1) for part in text.split(","))
    return [*_allocator_pairs(options), *_allocator_bounds(options)]


def _allocator_pairs(options: dict[str, str]) -> Iterator[Finding]:
    expands = options.get("expandable_segments", "").lower() == "true"
    if expands and {"max_split_size_mb", "garbage_collection_threshold"} & set(options):
        yield "R-CFG-01", gettext_noop(
            "expandable_segments:True excludes max_split_size_mb and "
            "garbage_collection_threshold."), {}
    if "base_addr_aligned_kb" in options and not expands:
        yield "R-CFG-04", gettext_noop("base_addr_aligned_kb needs expandable_segments:True."), {}


def _allocator_bounds(options: dict[str, str]) -> Iterator[Finding]:
    bounds = (("garbage_collection_threshold", "R-CFG-02", lambda n: 0 < n < 1, "0 < x < 1"),
              ("max_split_size_mb", "R-CFG-03", lambda n: n > 20, "x > 20"),
              ("base_addr_aligned_kb", "R-CFG-04", lambda n: n == int(n) and 0 <= n <= 16,
               "0 … 16"))
    for name, rule, is_allowed, shown in bounds:
        if name in options and not _satisfies(options[name], is_allowed):
            yield rule, gettext_noop("%(name)s must be %(bounds)s."), {
                "name": name, "bounds": shown}


def _satisfies(text: str, is_allowed) -> bool:
    try:
        return is_allowed(float(text))
    except (ValueError, OverflowError):
        return False
