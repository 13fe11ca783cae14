"""Facts that follow from other facts. What cannot be derived is left out."""

from collections.abc import Mapping
from typing import Any

from workers.rules.base import Facts, Origin
from workers.rules.strategy import Strategy


def with_derived(facts: Facts) -> Facts:
    """The facts, and below them what follows from them; a stated fact is never replaced."""
    found: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for name, (needs, formula) in _FORMULAS.items():
        if facts.get(name) is None and all(facts.get(need) is not None for need in needs):
            found[name] = _value(formula, facts)
            read = [facts.origins[need] for need in needs if need in facts.origins]
            origins |= {name: read[0]} if read else {}
    return facts.over(Facts(found, origins=origins))


def _value(formula, facts: Mapping[str, Any]) -> Any:
    try:
        return formula(facts)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None


def _storage(f) -> str | None:
    """nvme, or the device on which the data lies; None behind a volume manager or for “~”."""
    path = str(f["data_path"])
    mounts = [disk for disk in f["disks"] if _is_below(path, str(disk["mount"]))]
    if not path.startswith("/") or not mounts:
        return None
    device = str(max(mounts, key=lambda disk: len(disk["mount"]))["device"])
    if device.startswith(("/dev/mapper/", "/dev/dm-", "overlay")):
        return None
    return "nvme" if device.startswith("/dev/nvme") else device


def _is_below(path: str, mount: str) -> bool:
    return mount in ("/", path) or path.startswith(f"{mount}/")


def _batches(f) -> int:
    return Strategy(cards=int(f["world_size"]), tensor=int(f["tp"]), pipeline=int(f["pp"]),
                    context=int(f.get("cp") or 1), micro_batch=int(f["mbs"]),
                    global_batch=int(f["gbs"])).micro_batches


def _billions(f) -> float:
    """12 · layers · hidden²: weights of the blocks of a transformer, without embeddings."""
    return 12 * int(f["num_layers"]) * int(f["hidden_size"]) ** 2 / 1e9


_FORMULAS = {
    "warmup_steps": (("warmup_fraction", "train_iters"),
                     lambda f: f["warmup_fraction"] * f["train_iters"]),
    "data_storage": (("data_path", "disks"), _storage),
    "micro_batches": (("gbs", "mbs", "world_size", "tp", "pp"), _batches),
    "parameters_billion": (("num_layers", "hidden_size"), _billions),
}
