"""Arithmetic of parallel strategies (DOMAIN 5.5): for R-PAR and the kinds of jobs. Pure."""

from dataclasses import dataclass


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

    @property
    def exceeds_node(self) -> bool:
        return self.tensor > self.cards

    @property
    def layer_groups(self) -> int:
        """What the layers must be a multiple of."""
        return self.pipeline * (self.layers_per_virtual_stage or 1)

    @property
    def has_uneven_layers(self) -> bool:
        return bool(self.layers and self.layers % self.layer_groups)

    @property
    def has_uneven_interleaving(self) -> bool:
        return bool(self.layers_per_virtual_stage and self.micro_batches % self.pipeline)

    @property
    def has_uneven_heads(self) -> bool:
        return bool(self.heads and self.heads % self.tensor)

    @property
    def has_uneven_hidden_size(self) -> bool:
        return bool(self.heads and self.hidden and self.hidden % self.heads)
