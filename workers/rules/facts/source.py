"""Facts of a source scan: what the scripts set by themselves (DOMAIN 5.3 to 5.5)."""

from collections.abc import Iterator

from workers.rules.facts.base import Observed, Seen, observes


@observes("source_scan", "seeds uses_dataloader num_workers pin_memory persistent_workers profiler "
                         "memory_fraction gc_threshold acl_init_calls is_dvpp_chained "
                         "memory_alignment json_configs has_prefetch pads_batches "
                         "has_length_buckets media_scenes media_memory jit_compile")
def settings(seen: Seen) -> Iterator[Observed]:
    for name, found in (seen.values.get("settings") or {}).items():
        yield Observed(name, found["value"], found["line"], found["file"])
    if "json_errors" in seen.values:
        yield Observed("json_configs", {e["file"]: e["text"] for e in seen.values["json_errors"]})
