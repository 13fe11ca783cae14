"""Which runtime a job gets: its own, its model's, its engagement's or its node's: the nearest."""

from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from engagements.models import Engagement, MigratedModel
from workers.models import Job, Node, Runtime, RuntimeChoice, RuntimePlace
from workers.runtimes import options

ENGINES_DEFAULT_GB = 0  # docker and podman give 64 MB of shared memory
JOB, MODEL, ENGAGEMENT, NODE = "job", "model", "engagement", "node"
CHOSEN_BY = {
    JOB: pgettext_lazy("runtime", "chosen for this job"),
    MODEL: pgettext_lazy("runtime", "chosen for the model"),
    ENGAGEMENT: pgettext_lazy("runtime", "chosen for the engagement"),
    NODE: pgettext_lazy("runtime", "chosen for the node")}


@dataclass(frozen=True)
class Chosen:
    """A runtime as it stays with a job.

    Args:
        by: who chose it, of CHOSEN_BY; empty where nobody did.
        name, pk: of its row; none for what a node says of itself.
    """

    place: str = RuntimePlace.HOST
    options: dict[str, Any] = field(default_factory=dict)
    by: str = ""
    name: str = ""
    pk: int | None = None

    def facts(self, node: Node | None) -> dict[str, Any]:
        """What it says of a job before that runs, for the rules; what it does not decide is left
        out."""
        facts: dict[str, Any] = {}
        if self.options.get("scripts"):
            facts["is_set_env_sourced"] = True
        own = self.options.get("variables", {})
        for option, name in options.LOG_VARIABLES.items():
            if text := self.options.get(option, own.get(name)):
                facts[name] = text
        if self.place == RuntimePlace.CONTAINER:
            facts["container_image"] = self.options["image"]
            facts["shm_size_gb"] = self.options.get("shm_gb", ENGINES_DEFAULT_GB)
        if self.place != RuntimePlace.HOST and node and "engines" in node.offers:
            facts["container_engines"] = node.offers["engines"]
        return facts

    def as_json(self) -> dict[str, Any]:
        """As JSON; empty for the node as it is."""
        if not self.by:
            return {}
        return {"id": self.pk, "name": self.name, "chosen_by": self.by, "place": self.place,
                "options": self.options}

    def shown(self) -> dict[str, Any]:
        """For a page: name, who chose it, where it runs, and its options with their labels."""
        return {"name": self.name or _("the node's environment script"),
                "by": CHOSEN_BY.get(self.by, ""), "place": RuntimePlace(self.place).label,
                "options": options.shown(self.place, self.options)}


def of_job(job: Job) -> Chosen:
    """The runtime that the job keeps."""
    stored = job.runtime
    if not stored:
        return Chosen()
    return Chosen(stored["place"], stored["options"], stored["chosen_by"], stored["name"],
                  stored["id"])


def for_job(node: Node, engagement: Engagement | None = None, model: MigratedModel | None = None,
            own: Runtime | None = None) -> Chosen:
    """The runtime of a job that is to run on the node.

    Without any choice the node's environment script is sourced, if it names one.
    """
    if own:
        return _chosen(own, JOB)
    found = list(RuntimeChoice.objects.filter(
        Q(node=node) | Q(node=None), runtime__retired_at=None).filter(
        Q(engagement=None, model=None) | Q(engagement=engagement, engagement__isnull=False)
        | Q(model=model, model__isnull=False)).select_related("runtime"))
    if found:
        nearest = min(found, key=_distance)
        return _chosen(nearest.runtime, _chooser(nearest))
    if node.set_env:
        return Chosen(options={"scripts": [node.set_env]}, by=NODE)
    return Chosen()


def _distance(choice: RuntimeChoice) -> tuple[int, bool]:
    """A model is nearer than its engagement, that than the node; of two alike, the one for this
    very node is."""
    return (MODEL, ENGAGEMENT, NODE).index(_chooser(choice)), choice.node_id is None


def _chooser(choice: RuntimeChoice) -> str:
    return MODEL if choice.model_id else ENGAGEMENT if choice.engagement_id else NODE


def _chosen(runtime: Runtime, by: str) -> Chosen:
    return Chosen(runtime.place, runtime.options, by, runtime.name, runtime.pk)
