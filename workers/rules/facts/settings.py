"""Facts from hyper-parameters by the names that training scripts give them."""

from collections.abc import Iterator, Mapping
from typing import Any

from workers.rules.facts.base import Observed
from workers.rules.facts.of_job import ALIASES, typed

PRECISIONS = ("fp16", "bf16")
SEPARATORS = str.maketrans("-", "_")
GIVEN = " ".join(sorted({*ALIASES.values(), "dtype"}))


def of_settings(given: Mapping[str, Any]) -> Iterator[Observed]:
    """Facts of settings such as {"tensor-model-parallel-size": "2", "bf16": true}."""
    named = {str(name).translate(SEPARATORS): value for name, value in given.items()}
    for name, value in named.items():
        fact = ALIASES.get(name)
        if fact and value not in (None, ""):
            yield Observed(fact, typed(fact, value))
    chosen = [name for name in PRECISIONS if named.get(name) in (True, "true", "True")]
    if len(chosen) == 1:
        yield Observed("dtype", chosen[0])
