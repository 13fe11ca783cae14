"""What a container's engine said of a job, for its page."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from workers.models import Job

LABELS: dict[str, Promise] = {
    "image": _("Image"), "digests": _("Digests of the image"), "labels": _("Labels of the image"),
    "container": _("Number of the container"), "engine": _("Container engine"),
    "oom_killed": _("Ended for want of memory")}
EMPTY = ("", "null", "[]", "{}", "false")


def facts(job: Job) -> list[tuple[Promise, str]]:
    """Label and value of what was said; nothing for a job without a container."""
    said = job.results.get("container", {})
    return [(label, said[name]) for name, label in LABELS.items()
            if said.get(name, "") not in EMPTY]
