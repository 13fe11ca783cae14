"""What a runtime says of a job before it runs, as facts for the rules."""

from typing import Any

from workers.models import Node, RuntimePlace
from workers.runtimes.chosen import Chosen

ENGINES_DEFAULT_GB = 0  # docker and podman give 64 MB of shared memory


def of(runtime: Chosen, node: Node | None) -> dict[str, Any]:
    """Facts by name; what the runtime does not decide is left out."""
    facts: dict[str, Any] = {}
    if runtime.options.get("scripts"):
        facts["is_set_env_sourced"] = True
    if runtime.place == RuntimePlace.CONTAINER:
        facts["container_image"] = runtime.options["image"]
        facts["shm_size_gb"] = runtime.options.get("shm_gb", ENGINES_DEFAULT_GB)
    if runtime.place != RuntimePlace.HOST and node and "engines" in node.offers:
        facts["container_engines"] = node.offers["engines"]
    return facts
