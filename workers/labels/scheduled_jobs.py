"""What a cluster's scheduler said of a job, as facts for its page."""

from datetime import UTC, datetime

from django.utils.translation import gettext as _

from workers.models import Job


def facts(job: Job) -> list[tuple[str, str]]:
    """Names and values; empty for a job of a plain node."""
    said = job.results.get("scheduler")
    if not said:
        return []
    name = {"name": job.node.get_scheduler_display() if job.node else ""}
    reason = f" ({said['reason']})" if said.get("reason") else ""
    rows = [(_("%(name)s: job") % name, said.get("job_id", "")),
            (_("%(name)s: state") % name, f"{said.get('state', '')}{reason}".strip()),
            (_("%(name)s says") % name, said.get("detail", "")),
            (_("Compute nodes"), said.get("nodes", "")),
            (_("Image"), said.get("image", "")),
            (_("Cards named by"), said.get("cards_source", "")),
            (_("%(name)s: exit code") % name, said.get("exit_code", "")),
            (_("%(name)s: accounting") % name, _accounting(said))]
    return [row for row in rows if row[1]]


def _accounting(said: dict) -> str:
    record = said.get("accounting")
    if record:
        return _("%(seconds)s s, %(given)s") % {"seconds": record.get("seconds", "–"),
                                                "given": record.get("given") or "–"}
    error = said.get("accounting_error", "")
    return _("not available (%(why)s)") % {"why": error} if error else ""


def expected_start(job: Job) -> datetime | None:
    """When the scheduler foresees the start of a job that waits; None where it does not."""
    seconds = job.results.get("scheduler", {}).get("expected_start")
    return datetime.fromtimestamp(seconds, UTC) if seconds and not job.started_at else None
