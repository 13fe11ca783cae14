"""Facts of training logs (DOMAIN R-ACC-09, R-PAR-03)."""

from collections.abc import Iterator

from workers.facts.base import Observed, Seen, observes


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
