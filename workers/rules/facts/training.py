"""Facts of training logs (DOMAIN R-ACC-09, R-PAR-03)."""

from collections.abc import Iterator, Mapping
from typing import Any

from workers.rules.facts.base import Observed, Seen, observes
from workers.rules.facts.of_job import ALIASES, typed
from workers.rules.facts.settings import GIVEN, PRECISIONS


@observes("training_log", "nonfinite_losses train_iters gbs parameters_billion declared_dp tp pp "
                          "cp processes")
def log(seen: Seen) -> Iterator[Observed]:
    """Losses that are not finite, and what Megatron prints of sizes at its start."""
    values = seen.values
    loss = values.get("loss") or {}
    if loss.get("points"):
        yield Observed("nonfinite_losses", loss.get("nonfinite", 0),
                       seen.warned_line("nonfinite_loss"))
    started = values.get("started") or {}
    for name in ("parameters_billion", "declared_dp", "tp", "pp", "cp", "processes"):
        yield Observed(name, started.get(name), seen.line(name))
    if values.get("total_steps") and values.get("step_unit", "step") == "step":
        yield Observed("train_iters", int(values["total_steps"]))
    batch = (values.get("throughput") or {}).get("global_batch_size")
    yield Observed("gbs", int(batch) if batch else None)


@observes("parallel_strategy", "declared_dp tp pp cp")
def strategy(seen: Seen) -> Iterator[Observed]:
    """Sizes of parallel_strategy.json; one that it does not name is 1."""
    for fact, size in (("declared_dp", "dp"), ("tp", "tp"), ("pp", "pp"), ("cp", "cp")):
        yield Observed(fact, seen.values.get(size, 1), seen.line(size))


@observes("training_log", f"{GIVEN} world_size")
def log_arguments(seen: Seen) -> Iterator[Observed]:
    """What the run itself printed of its settings, whatever its script says."""
    yield from _of_arguments((seen.values.get("started") or {}).get("arguments") or {}, seen)


@observes("training_arguments", f"{GIVEN} world_size")
def arguments(seen: Seen) -> Iterator[Observed]:
    """The same of a run that stopped before its first iteration."""
    yield from _of_arguments(seen.values.get("arguments") or {}, seen)


def _of_arguments(printed: Mapping[str, Any], seen: Seen) -> Iterator[Observed]:
    for name, value in printed.items():
        fact = "world_size" if name == "world_size" else ALIASES.get(name)
        # Megatron prints 0 warm-up iterations where the warm-up is given as a fraction.
        is_default = (name == "lr_warmup_iters" and value == "0"
                      and "lr_warmup_fraction" in printed)
        if fact and not is_default:
            yield Observed(fact, typed(fact, _plain(value)), seen.line(name))
    chosen = [name for name in PRECISIONS if printed.get(name) == "True"]
    if len(chosen) == 1:
        yield Observed("dtype", chosen[0], seen.line(chosen[0]))


def _plain(value: Any) -> Any:
    """The first of a printed list: ['/data/corpus_text_document']."""
    text = str(value)
    return text.strip("[]").split(",")[0].strip(" '\"") if text.startswith("[") else value
