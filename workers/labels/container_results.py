"""What a container's engine reported of a job, for its page."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from workers.models import Job

LABELS: dict[str, Promise] = {
    "image": _("Image"), "digests": _("Digests of the image"), "labels": _("Labels of the image"),
    "container": _("Number of the container"), "engine": _("Container engine"),
    "oom_killed": _("Ended for want of memory")}
EMPTY = ("", "null", "[]", "{}", "false")


def facts(job: Job) -> list[tuple[Promise, str]]:
    """Label and value of what was reported; nothing for a job without a container."""
    result = job.results.get("container", {})
    return [(label, result[name]) for name, label in LABELS.items()
            if result.get(name, "") not in EMPTY]
