"""R-PAR: how a model is spread over cards (DOMAIN 5.5)."""

from django.utils.translation import gettext_lazy as _

from workers.rules.base import BLOCK, INFO, Spot, rule


def _product(f) -> int:
    return int(f["tp"]) * int(f["pp"]) * int(f.get("cp") or 1)


def _batch(f):
    dp = int(f["world_size"]) // _product(f)
    step = int(f["mbs"]) * dp
    if step and int(f["gbs"]) % step:
        return [Spot(f"{f['gbs']} / ({f['mbs']} × {dp})", "gbs")]
    return []


def _layers(f):
    per_stage = int(f["pp"]) * int(f.get("layers_per_virtual_stage") or 1)
    uneven = int(f["num_layers"]) % per_stage != 0
    batches = f.get("micro_batches")
    interleaved = bool(f.get("layers_per_virtual_stage")) and batches is not None
    return uneven or (interleaved and int(batches) % int(f["pp"]) != 0)


rule("R-PAR-01", BLOCK, "S0", "tp cards_per_node",
     _("TP must not exceed the cards of a node."), _("Lower TP."),
     lambda f: int(f["tp"]) > int(f["cards_per_node"]))
rule("R-PAR-02", BLOCK, "K, S0", "world_size tp pp",
     _("The number of cards must be a multiple of TP × PP × CP."),
     _("Change the cards or the parallel sizes."),
     lambda f: int(f["world_size"]) % _product(f) != 0)
rule("R-PAR-03", BLOCK, "S3", "declared_dp tp pp processes",
     _("DP × TP × PP × CP must be the number of started processes."),
     _("Start as many processes as the configuration declares."),
     lambda f: int(f["declared_dp"]) * _product(f) != int(f["processes"]))
rule("R-PAR-04", BLOCK, "K, S0", "gbs mbs world_size tp pp",
     _("The global batch must be a multiple of micro batch × DP."),
     _("Change the global or the micro batch."), _batch)
rule("R-PAR-05", BLOCK, "K", "num_layers pp",
     _("Layers must divide evenly over the stages, micro batches over PP when interleaved."),
     _("Change PP or the layers of a virtual stage."), _layers)
rule("R-PAR-06", BLOCK, "K", "num_heads hidden_size tp",
     _("Heads must be a multiple of TP, the hidden size a multiple of the heads."),
     _("Lower TP or correct the model's sizes."),
     lambda f: int(f["num_heads"]) % int(f["tp"]) != 0
     or int(f["hidden_size"]) % int(f["num_heads"]) != 0)
rule("R-PAR-07", INFO, "S0", "tp pp cards_per_node",
     _("Use TP up to a node first, then a small PP, then DP, then ZeRO-1 or recomputation."),
     _("Try a larger TP before PP."),
     lambda f: int(f["pp"]) > 1 and int(f["tp"]) < int(f["cards_per_node"])
     and int(f["pp"]) > int(f["tp"]))
