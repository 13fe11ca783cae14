"""Versions of what a job runs with: those of its runtime on its node, else the node's own."""

from django.db import transaction

from engagements.remembered_reads import remembered
from workers.models import Job, Node, RuntimeSoftware


def of_job(job: Job) -> dict[str, str]:
    """What was last read in the job's runtime on its node when the job ended, or until now; empty
    for a job of the server."""
    if "software" in job.results:
        return job.results["software"]
    if job.node is None:
        return {}
    runtime = job.runtime.get("id")
    if runtime is None:
        return job.node.software
    found = RuntimeSoftware.objects.filter(node=job.node, runtime=runtime).first()
    driver = {name: job.node.software[name] for name in ("driver", "firmware")
              if name in job.node.software}
    return driver | (found.versions if found else {})


@remembered
def chips_of(node: Node) -> str:
    """Names of the chips of its cards, as they were read."""
    return ", ".join(sorted({card.chip_name for card in node.cards.all() if card.chip_name}))


@transaction.atomic
def keep(job: Job, **versions: str | None) -> None:
    """Note what the job read where it ran; empty ones are left out."""
    read = {name: version for name, version in versions.items() if version}
    runtime = job.runtime.get("id")
    if runtime is None:
        node = Node.objects.select_for_update(of=("self",), no_key=True).get(pk=job.node_id)
        node.software = job.node.software = {**node.software, **read}
        node.save(update_fields=["software"])
        return
    row, _made = RuntimeSoftware.objects.select_for_update(of=("self",), no_key=True)\
        .get_or_create(node=job.node, runtime_id=runtime)
    row.versions = {**row.versions, **read}
    row.save(update_fields=["versions"])
