"""What a cluster's scheduler reported of a job, as facts for its page."""

from datetime import UTC, datetime

from django.utils.translation import gettext as _

from workers.models import Job


def facts(job: Job) -> list[tuple[str, str]]:
    """Names and values; empty for a job of a plain node."""
    result = job.results.get("scheduler")
    if not result:
        return []
    name = {"name": job.node.get_scheduler_display() if job.node else ""}
    reason = f" ({result['reason']})" if result.get("reason") else ""
    rows = [(_("%(name)s: job") % name, result.get("job_id", "")),
            (_("%(name)s: state") % name, f"{result.get('state', '')}{reason}".strip()),
            (_("%(name)s says") % name, result.get("detail", "")),
            (_("Compute nodes"), result.get("nodes", "")),
            (_("Image"), result.get("image", "")),
            (_("Cards named by"), result.get("cards_source", "")),
            (_("%(name)s: exit code") % name, result.get("exit_code", "")),
            (_("%(name)s: accounting") % name, _accounting(result))]
    return [row for row in rows if row[1]]


def _accounting(result: dict) -> str:
    record = result.get("accounting")
    if record:
        return _("%(seconds)s s, %(given)s") % {"seconds": record.get("seconds", "–"),
                                                "given": record.get("given") or "–"}
    error = result.get("accounting_error", "")
    return _("not available (%(why)s)") % {"why": error} if error else ""


def expected_start(job: Job) -> datetime | None:
    """When the scheduler foresees the start of a job that waits; None where it does not."""
    seconds = job.results.get("scheduler", {}).get("expected_start")
    return datetime.fromtimestamp(seconds, UTC) if seconds and not job.started_at else None
