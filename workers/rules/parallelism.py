"""R-PAR: how a model is spread over cards (DOMAIN 5.5)."""

from django.utils.translation import gettext_lazy as _

from workers.rules.base import BLOCK, INFO, Spot, rule
from workers.rules.strategy import Strategy

SIZES = {"world_size": "cards", "cards_per_node": "cards", "tp": "tensor", "pp": "pipeline",
         "cp": "context", "mbs": "micro_batch", "gbs": "global_batch", "num_layers": "layers",
         "layers_per_virtual_stage": "layers_per_virtual_stage", "hidden_size": "hidden",
         "num_heads": "heads"}
OPTIONAL = ("cp", "layers_per_virtual_stage")


def _strategy(f, names: str) -> Strategy:
    """Of these facts; every card counts, whatever node it is in. An optional one may be unknown."""
    known = [name for name in names.split() if name not in OPTIONAL or f.get(name)]
    return Strategy(**{"cards": 1, **{SIZES[name]: int(f[name]) for name in known}})


def _batch(f):
    s = _strategy(f, "world_size tp pp cp mbs gbs")
    if s.data and not s.micro_batches:
        return [Spot(f"{f['gbs']} / ({f['mbs']} × {s.data})", "gbs")]
    return []


def _layers(f):
    if _strategy(f, "num_layers pp layers_per_virtual_stage").has_uneven_layers:
        return True
    return f.get("micro_batches") is not None and bool(f.get("layers_per_virtual_stage")) and (
        int(f["micro_batches"]) % int(f["pp"]) != 0)


rule("R-PAR-01", BLOCK, "S0", "tp cards_per_node",
     _("TP must not exceed the cards of a node."), _("Lower TP."),
     lambda f: _strategy(f, "tp cards_per_node").exceeds_node)
rule("R-PAR-02", BLOCK, "K, S0", "world_size tp pp",
     _("The number of cards must be a multiple of TP × PP × CP."),
     _("Change the cards or the parallel sizes."),
     lambda f: not _strategy(f, "world_size tp pp cp").data)
rule("R-PAR-03", BLOCK, "S3", "declared_dp tp pp processes",
     _("DP × TP × PP × CP must be the number of started processes."),
     _("Start as many processes as the configuration declares."),
     lambda f: int(f["declared_dp"]) * _strategy(f, "tp pp cp").model_ranks != int(f["processes"]))
rule("R-PAR-04", BLOCK, "K, S0", "gbs mbs world_size tp pp",
     _("The global batch must be a multiple of micro batch × DP."),
     _("Change the global or the micro batch."), _batch)
rule("R-PAR-05", BLOCK, "K", "num_layers pp",
     _("Layers must divide evenly over the stages, micro batches over PP when interleaved."),
     _("Change PP or the layers of a virtual stage."), _layers)
rule("R-PAR-06", BLOCK, "K", "num_heads hidden_size tp",
     _("Heads must be a multiple of TP, the hidden size a multiple of the heads."),
     _("Lower TP or correct the model's sizes."),
     lambda f: _strategy(f, "num_heads tp").has_uneven_heads
     or _strategy(f, "num_heads hidden_size").has_uneven_hidden_size)
rule("R-PAR-07", INFO, "S0", "tp pp cards_per_node",
     _("Use TP up to a node first, then a small PP, then DP, then ZeRO-1 or recomputation."),
     _("Try a larger TP before PP."),
     lambda f: int(f["pp"]) > 1 and int(f["tp"]) < int(f["cards_per_node"])
     and int(f["pp"]) > int(f["tp"]))
